"""
The inferred shapes against running torch, on the sample inputs that torch itself tests its operations with.

Each sample is also run with some of its arguments forgotten: knowing less may cost the answer, but never bend it.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch.fx.operator_schemas import normalize_function
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import set_rng_seed
from torch.utils import _pytree as pytree

from torchlint.knowledge.shapes import infer as shapes
from torchlint.knowledge.shapes.infer import INTEGER, UNKNOWN, Shape, Sized
from torchlint.optable.samples import opinfo_samples

SAMPLES = 8

DTYPE_CLASS = {torch.bool: "bool", torch.float32: "float", torch.float64: "float", torch.int64: "int"}


def described(value: Any) -> Any:
    """A live argument as the shape knowledge takes it."""
    if isinstance(value, torch.Tensor):
        return Sized(tuple(value.shape), DTYPE_CLASS.get(value.dtype))
    if isinstance(value, (tuple, list)):
        return type(value)(described(item) for item in value) if type(value) in (tuple, list) else tuple(value)
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    return UNKNOWN


def shapes_of(result: Any) -> list[tuple[int, ...]] | None:
    """The shapes of a live result, or None if it is not made of tensors."""
    if isinstance(result, torch.Tensor):
        return [tuple(result.shape)]
    if isinstance(result, (tuple, list)) and all(isinstance(item, torch.Tensor) for item in result):
        return [tuple(item.shape) for item in result]
    if isinstance(result, (bool, int, float)):
        return [()]
    return None


def agrees(inferred: tuple[Shape, ...], actual: list[tuple[int, ...]]) -> bool:
    """Whether the inferred shapes may be these: unknown sizes match anything, and `(None,)` is no claim at all."""
    if inferred == (None,):
        return True
    return len(inferred) == len(actual) and all(
        have is None or (len(have) == len(true) and all(h is None or h == t for h, t in zip(have, true, strict=True)))
        for have, true in zip(inferred, actual, strict=True)
    )


def functional_name(name: str) -> str:
    """torch's base name of an OpInfo: `linalg.svd` is `linalg_svd`, `nn.functional.relu` is `relu`."""
    return name.removeprefix("nn.functional.").replace(".", "_")


def samples(info: Any) -> Iterator[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    dtype = next((one for one in (torch.float32, torch.int64, torch.bool, torch.complex64)
                  if one in info.dtypes), None)  # fmt: skip
    if dtype is None:
        return
    torch.default_generator.manual_seed(0)
    for sample in itertools.islice(opinfo_samples(info, dtype), SAMPLES):
        yield sample.input, tuple(sample.args), dict(sample.kwargs)


def bound(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by torch's own parameter names, or None if torch's schemas do not tell them."""
    try:
        pair = normalize_function(
            function,
            args,
            kwargs,
            tuple(type(one) for one in args),
            {key: type(one) for key, one in kwargs.items()},
            normalize_to_only_use_kwargs=True,
        )
    except Exception:
        return None
    return None if pair is None else dict(pair.kwargs)


INFOS = [info for info in op_db if not info.name.startswith(("masked.", "torch.ops."))]


def cases(info: Any) -> Iterator[tuple[str, dict[str, Any], list[tuple[int, ...]]]]:
    """Name, described arguments and true shapes of every sample that torch accepts and whose arguments are known."""
    for first, args, kwargs in samples(info):
        arguments = bound(info.op, (first, *args), kwargs)
        if arguments is None:
            continue
        described_arguments = {name: described(value) for name, value in arguments.items()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = info.op(first, *args, **kwargs)
        except Exception:  # some samples are meant to be refused
            continue
        actual = shapes_of(result)
        if actual is not None:
            yield functional_name(info.name), described_arguments, actual


def forgotten(value: Any, chance: random.Random) -> Any:
    """The same argument, with something of it unknown."""
    if isinstance(value, Sized) and value.shape is not None:
        if not value.shape or chance.random() < 0.3:
            return chance.choice([Sized(None), Sized(None, value.dtype), UNKNOWN])
        at = chance.randrange(len(value.shape))
        return Sized((*value.shape[:at], None, *value.shape[at + 1 :]), value.dtype)
    if type(value) in (tuple, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return type(value)([*value[:at], forgotten(value[at], chance), *value[at + 1 :]])
    if type(value) is int and chance.random() < 0.5:
        return INTEGER
    return UNKNOWN


@pytest.mark.parametrize("info", INFOS[::20], ids=lambda info: info.formatted_name)
def test_the_samples_are_those_of_torch(info: Any) -> None:
    dtype = next(one for one in (torch.float32, torch.int64) if one in info.dtypes)
    seen = []
    for draw in (partial(opinfo_samples, info, dtype), partial(info.sample_inputs, "cpu", dtype)):
        set_rng_seed(0)  # some entries draw all their samples before the first is asked for
        seen.append([(one.input, one.args, one.kwargs) for one in itertools.islice(draw(), SAMPLES)])
    ours, theirs = map(pytree.tree_leaves, seen)
    assert ours
    assert list(map(written, ours)) == list(map(written, theirs))


def written(value: Any) -> str:
    """An argument, to the last bit of its numbers."""
    return repr((value.shape, value.dtype, value.tolist())) if isinstance(value, torch.Tensor) else repr(value)


@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.formatted_name)
def test_inferred_shapes_are_true(info: Any) -> None:
    chance = random.Random(info.formatted_name)
    for name, arguments, actual in cases(info):
        inferred = shapes.infer(name, arguments)
        assert agrees(inferred, actual), (name, arguments, inferred, actual)
        for _ in range(4):
            less = dict(arguments)
            for key in chance.sample(sorted(less), min(len(less), chance.choice([1, 1, 2]))):
                less[key] = forgotten(less[key], chance)
            inferred = shapes.infer(name, less)
            assert agrees(inferred, actual), (name, less, inferred, actual)


@pytest.mark.parametrize("name", sorted(shapes.known_operations()))
def test_arguments_of_any_kind_are_borne(name: str) -> None:
    chance = random.Random(name)
    parameters = (
        "self",
        "other",
        "dim",
        "size",
        "weight",
        "target",
        "tensors",
        "index",
        "kernel_size",
        "dims",
        "sizes",
    )
    values: list[Any] = [
        UNKNOWN, INTEGER, None, True, 0, -1, 7, 1.5, "mean", (), [], (1, 2), [None], Sized(None), Sized(()),
        Sized((2, None)), Sized((2, 3, 4)), [Sized((2,)), UNKNOWN], ((1, 2), (3,)), {}, slice(None),
    ]  # fmt: skip
    assert shapes.infer(name, {})
    for _ in range(60):
        assert shapes.infer(name, {key: chance.choice(values) for key in chance.sample(parameters, 4)})
