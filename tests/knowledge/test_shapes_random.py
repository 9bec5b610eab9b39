"""
Seeded random calls of the operations that carry most programs: sizes, dimensions and options drawn at random.

Each call is executed by torch; the inferred shape must be exactly the true one, and stay compatible with it when parts
of the arguments are forgotten.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from torchlint.knowledge.shapes import infer as shapes
from torchlint.knowledge.shapes.infer import INTEGER, UNKNOWN, Shape, Sized

F = torch.nn.functional
Chance = random.Random
Call = tuple[str, dict[str, Any], Callable[[], Any]]


def tensor(chance: Chance, low: int = 0, high: int = 4, largest: int = 4) -> torch.Tensor:
    return torch.rand([chance.randrange(1, largest + 1) for _ in range(chance.randrange(low, high + 1))])


def dim_of(chance: Chance, rank: int) -> int:
    return chance.randrange(-rank, rank)


def broadcast_partner(chance: Chance, x: torch.Tensor) -> torch.Tensor:
    kept = list(x.shape[chance.randrange(x.dim() + 1) :])
    sizes = [1 if chance.random() < 0.3 else size for size in kept]
    return torch.rand([*[chance.randrange(1, 4)] * (len(sizes) == x.dim() and chance.random() < 0.3), *sizes])


def binary(chance: Chance) -> Call:
    x = tensor(chance)
    y = broadcast_partner(chance, x)
    name = chance.choice(["add", "mul", "div", "sub", "maximum", "eq", "atan2"])
    return name, {"self": x, "other": y}, lambda: getattr(torch, name)(x, y)


def where(chance: Chance) -> Call:
    x = tensor(chance)
    condition, other = broadcast_partner(chance, x) > 0.5, broadcast_partner(chance, x)
    return "where", {"condition": condition, "self": x, "other": other}, lambda: torch.where(condition, x, other)


def reduction(chance: Chance) -> Call:
    x = tensor(chance, 1)
    name = chance.choice(["sum", "mean", "amax", "logsumexp", "std", "norm"])
    dims: Any = chance.choice([dim_of(chance, x.dim()), sorted(chance.sample(range(x.dim()), min(2, x.dim())))])
    keepdim = chance.random() < 0.5
    return name, {"self": x, "dim": dims, "keepdim": keepdim}, lambda: getattr(x, name)(dim=dims, keepdim=keepdim)


def extremum(chance: Chance) -> Call:
    x = tensor(chance, 1)
    name, dim = chance.choice(["max", "min", "median", "mode", "cummax", "sort"]), dim_of(chance, x.dim())
    return name, {"self": x, "dim": dim}, lambda: getattr(x, name)(dim=dim)


def matmul(chance: Chance) -> Call:
    m, k, n = (chance.randrange(1, 4) for _ in range(3))
    batch = [chance.randrange(1, 4) for _ in range(chance.randrange(3))]
    x = torch.rand(k) if chance.random() < 0.2 else torch.rand(*batch, m, k)
    y = torch.rand(k) if chance.random() < 0.2 else torch.rand(*batch[chance.randrange(len(batch) + 1) :], k, n)
    return "matmul", {"self": x, "other": y}, lambda: x @ y


def view(chance: Chance) -> Call:
    sizes = [chance.randrange(1, 4) for _ in range(chance.randrange(1, 4))]
    x = torch.rand(sizes).reshape(-1, sizes[0])
    if chance.random() < 0.6:
        sizes[chance.randrange(len(sizes))] = -1
    name = chance.choice(["view", "reshape"])
    return name, {"self": x, chance.choice(["size", "shape"]): tuple(sizes)}, lambda: getattr(x, name)(sizes)


def flatten(chance: Chance) -> Call:
    x = tensor(chance, 0)
    first, last = sorted(chance.randrange(max(x.dim(), 1)) for _ in range(2))
    return "flatten", {"self": x, "start_dim": first, "end_dim": last}, lambda: x.flatten(first, last)


def squeeze(chance: Chance) -> Call:
    x = tensor(chance, 1, largest=2)
    if chance.random() < 0.3:
        return "squeeze", {"self": x}, lambda: x.squeeze()
    dim = dim_of(chance, x.dim())
    name = chance.choice(["squeeze", "unsqueeze"])
    return name, {"self": x, "dim": dim}, lambda: getattr(x, name)(dim)


def exchange(chance: Chance) -> Call:
    x = tensor(chance, 1)
    if chance.random() < 0.5:
        order = chance.sample(range(x.dim()), x.dim())
        return "permute", {"self": x, "dims": tuple(order)}, lambda: x.permute(order)
    first, second = dim_of(chance, x.dim()), dim_of(chance, x.dim())
    if chance.random() < 0.5:
        return "movedim", {"self": x, "source": first, "destination": second}, lambda: x.movedim(first, second)
    return "transpose", {"self": x, "dim0": first, "dim1": second}, lambda: x.transpose(first, second)


def expand(chance: Chance) -> Call:
    x = tensor(chance, 0, 3, largest=2)
    sizes = [chance.randrange(1, 4) if size == 1 else chance.choice([-1, size]) for size in x.shape]
    sizes = [*[chance.randrange(1, 4)] * chance.randrange(2), *sizes]
    if chance.random() < 0.5:
        return "expand", {"self": x, "size": tuple(sizes)}, lambda: x.expand(sizes)
    counts = [chance.randrange(0, 3) for _ in range(x.dim() + chance.randrange(2))]
    return "repeat", {"self": x, "repeats": tuple(counts)}, lambda: x.repeat(counts)


def joined(chance: Chance) -> Call:
    x = tensor(chance, 1)
    dim = dim_of(chance, x.dim())
    if chance.random() < 0.5:
        others = [x] * chance.randrange(1, 4)
        at = chance.randrange(-x.dim() - 1, x.dim() + 1)
        return "stack", {"tensors": others, "dim": at}, lambda: torch.stack(others, at)
    parts = [torch.rand([*x.shape[: dim % x.dim()], n, *x.shape[dim % x.dim() + 1 :]]) for n in (1, 2, 3)]
    return "cat", {"tensors": [x, *parts], "dim": dim}, lambda: torch.cat([x, *parts], dim)


def parted(chance: Chance) -> Call:
    x = tensor(chance, 1, largest=7)
    dim, count = dim_of(chance, x.dim()), chance.randrange(1, 5)
    name, argument = chance.choice([("split", "split_size"), ("chunk", "chunks"), ("tensor_split", "sections")])
    return name, {"self": x, argument: count, "dim": dim}, lambda: getattr(x, name)(count, dim=dim)


def unbound(chance: Chance) -> Call:
    x = tensor(chance, 1)
    dim = dim_of(chance, x.dim())
    return "unbind", {"self": x, "dim": dim}, lambda: x.unbind(dim)


def diagonal(chance: Chance) -> Call:
    x = tensor(chance, 2)
    first, second = chance.sample(range(x.dim()), 2)
    offset = chance.choice([0, 1, -1])
    arguments = {"self": x, "offset": offset, "dim1": first, "dim2": second}
    return "diagonal", arguments, lambda: x.diagonal(offset, first, second)


def padded(chance: Chance) -> Call:
    x = tensor(chance, 1)
    pad = tuple(chance.randrange(0, 3) for _ in range(2 * chance.randrange(1, x.dim() + 1)))
    return "pad", {"self": x, "pad": pad}, lambda: F.pad(x, pad)


def convolution(chance: Chance) -> Call:
    count, groups = chance.randrange(1, 4), chance.choice([1, 2])
    channels = groups * chance.randrange(1, 3)
    x = torch.rand(*([2] if chance.random() < 0.7 else []), channels, *(chance.randrange(5, 9) for _ in range(count)))
    kernel = [chance.randrange(1, 4) for _ in range(count)]
    weight = torch.rand(groups * 2, channels // groups, *kernel)
    options: dict[str, Any] = {
        "stride": chance.choice([1, 2, tuple(chance.randrange(1, 3) for _ in range(count))]),
        "padding": chance.choice([0, 1, tuple(chance.randrange(0, 3) for _ in range(count)), "valid"]),
        "dilation": chance.choice([1, 2]),
        "groups": groups,
    }
    if chance.random() < 0.2:
        options.update(stride=1, padding="same")
    name = f"conv{count}d"
    return name, {"input": x, "weight": weight, **options}, lambda: getattr(F, name)(x, weight, **options)


def transposed_convolution(chance: Chance) -> Call:
    count, groups = chance.randrange(1, 4), chance.choice([1, 2])
    x = torch.rand(2, groups * 2, *(chance.randrange(3, 6) for _ in range(count)))
    weight = torch.rand(groups * 2, 3, *(chance.randrange(2, 4) for _ in range(count)))
    stride = chance.choice([2, 3])
    options: dict[str, Any] = {
        "stride": stride,
        "padding": chance.choice([0, 1]),
        "output_padding": chance.choice([0, 1]),
        "groups": groups,
        "dilation": chance.choice([1, 2]),
    }
    name = f"conv_transpose{count}d"
    return name, {"input": x, "weight": weight, **options}, lambda: getattr(F, name)(x, weight, **options)


def pooling(chance: Chance) -> Call:
    count = chance.randrange(1, 4)
    x = torch.rand(*([2] if chance.random() < 0.7 else []), 3, *(chance.randrange(5, 10) for _ in range(count)))
    kernel = chance.choice([2, 3, tuple(chance.randrange(2, 4) for _ in range(count))])
    options: dict[str, Any] = {
        "stride": chance.choice([None, 1, 2, 3]),
        "padding": chance.choice([0, 1]),
        "ceil_mode": chance.random() < 0.5,
    }
    name = chance.choice(["max_pool", "avg_pool"]) + f"{count}d"
    if name.startswith("max"):
        options["dilation"] = chance.choice([1, 2])
        options["return_indices"] = chance.random() < 0.3
    return name, {"input": x, "kernel_size": kernel, **options}, lambda: getattr(F, name)(x, kernel, **options)


def resampled(chance: Chance) -> Call:
    count = chance.randrange(1, 4)
    x = torch.rand(2, 3, *(chance.randrange(2, 7) for _ in range(count)))
    options: dict[str, Any] = (
        {"scale_factor": chance.choice([2, 0.5, 1.3, 2.7, 0.75])}
        if chance.random() < 0.6
        else {"size": chance.choice([4, tuple(chance.randrange(1, 8) for _ in range(count))])}
    )
    return "interpolate", {"input": x, **options}, lambda: F.interpolate(x, **options)


def adaptive(chance: Chance) -> Call:
    count = chance.randrange(2, 4)
    x = torch.rand(2, 3, *(chance.randrange(3, 7) for _ in range(count)))
    size: Any = chance.choice([1, 2, tuple(chance.choice([None, 1, 3]) for _ in range(count))])
    name = f"adaptive_avg_pool{count}d"
    return name, {"input": x, "output_size": size}, lambda: getattr(F, name)(x, size)


def layer(chance: Chance) -> Call:
    x = tensor(chance, 1)
    weight = torch.rand(5, x.shape[-1])
    return "linear", {"input": x, "weight": weight}, lambda: F.linear(x, weight)


def gathered(chance: Chance) -> Call:
    x = tensor(chance, 1)
    dim = dim_of(chance, x.dim())
    index = torch.zeros(chance.randrange(1, 4), dtype=torch.long)
    return "index_select", {"self": x, "dim": dim, "index": index}, lambda: x.index_select(dim, index)


def loss(chance: Chance) -> Call:
    x = tensor(chance, 1)
    reduction = chance.choice(["none", "mean", "sum"])
    if chance.random() < 0.5:
        name, target = chance.choice(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"]), x + 1
    else:
        name, x = "cross_entropy", torch.rand([chance.randrange(2, 4) for _ in range(chance.randrange(1, 5))])
        target = torch.zeros([size for axis, size in enumerate(x.shape) if axis != (x.dim() > 1)], dtype=torch.long)
    arguments = {"input": x, "target": target, "reduction": reduction}
    return name, arguments, lambda: getattr(F, name)(x, target, reduction=reduction)


def einsum(chance: Chance) -> Call:
    sizes = {label: chance.randrange(1, 4) for label in "ijkl"}
    terms = ["".join(chance.sample("ijkl", chance.randrange(1, 4))) for _ in range(chance.randrange(1, 4))]
    used = sorted(set("".join(terms)))
    output = "".join(chance.sample(used, chance.randrange(len(used) + 1)))
    equation = ",".join(terms) + (f"->{output}" if chance.random() < 0.7 else "")
    operands = [torch.rand([sizes[label] for label in term]) for term in terms]
    if chance.random() < 0.3:
        equation = equation.replace(terms[0], "..." + terms[0], 1).replace("->", "->...")
        operands[0] = torch.rand([2, *operands[0].shape])
    return "einsum", {"equation": equation, "operands": operands}, lambda: torch.einsum(equation, *operands)


GENERATORS = [
    binary, where, reduction, extremum, matmul, view, flatten, squeeze, exchange, expand, joined, parted, unbound,
    diagonal, padded, convolution, transposed_convolution, pooling, resampled, adaptive, layer, gathered, loss, einsum,
]  # fmt: skip


def described(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return Sized(tuple(value.shape))
    if isinstance(value, list):
        return [described(item) for item in value]
    return value


def forgotten(value: Any, chance: Chance) -> Any:
    if isinstance(value, Sized) and value.shape and chance.random() < 0.7:
        at = chance.randrange(len(value.shape))
        return Sized((*value.shape[:at], None, *value.shape[at + 1 :]))
    if isinstance(value, (list, tuple)) and not isinstance(value, Sized) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return type(value)([*value[:at], forgotten(value[at], chance), *value[at + 1 :]])
    if type(value) is int and chance.random() < 0.7:
        return INTEGER
    return Sized(None) if isinstance(value, Sized) and chance.random() < 0.5 else UNKNOWN


def compatible(inferred: tuple[Shape, ...], true: tuple[tuple[int, ...], ...]) -> bool:
    return inferred == (None,) or (
        len(inferred) == len(true)
        and all(
            have is None or (len(have) == len(one) and all(h in (None, t) for h, t in zip(have, one, strict=True)))
            for have, one in zip(inferred, true, strict=True)
        )
    )


@pytest.mark.parametrize("generate", GENERATORS, ids=lambda generate: generate.__name__)
def test_random_calls(generate: Callable[[Chance], Call]) -> None:
    accepted = 0
    for seed in range(150):
        chance = random.Random(f"{generate.__name__} {seed}")
        name, arguments, run = generate(chance)
        try:
            result = run()
        except (RuntimeError, ValueError):  # a draw that torch refuses, such as a kernel larger than its input
            continue
        accepted += 1
        outputs = result if isinstance(result, (tuple, list)) else (result,)
        true = tuple(tuple(one.shape) for one in outputs)
        told = {key: described(value) for key, value in arguments.items()}
        assert shapes.infer(name, told) == true, (name, told)
        for _ in range(5):
            key = chance.choice(sorted(told))
            less = {**told, key: forgotten(told[key], chance)}
            assert compatible(shapes.infer(name, less), true), (name, less, shapes.infer(name, less), true)
    assert accepted > 75
