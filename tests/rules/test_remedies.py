"""Remedies that a message names: they can be followed in the very call that is flagged."""

from __future__ import annotations

import pytest
import torch
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
def test_a_reduction_given_as_a_text_is_named_as_what_may_be_meant(argument: str, meant: str) -> None:
    """First that of today, which changes nothing: torch takes the text for True."""
    text = f"import torch.nn.functional as F\n\n\ndef loss(x, y):\n    return F.mse_loss(x, y, {argument})\n"
    (found,) = lint(text, codes=["TLN903"]).findings
    today = "mean" if "'" in argument else meant
    assert f'use `reduction="{today}"`' in found.message
    assert f'`reduction="{meant}"`' in found.message


RETAINED = """import torch

x = torch.ones(3, requires_grad=True)
hidden = x * x
a, b = hidden.sum(), hidden.pow(2).sum()
{}
"""
TWICE = "a.backward({}retain_graph=True)\n{}.backward({})"


@pytest.mark.parametrize(
    ("program", "is_sum"),
    [
        (TWICE.format("", "b", ""), True),
        (TWICE.format("", "(0.3 * b)", ""), True),
        (TWICE.format("", "b", "retain_graph=True") + "\n(b * b).backward()", True),
        (TWICE.format("torch.tensor(2.0), ", "b", ""), False),
        (TWICE.format("", "b", "gradient=torch.tensor(2.0)"), False),
        ("with torch.no_grad():\n    " + TWICE.format("", "b", "").replace("\n", "\n    "), False),
        ("torch.set_grad_enabled(False)\n" + TWICE.format("", "b", ""), False),
    ],
)
def test_losses_are_summed_where_their_sum_has_a_graph_and_takes_the_gradients(program: str, is_sum: bool) -> None:
    found = [each for each in lint(RETAINED.format(program), codes=["TLN102"]).findings if each.code == "TLN102"]
    assert found
    for each in found:
        assert ("on the sum of those losses (as weighted)" in each.message) is is_sum
        assert ("one `torch.autograd.backward`" in each.message) is not is_sum
        assert is_sum or each.fix is None


def test_one_loss_twice_is_no_matter_of_a_sum() -> None:
    program = RETAINED.format("b.backward(retain_graph=True)\nb.backward()")
    (found,) = (each for each in lint(program, codes=["TLN102"]).findings if each.code == "TLN102")
    assert found.message == "a later backward of `b` adds the same gradient once more: drop one of them"
    assert found.fix is None


def test_one_backward_takes_losses_with_their_gradients_where_grad_mode_is_off() -> None:
    gradients = []
    for together in (False, True):
        x = torch.ones(3, requires_grad=True)
        hidden = x * x
        losses, given = [hidden.sum(), hidden.pow(2)], [None, torch.full((3,), 0.5)]
        with torch.no_grad():
            if together:
                torch.autograd.backward(losses, given)
            else:
                losses[0].backward(retain_graph=True)
                losses[1].backward(given[1])
        gradients.append(x.grad)
    assert torch.equal(*gradients)


def test_the_full_hook_is_named_with_what_it_refuses() -> None:
    text = "import torch\n\nmodel = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())\n"
    text += "model.register_backward_hook(lambda module, given, gradients: print(given))\n"
    (found,) = [each for each in lint(text, codes=["TLN510"]).findings if each.code == "TLN510"]
    assert "`register_full_backward_hook`" in found.message
    assert "refuses in-place changes of its output" in found.message
    assert len(found.message) <= 160
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.ReLU(inplace=True))
    model[1].register_full_backward_hook(lambda module, given, gradients: None)
    with pytest.raises(RuntimeError, match="modified inplace"):
        model(torch.rand(4, 2))


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
