"""Remedies that a message names: they can be followed in the very call that is flagged."""

from __future__ import annotations

import pytest
from expectations import lint


@pytest.mark.parametrize(
    ("arguments", "named"),
    [("", True), (", dtype=torch.float64", True), (", requires_grad=True", False), (", **options", False)],
)
def test_as_tensor_is_named_only_where_it_takes_the_arguments(arguments: str, named: bool) -> None:
    text = (
        "import torch\n\n\ndef copied(values, **options):\n"
        f"    values = values.clone()\n    return torch.tensor(values{arguments})\n\n\ncopied(torch.rand(3))\n"
    )
    (found,) = [each for each in lint(text, codes=["TLN706"]).findings if each.code == "TLN706"]
    assert ("`as_tensor`" in found.message) == named


@pytest.mark.parametrize(
    ("argument", "meant"),
    [("reduce='none'", "none"), ("reduce='sum'", "sum"), ("reduce=False", "none"), ("reduce=True", "mean")],
)
def test_a_reduction_given_as_a_text_is_what_was_meant(argument: str, meant: str) -> None:
    text = f"import torch.nn.functional as F\n\n\ndef loss(x, y):\n    return F.mse_loss(x, y, {argument})\n"
    (found,) = lint(text, codes=["TLN903"]).findings
    assert f'use `reduction="{meant}"`' in found.message
