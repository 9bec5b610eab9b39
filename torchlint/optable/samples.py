"""
Calls to try: torch's own sample inputs (`torch.testing._internal`, OpInfo), and ours for what they leave out.

Used by the table's generator and its test, at development time only: OpInfo is internal to torch and needs expecttest.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch.overrides import TorchFunctionMode

from torchlint.optable.probe import Call

_Arguments: TypeAlias = "tuple[tuple[Any, ...], dict[str, Any]]"
OWN = Path(__file__).with_name("op_calls.txt")


def kind_of(value: object) -> str:
    """The `torchlint.knowledge.ops.find.Kind` of a Python value."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, torch.dtype):
        return "dtype"
    if value is None:
        return "none"
    for python_type, kind in ((int, "int"), (float, "float"), (complex, "complex"), (str, "str")):
        if isinstance(value, python_type):
            return kind
    if isinstance(value, (list, tuple)):
        if any(isinstance(item, torch.Tensor) for item in value):
            return "tensors"
        if all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            return "ints"
    return "other"


def resolve(spelling: str) -> Callable[..., Any] | None:
    """The function of a spelling; for an attribute such as `torch.Tensor.T`, a function that reads it."""
    if spelling.startswith("getitem."):
        return lambda tensor, index: tensor[index]
    if spelling.startswith("setitem."):
        return _setitem
    value: Any = torch
    path = spelling.split(".")[1:]
    for name in path:
        value = getattr(value, name, None)
        if value is None:
            return None
    if callable(value):
        function: Callable[..., Any] = value
        return function
    if path[0] != "Tensor":
        return None
    return lambda tensor: getattr(tensor, path[-1])


def _setitem(tensor: torch.Tensor, index: Any, value: Any) -> torch.Tensor:
    tensor[index] = value
    return tensor


def opinfo_calls(limit: int, skip: int = 0) -> Iterator[tuple[str, Call]]:
    """
    Spelling and call for everything in OpInfo's `op_db`, aliases, methods and in-place forms included.

    Parameters
    ----------
    limit
        At most so many samples per entry.
    skip
        After leaving out so many.

    Raises
    ------
    ModuleNotFoundError
        if expecttest, which `torch.testing._internal` imports, is not installed.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        names = list(dict.fromkeys([info.name, *(alias.name for alias in info.aliases)]))
        spellings = [(s, f) for name in names for s in _spellings(name) if (f := resolve(s)) is not None]
        if not spellings:
            continue
        for sample in itertools.islice(_samples(info), skip, skip + limit):
            given = (sample.input, *sample.args), dict(sample.kwargs)
            if wraps_its_function(info):
                inner = inner_call(info, *given)
                if inner is None:
                    continue
                given = inner
            arguments, keywords = given
            for spelling, function in spellings:
                call = Call(function, arguments, dict(keywords))
                if spelling == "getitem.basic" and not _is_basic(sample.args[0]):
                    spelling = "getitem.advanced"
                if all(tensor.numel() for tensor in call.slots().values()):
                    yield spelling, call


def wraps_its_function(info: Any) -> bool:
    """
    Whether an entry of OpInfo calls its function through one of its own, which may turn the arguments round:
    `lambda weight, idx, **kwargs: embedding_bag(idx, weight, **kwargs)`.
    """
    return getattr(info.op, "__name__", "") == "<lambda>"


def inner_call(info: Any, positional: tuple[Any, ...], keywords: dict[str, Any]) -> _Arguments | None:
    """The arguments with which an entry that wraps its function calls it, None if it does not, or does it twice."""
    seen = _Calls(info.name.rpartition(".")[2])
    with warnings.catch_warnings(), seen:
        warnings.simplefilter("ignore")
        try:
            info.op(*positional, **keywords)
        except (RuntimeError, TypeError, NotImplementedError):
            return None
    return seen.found[0] if len(seen.found) == 1 else None


class _Calls(TorchFunctionMode):  # type: ignore[misc]  # torch does not export its type
    """Notes the calls of a function by its name while it is entered."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.found: list[_Arguments] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == self.name:
            self.found.append((tuple(args), dict(kwargs or {})))
        return func(*args, **(kwargs or {}))


def _samples(info: Any) -> Iterator[Any]:
    dtype = next((dtype for dtype in (torch.float32, torch.complex64, torch.int64) if dtype in info.dtypes), None)
    if dtype is None:
        return
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield from opinfo_samples(info, dtype)
        except (RuntimeError, NotImplementedError, ImportError):  # needs a GPU, scipy, or a build without this feature
            return


def opinfo_samples(info: Any, dtype: torch.dtype) -> Iterator[Any]:
    """
    What `info.sample_inputs("cpu", dtype)` gives, with the seeds that it sets. That one reads the sources of the whole
    stack for each entry, in search of a test of torch's own, and again for each seed and accelerator: a tenth of a
    second for each operation, where pytest is the caller.

    Parameters
    ----------
    info
        An entry of OpInfo's `op_db`.
    dtype
        Of the tensors.
    """
    import numpy as np
    from torch.testing._internal.common_utils import SEED

    given = iter(info.sample_inputs_func(info, "cpu", dtype, False))
    while True:
        torch.default_generator.manual_seed(SEED)
        random.seed(SEED)
        np.random.seed(SEED)
        try:
            yield next(given)
        except StopIteration:
            return


