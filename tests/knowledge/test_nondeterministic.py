"""The table of operations without a deterministic algorithm, against torch: its documentation, and its CPU."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from torchlint.knowledge.nondeterministic import FUNCTIONS, INTERPOLATE, LAYERS, MEANS, METHODS, PUT, is_mean


@pytest.fixture(autouse=True)
def _deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def _documented() -> set[str]:
    """What the documentation says "will throw a RuntimeError", by the last name."""
    text = torch.use_deterministic_algorithms.__doc__ or ""
    listed = text.partition("operations will throw a")[2].partition("In addition")[0]
    return {name.rpartition(".")[2] for name in re.findall(r":(?:class|func):`torch\.([\w.]+)`", listed)}


def test_layers_and_functions_are_documented() -> None:
    documented = _documented()
    assert LAYERS.keys() <= documented
    assert {PUT, INTERPOLATE.rpartition(".")[2], "histc", "grid_sample"} <= documented
    for name, when in FUNCTIONS.items():
        last = name.rpartition(".")[2]
        layer = "".join(part[:1].upper() + part[1:] for part in last.split("_")).replace("Ctc", "CTC")
        assert last in documented or LAYERS.get(layer) == when, name
    assert METHODS["histc"] == FUNCTIONS["torch.histc"]


@pytest.mark.parametrize(
    "run",
    [
        lambda: torch.zeros(4).put_(torch.tensor([1]), torch.ones(1)),
        lambda: nn.MaxUnpool1d(2)(*F.max_pool1d(torch.rand(1, 1, 4), 2, return_indices=True)),
        lambda: F.max_unpool2d(*F.max_pool2d(torch.rand(1, 1, 4, 4), 2, return_indices=True), 2),
        lambda: F.max_unpool3d(*F.max_pool3d(torch.rand(1, 1, 4, 4, 4), 2, return_indices=True), 2),
    ],
)
def test_what_is_always_refused_is_refused_on_the_cpu(run: Callable[[], object]) -> None:
    with pytest.raises(RuntimeError, match="does not have a deterministic implementation"):
        run()


def test_what_is_refused_on_a_gpu_runs_on_the_cpu() -> None:
    torch.histc(torch.rand(4))
    x = torch.rand(1, 1, 4, 4, requires_grad=True)
    F.interpolate(x, scale_factor=2, mode="bilinear").sum().backward()
    nn.AdaptiveAvgPool2d(1)(x).sum().backward()


@pytest.mark.parametrize("name", sorted(MEANS))
@pytest.mark.parametrize("size", [1, 2, (1,), (2,), (1, 2), (None, 2), (None, 1)])
def test_a_pooling_to_one_is_a_mean(name: str, size: int | tuple[int | None, ...]) -> None:
    count = int(name[-2])
    if isinstance(size, tuple):
        size = (size * count)[:count]
    x = torch.rand(1, 2, *(4,) * count, requires_grad=True)
    last = name.rpartition(".")[2]
    pooled = getattr(F, last)(x, size) if "." in name else getattr(nn, last)(size)(x)
    made = type(pooled.grad_fn).__name__
    assert is_mean(size) or not made.startswith("Mean")
    assert made.startswith("Mean") or not is_mean(size) or None in (size if isinstance(size, tuple) else ())
