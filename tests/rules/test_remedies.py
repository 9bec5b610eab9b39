"""Remedies that a message names: they can be followed in the very call that is flagged."""

from __future__ import annotations

import pytest
from expectations import lint


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("", True),
        (", dtype=torch.float64", True),
        (", requires_grad=True", False),
        (", **options", False),
        (", pin_memory=False", False),
    ],
)
def test_as_tensor_is_named_only_where_it_takes_the_arguments(arguments: str, named: bool) -> None:
    text = (
        "import torch\n\n\ndef copied(values, **options):\n"
        f"    values = values.clone()\n    return torch.tensor(values{arguments})\n\n\ncopied(torch.rand(3))\n"
    )
    (found,) = [each for each in lint(text, codes=["TLN706"]).findings if each.code == "TLN706"]
    assert ("`as_tensor`" in found.message) == named


@pytest.mark.parametrize(
    ("call", "way"),
    [
        ("torch.tensor(values)", "detach().clone()"),
        ("torch.tensor(values, dtype=None, device=None)", "detach().to(…, copy=True)"),
        ("torch.tensor(values, device='cpu')", "detach().to(…, copy=True)"),
        ("torch.tensor(values, requires_grad=True)", "detach().clone().requires_grad_()"),
        ("torch.tensor(values, dtype=torch.float64, requires_grad=True)", "detach().to(…, copy=True).requires_grad_()"),
        ("torch.tensor(values, requires_grad=False)", "detach().clone()"),
        ("torch.tensor(values, requires_grad=values.is_leaf)", "detach().clone().requires_grad_(…)"),
        ("torch.tensor(values, pin_memory=False)", "detach().clone()"),
        ("torch.tensor(values, pin_memory=True)", "detach().clone().pin_memory()"),
        ("torch.ones(2).new_tensor(values)", "detach().to(…, copy=True)"),
        ("torch.ones(2).new_tensor(values, device='cpu')", "detach().to(…, copy=True)"),
    ],
)
def test_what_is_the_same_keeps_what_the_call_gives(call: str, way: str) -> None:
    """`detach().clone()` keeps the dtype and the device of the tensor, whatever the call asks for."""
    text = f"import torch\n\nvalues = torch.rand(3)\nprint({call})\n"
    (found,) = [each for each in lint(text, codes=["TLN706"]).findings if each.code == "TLN706"]
    assert f"; `{way}` is the same" in found.message


def test_what_is_the_same_is_named_in_a_short_message() -> None:
    name = "a_name_that_is_as_long_as_names_are"
    call = f"torch.tensor({name} * 2, dtype=torch.float64, requires_grad=True)"
    text = f"import torch\n\n{name} = torch.rand(3, requires_grad=True)\nprint({call})\n"
    (found,) = [each for each in lint(text, codes=["TLN706"]).findings if each.code == "TLN706"]
    assert "cuts the graph" in found.message
    assert len(found.message) <= 160


@pytest.mark.parametrize(
    ("argument", "meant"),
    [("reduce='none'", "none"), ("reduce='sum'", "sum"), ("reduce=False", "none"), ("reduce=True", "mean")],
)
def test_a_reduction_given_as_a_text_is_what_was_meant(argument: str, meant: str) -> None:
    text = f"import torch.nn.functional as F\n\n\ndef loss(x, y):\n    return F.mse_loss(x, y, {argument})\n"
    (found,) = lint(text, codes=["TLN903"]).findings
    assert f'use `reduction="{meant}"`' in found.message


def test_as_tensor_is_said_to_keep_the_graph() -> None:
    text = (
        "import torch\n\n\ndef copied(values):\n    return torch.tensor(values)\n\n\n"
        "copied(torch.rand(3, requires_grad=True) * 2)\n"
    )
    (found,) = [each for each in lint(text, codes=["TLN706"]).findings if each.code == "TLN706"]
    assert "`as_tensor` takes those, too, and keeps the graph" in found.message


def test_new_tensor_keeps_a_dtype_that_as_tensor_is_to_be_told() -> None:
    text = (
        "import torch\n\n\ndef copied(values):\n    return torch.ones(2).new_tensor(values)\n\n\n"
        "copied(torch.rand(3))\n"
    )
    (found,) = [each for each in lint(text, codes=["TLN706"]).findings if each.code == "TLN706"]
    assert "`as_tensor` with its dtype takes those, too" in found.message


@pytest.mark.parametrize(
    ("expanded", "says"),
    [
        ("torch.zeros(1).expand(n, 64)", "refuses unless there are none"),
        ("torch.zeros(1, 3).expand(n, 3)", "as soon as its size is over 1"),
    ],
)
def test_expanded_to_a_size_that_is_known(expanded: str, says: str) -> None:
    """Beside a size over 1 another one may be 0 all the same, and torch writes what has no elements."""
    text = f"import torch\n\n\ndef filled(n):\n    rows = {expanded}\n    rows += 1\n"
    (found,) = [each for each in lint(text, codes=["TLN208"]).findings if each.code == "TLN208"]
    assert says in found.message