def _spellings(name: str) -> Iterator[str]:
    if name == "__getitem__":
        yield "getitem.basic"
        return
    yield f"torch.{name}"
    if "." not in name:
        yield f"torch.Tensor.{name}"
        yield f"torch.Tensor.{name}_"
        yield f"torch.{name}_"
        yield f"torch.nn.functional.{name}"
    if name.startswith("nn.functional."):
        yield f"torch.{name}_"
        yield f"torch.{name.rpartition('.')[2]}"
        yield f"torch.Tensor.{name.rpartition('.')[2]}"
        yield f"torch.Tensor.{name.rpartition('.')[2]}_"


def _is_basic(index: object) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return all(item is None or item is ... or isinstance(item, (int, slice)) for item in items)


def own_calls() -> Iterator[tuple[str, Call]]:
    """The calls of op_calls.txt: one per line, `torch.einsum("ij,jk->ik", x, w)`, over the tensors of `_tensors`."""
    for line in OWN.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            spelling, _, arguments = line.partition("(")
            function = resolve(spelling)
            if function is None:
                raise LookupError(f"{OWN.name}: this torch has no {spelling}")
            positional, keywords = eval(f"capture({arguments}", {"capture": _capture, "torch": torch, **_tensors()})
            yield spelling, Call(function, positional, keywords)


def _capture(*positional: Any, **keywords: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return positional, keywords


def _tensors() -> dict[str, torch.Tensor]:
    torch.manual_seed(2)
    return {
        "s": torch.randn(()),
        "x": torch.randn(3, 4),
        "y": torch.randn(3, 4),
        "p": torch.rand(3, 4) * 0.8 + 0.1,
        "q": torch.rand(3, 4) * 0.8 + 0.1,
        "v": torch.randn(4),
        "u": torch.randn(3),
        "w": torch.randn(4, 5),
        "w5": torch.randn(5, 4),
        "b": torch.randn(5),
        "square": torch.randn(4, 4) + 4 * torch.eye(4),
        "x3": torch.randn(2, 3, 4),
        "y3": torch.randn(2, 3, 4),
        "w3": torch.randn(2, 4, 5),
        "x4": torch.randn(2, 2, 3, 4),
        "w4": torch.randn(2, 2, 4, 5),
        "q4": torch.randn(2, 2, 3, 8),
        "k4": torch.randn(2, 2, 5, 8),
        "v4": torch.randn(2, 2, 5, 8),
        "mask4": torch.ones(3, 5, dtype=torch.bool).tril(2),
        "bias4": torch.randn(3, 5),
        "signal": torch.randn(2, 3, 8),
        "image": torch.randn(2, 3, 8, 8),
        "volume": torch.randn(2, 3, 4, 4, 4),
        "kernel1": torch.randn(4, 3, 3),
        "kernel2": torch.randn(4, 3, 3, 3),
        "kernel3": torch.randn(4, 3, 3, 3, 3),
        "kernel2t": torch.randn(3, 4, 3, 3),
        "channels3": torch.randn(3),
        "channels4": torch.randn(4),
        "table": torch.randn(10, 4),
        "i": torch.tensor([0, 2, 1]),
        "i2": torch.tensor([[0, 2, 1, 3], [1, 1, 0, 2], [3, 0, 2, 1]]),
        "mask": torch.tensor([[True, False, True, True], [False, True, True, False], [True, True, False, True]]),
        "sign": torch.tensor([1.0, -1.0, 1.0]),
        "i0": torch.tensor(2),
        "i0offsets": torch.tensor([0, 2]),
        "i23": torch.tensor([[0, 2, 1, 2], [1, 1, 0, 2]]),
        "i288": torch.arange(128).reshape(2, 8, 8) % 3,
        "s1": torch.randn(1),
        "q4b": torch.randn(2, 1, 4, 4),
        "k4b": torch.randn(2, 1, 6, 4),
        "v4b": torch.randn(2, 1, 6, 4),
        "q3": torch.randn(2, 3, 8),
        "k3": torch.randn(2, 5, 8),
        "v3": torch.randn(2, 5, 8),
        "channels3b": torch.rand(3) + 0.5,
        "kernel1t": torch.randn(3, 4, 3),
        "kernel3t": torch.randn(3, 4, 3, 3, 3),
        "image4": torch.randn(2, 4, 3, 3),
        "patches": torch.randn(2, 12, 16),
        "theta": torch.randn(2, 2, 3),
        "grid": torch.rand(2, 4, 4, 2) * 2 - 1,
        "kbil": torch.randn(5, 4, 4),
        "w53": torch.randn(5, 3),
        "x43": torch.randn(4, 3),
        "x64v": torch.randn(6, 4),
        "x64": torch.randn(3, 4, dtype=torch.float64),
        "x64b": torch.randn(2, 3, 4, dtype=torch.float64),
        "x16": torch.randn(3, 4).bfloat16(),
        "wave": torch.randn(64),
        "hann": torch.hann_window(8),
        "sorted4": torch.tensor([-1.0, 0.0, 0.5, 1.0]),
        "c": torch.randn(3, 4, dtype=torch.complex64),
    }
