"""Where new results lie in memory, against running torch: what `model/torch/results` says of all operands at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from torchlint.model.torch.results import DENSE

torch = pytest.importorskip("torch")
F = torch.nn.functional


def _matrices(x: Any) -> Any:
    return x.flatten(0, -3) if x.dim() > 2 else x[None]


def _zeros(x: Any) -> Any:
    return torch.zeros(x.shape, dtype=torch.long)


CALLS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x.contiguous(),
    "linear": lambda x: F.linear(x, torch.rand(3, x.shape[-1])),
    "matmul": lambda x: x @ torch.rand(x.shape[-1], 3),
    "repeat": lambda x: x.repeat(*[2] * x.dim()),
    "index_select": lambda x: x.index_select(0, torch.tensor([0, 1])),
    "gather": lambda x: x.gather(-1, _zeros(x)),
    "embedding": lambda x: F.embedding(_zeros(x), torch.rand(2, 5)),
    "one_hot": lambda x: F.one_hot((x > 0.5).long(), 3),
    "topk": lambda x: x.topk(2, -1)[0],
    "masked_fill": lambda x: x.masked_fill(x > 0.5, 0.0),
    "masked_scatter": lambda x: x.masked_scatter(x > 0.5, torch.rand(x.numel())),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "baddbmm": lambda x: torch.baddbmm(torch.rand(1), _matrices(x), _matrices(x).transpose(1, 2)),
    "cumsum": lambda x: x.cumsum(-1),
    "cumprod": lambda x: x.cumprod(-1),
    "tril": lambda x: x.tril(),
    "triu": lambda x: x.triu(),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 0),
    "scatter": lambda x: x.scatter(0, _zeros(x), 1.0),
    "scatter_add": lambda x: x.scatter_add(0, _zeros(x), torch.ones(x.shape)),
    "index_add": lambda x: x.index_add(0, torch.tensor([0]), x[:1]),
}
KEEPING: dict[str, Callable[[Any], Any]] = {
    "cat": lambda x: torch.cat([x, x], -1),
    "stack": lambda x: torch.stack([x, x]),
    "where": lambda x: torch.where(x > 0.5, x, 0.0),
    "mul": lambda x: x * x,
    "gelu": lambda x: F.gelu(x),
    "dropout": lambda x: F.dropout(x, 0.5),
    "flip": lambda x: x.flip(0),
    "roll": lambda x: x.roll(1, 0),
    "sort": lambda x: x.sort(-1)[0],
    "pad": lambda x: F.pad(x, (1, 1)),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "mean": lambda x: x.mean(0),
    "sum": lambda x: x.sum(-1, keepdim=True),
    "glu": lambda x: F.glu(torch.cat([x, x], -1)),
    "index": lambda x: x[:, torch.tensor([0, 1])],
}


def _views(shape: tuple[int, ...]) -> Iterator[tuple[bool, Any]]:
    """Tensors of a shape that are not contiguous, each with whether its dimensions lie in their order."""
    larger = torch.rand(*(size + 2 for size in shape))
    yield True, larger[tuple(slice(0, size) for size in shape)]
    yield True, torch.rand(*shape[:-1], 2 * shape[-1]).chunk(2, -1)[0]
    yield True, torch.rand(*shape, 2).unbind(-1)[1]
    yield True, torch.rand(1, *shape[1:]).expand(*shape)
    yield True, torch.rand(*shape[:-1], 1).expand(*shape)
    yield True, torch.rand(shape[0], 1, *shape[2:]).expand(*shape)
    yield False, torch.rand(*shape[::-1]).permute(*reversed(range(len(shape))))
    yield False, torch.rand(*shape[:-2], shape[-1], shape[-2]).transpose(-1, -2)
    if len(shape) == 4:
        yield False, torch.rand(*shape).contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 5), (3, 4, 5, 6)], ids=str)
def test_results_that_are_contiguous_whatever_went_in(name: str, shape: tuple[int, ...]) -> None:
    assert name in DENSE
    assert all(CALLS[name](x).is_contiguous() for _, x in _views(shape))


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 5), (3, 4, 5, 6)], ids=str)
def test_of_operands_in_order_the_result_is_contiguous(name: str, shape: tuple[int, ...]) -> None:
    assert name not in DENSE
    assert all(KEEPING[name](x).is_contiguous() for in_order, x in _views(shape) if in_order)


def test_of_others_it_need_not_be() -> None:
    others = [x for in_order, x in _views((3, 4, 5)) if not in_order]
    assert not any(KEEPING[name](x).is_contiguous() for name in ("mul", "gelu") for x in others)
