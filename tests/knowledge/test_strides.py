"""Strides against running torch: views of views, elementwise results of them, and what `reshape` makes of both."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from torchlint.knowledge.ops.kernels import HEADS_INSIDE
from torchlint.knowledge.shapes import strides
from torchlint.knowledge.shapes.contiguity import flattens_no_gap, gaps_after, order_after
from torchlint.knowledge.shapes.infer import UNKNOWN, Sized

torch = pytest.importorskip("torch")

VIEWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("transpose", {"dim0": 0, "dim1": -1}),
    ("t", {}),
    ("permute", {"dims": (2, 0, 1)}),
    ("movedim", {"source": 0, "destination": 1}),
    ("select", {"dim": 0, "index": 0}),
    ("select", {"dim": -1, "index": 0}),
    ("narrow", {"dim": 1, "start": 0, "length": 1}),
    ("unbind", {"dim": 1}),
    ("chunk", {"chunks": 2, "dim": -1}),
    ("unsqueeze", {"dim": 1}),
    ("squeeze", {}),
    ("expand", {"size": (2, -1, -1)}),
    ("diagonal", {}),
    ("unfold", {"dimension": 0, "size": 2, "step": 1}),
    ("flatten", {}),
)
INDICES: tuple[Any, ...] = (
    *(0, slice(1, None), slice(None, None, 2), (slice(None), 0)),
    *((Ellipsis, 0), None, (None, 0), ...),
)
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "exp": torch.exp, "neg": torch.neg, "clone": torch.clone, "add": lambda a: a + 1, "mul": lambda a: a * a,
    "pow": lambda a: a**2,
}  # fmt: skip


def _known(tensor: Any) -> Sized:
    return Sized(tuple(tensor.shape), "float")


def _same(tensor: Any, found: tuple[int, ...] | None) -> bool:
    """Equal where it matters: of a dimension of size 1 nobody asks."""
    return found is not None and all(
        size == 1 or one == other for size, one, other in zip(tensor.shape, tensor.stride(), found, strict=True)
    )


def _viewed(rng: random.Random, tensor: Any, found: tuple[int, ...]) -> tuple[Any, tuple[int, ...]] | None:
    if rng.random() < 0.5:
        name, arguments = rng.choice(VIEWS)
        try:
            made = getattr(tensor, name)(*arguments.values())
        except (RuntimeError, IndexError):
            return None
        made = made[0] if isinstance(made, tuple) else made
    else:
        name, arguments = "getitem", {"index": rng.choice(INDICES)}
        try:
            made = tensor[arguments["index"]]
        except IndexError:
            return None
    if not made.numel() or (made.data_ptr() != tensor.data_ptr() and made._base is None):
        return None
    after = strides.viewed(name, {"self": _known(tensor), **arguments}, found, tuple(made.shape))
    assert _same(made, after), (name, arguments, tensor.shape, tensor.stride(), made.stride(), after)
    assert after is not None
    assert strides.is_contiguous(tuple(made.shape), after) == made.is_contiguous()
    return made, after


@pytest.mark.parametrize("seed", range(20))
def test_strides_agree_with_torch(seed: int) -> None:
    rng = random.Random(seed)
    checked = 0
    for _ in range(60):
        shape = tuple(rng.choice((1, 2, 3, 4)) for _ in range(rng.randint(1, 3)))
        tensor, found = torch.rand(shape), strides.dense(shape)
        for _ in range(rng.randint(1, 4)):
            made = _viewed(rng, tensor, found)
            if made is not None:
                tensor, found = made
                checked += 1
        name, function = rng.choice(list(ELEMENTWISE.items()))
        result = function(tensor)
        operands = [(tuple(tensor.shape), found)] * (2 if name == "mul" else 1)
        assert _same(result, strides.elementwise(name, operands, tuple(result.shape))), (name, tensor.shape, found)
        flat = tensor.reshape(-1)
        copied = strides.reviewed(tuple(tensor.shape), found, tuple(flat.shape)) is None
        assert copied == (flat.data_ptr() != tensor.data_ptr() or (flat._base is None and tensor.dim() != 1)), (
            tensor.shape, tensor.stride(),
        )  # fmt: skip
    assert checked > 60


def test_operands_that_broadcast() -> None:
    column, matrix = torch.rand(3, 1), torch.rand(4, 3).t()
    result = column + matrix
    operands = [((3, 1), (1, 1)), ((3, 4), (1, 3))]
    assert strides.elementwise("add", operands, (3, 4)) == result.stride()


def test_nothing_is_said_of_what_is_unknown() -> None:
    assert strides.viewed("t", {"self": Sized((None, 3))}, (3, 1), (3, None)) is None
    assert strides.elementwise("softmax", [((3, 4), (1, 3))], (3, 4)) is None
    assert strides.elementwise("add", [((3, 4), None)], (3, 4)) is None
    assert strides.viewed("select", {"self": _known(torch.rand(2, 3)), "dim": UNKNOWN}, (3, 1), (3,)) is None


_ORDERED: list[tuple[str, dict[str, object], Callable[[Any], Any]]] = [
    ("transpose", {"dim0": 1, "dim1": 2}, lambda x: x.transpose(1, 2)),
    ("transpose", {"dim0": -1, "dim1": 0}, lambda x: x.transpose(-1, 0)),
    ("permute", {"dims": (2, 0, 3, 1)}, lambda x: x.permute(2, 0, 3, 1)),
    ("unbind", {"dim": 1}, lambda x: x.unbind(1)[1]),
    ("select", {"dim": -1, "index": 1}, lambda x: x.select(-1, 1)),
    ("getitem", {"index": 1}, lambda x: x[1]),
    ("getitem", {"index": (slice(None, UNKNOWN), slice(0, UNKNOWN))}, lambda x: x[:3, 0:2]),
    ("getitem", {"index": (..., slice(None, UNKNOWN))}, lambda x: x[..., :3]),
    ("narrow", {"dim": 2, "start": 1, "length": 2}, lambda x: x.narrow(2, 1, 2)),
    ("chunk", {"chunks": 2, "dim": 3}, lambda x: x.chunk(2, 3)[1]),
]


@pytest.mark.parametrize(("name", "arguments", "view"), _ORDERED)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (3, 1, 0, 2)])
def test_order_of_views_whose_sizes_nobody_knows(
    name: str, arguments: dict[str, object], view: Callable[[Any], Any], order: tuple[int, ...]
) -> None:
    source = torch.empty(4, 6, 8, 10).permute(*(order.index(axis) for axis in range(4)))
    laid = sorted(range(4), key=lambda axis: -source.stride(axis))
    result = view(source)
    wanted = tuple(sorted(range(result.dim()), key=lambda axis: -result.stride(axis)))
    assert order_after(name, arguments, laid, result.dim()) == wanted


def test_fused_attention_lays_its_result_as_its_query() -> None:
    for query in (torch.rand(2, 5, 3, 4), torch.rand(2, 5, 3, 3, 4)[:, :, 1]):
        q = query.transpose(1, 2).requires_grad_()
        out = torch.nn.functional.scaled_dot_product_attention(q, q, q)
        assert "ForCpu" in str(out.grad_fn)
        laid = tuple(sorted(range(4), key=lambda axis: -out.stride(axis)))
        assert laid == HEADS_INSIDE
        assert out.transpose(1, 2).is_contiguous()
    q = torch.rand(2, 5, 3, 4).transpose(1, 2).contiguous().requires_grad_()
    assert torch.nn.functional.scaled_dot_product_attention(q, q, q).is_contiguous()


@pytest.mark.parametrize("index", [slice(1, UNKNOWN), slice(None, 3), (slice(None), None), (slice(None, UNKNOWN, 2),)])
def test_nothing_is_said_of_what_is_surely_not_all_of_a_tensor(index: object) -> None:
    assert order_after("getitem", {"index": index}, (0, 1, 2), None) is None


_PARTS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("chunk", {"chunks": 2, "dim": dim}) for dim in (0, 1, 2, -1, -2)),
    *(("split", {"split_size": 1, "dim": dim}) for dim in (0, 1, -1)),
    *(("narrow", {"dim": dim, "start": 1, "length": 1}) for dim in (0, 1, -1)),
    *(("select", {"dim": dim, "index": 1}) for dim in (0, 1, -1)),
    *(("unbind", {"dim": dim}) for dim in (0, 1)),
    *(("unflatten", {"dim": dim, "sizes": (2, -1)}) for dim in (0, 1, -1)),
    *(("transpose", {"dim0": 0, "dim1": dim}) for dim in (1, -1)),
    *(("getitem", {"index": index}) for index in (0, slice(1, None), (slice(None), 1), (Ellipsis, slice(None, 2)))),
    *(("getitem", {"index": index}) for index in (slice(None, None, 2), (0, Ellipsis, 1), None)),
)


@pytest.mark.parametrize("ranked", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_where_no_gap_is_flatten_gives_a_view(seed: int, ranked: bool) -> None:
    """Of parts of parts of contiguous tensors; also where nobody knows how many dimensions there are."""
    chance = random.Random(seed)
    tensor = torch.empty(4, 4, 6, 4)[: chance.choice((2, 4))]
    gaps: frozenset[int] | None = frozenset()
    for _ in range(chance.choice((1, 2, 3))):
        name, arguments = chance.choice(_PARTS)
        had = tensor.dim()
        try:
            if name == "getitem":
                tensor = tensor[arguments["index"]]
            else:
                found = getattr(tensor, name)(**arguments)
                tensor = found if isinstance(found, torch.Tensor) else found[-1]
        except (RuntimeError, IndexError):
            continue
        gaps = gaps_after(name, arguments, gaps, had if ranked else None, tensor.dim()) if gaps is not None else None
    for first in range(tensor.dim() if gaps is not None else 0):
        for last in (*range(first, tensor.dim()), -1):
            assert gaps is not None
            if flattens_no_gap(gaps, tensor.dim() if ranked else None, first, last):
                assert tensor.flatten(first, last).data_ptr() == tensor.data_ptr(), (first, last)


def test_parts_of_what_has_no_gaps() -> None:
    whole: frozenset[int] = frozenset()
    assert gaps_after("chunk", {"chunks": 3, "dim": 1}, whole, None, None) == {0}
    assert gaps_after("chunk", {"chunks": 3, "dim": -1}, whole, None, None) is None
    assert gaps_after("chunk", {"chunks": 3, "dim": -1}, whole, 4, 4) == {2}
    assert gaps_after("unflatten", {"dim": 1, "sizes": (2, -1)}, frozenset({0, 2}), None, None) == {0, 3}
    assert gaps_after("transpose", {"dim0": 1, "dim1": 2}, whole, 4, 4) == {0, 1, 2}
    assert gaps_after("expand", {"size": (2, -1)}, whole, 2, 2) is None
