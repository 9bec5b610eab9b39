"""Statements written out of place, and the other rewritings that rules share: what becomes of them, and when not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst
import pytest
import torch

from torchlint.condition import Condition, spelled
from torchlint.fixes import rewrites
from torchlint.model.events import InplaceWrite, TensorFacts, WriteSpelling
from torchlint.syntax.tree import walk
from torchlint.truth import Truth


def _line(text: str) -> cst.SimpleStatementLine:
    statement = cst.parse_statement(text)
    assert isinstance(statement, cst.SimpleStatementLine)
    return statement


def _expression(within: cst.CSTNode, text: str) -> Any:
    """The last expression of a tree with that source text."""
    return [node for node in walk(within) if isinstance(node, cst.BaseExpression) and rewrites.code(node) == text][-1]


def _write(text: str, target: str, spelling: WriteSpelling, grad_mode: Truth = Truth.YES) -> InplaceWrite:
    line = _line(text)
    return InplaceWrite(
        node=line,
        statement=line,
        op="",
        spelling=spelling,
        target=TensorFacts(name=target),
        target_node=_expression(line, target),
        leaf_raises=Truth.NO,
        leaf_view=Truth.NO,
        in_graph=Truth.YES,
        old_value_in_graph=Truth.YES,
        old_value_needed=Truth.MAYBE,
        saved_by=(),
        broken=Truth.NO,
        value_in_graph=Truth.YES,
        grad_mode=grad_mode,
    )


@pytest.mark.parametrize(
    ("spelling", "target", "before", "after"),
    [
        ("method", "c", "c.mul_(2)", "c = c.mul(2)"),
        ("method", "c", "c.mul_(2).add_(a, alpha=3)", "c = c.mul(2).add(a, alpha=3)"),
        ("method", "c", "d = c.mul_(2)", "d = c = c.mul(2)"),
        ("method", "c", "c = c.mul_(2)", "c = c.mul(2)"),
        ("method", "c", "c = d = c.mul_(2)", "d = c = c.mul(2)"),
        ("method", "c", "return c.mul_(2)", "return c.mul(2)"),
        ("method", "self.h", "self.h.mul_(2)", "self.h = self.h.mul(2)"),
        ("method", "self.h", "return self.h.mul_(2)", "self.h = self.h.mul(2)\nreturn self.h"),
        ("method", "c", "c.zero_()", "c = torch.zeros_like(c)"),
        ("method", "c", "c.fill_(2.0)", "c = torch.full_like(c, 2.0)"),
        ("method", "c", "c.__iadd__(1)", None),
        ("method", "f(c)", "y = g(f(c).mul_(2))", None),
        ("method", "c.exp()", "y = g(c.exp().mul_(2))", "y = g(c.exp().mul(2))"),
        ("method", "(a + b)", "y = (a + b).relu_()", "y = (a + b).relu()"),
        ("method", "c.view(-1)", "y = c.view(-1).mul_(2)", None),
        ("method", "c.moveaxis(0, 1)", "y = c.moveaxis(0, 1).mul_(2)", None),
        ("method", "c.type_as(d)", "y = c.type_as(d).mul_(2)", None),
        ("method", "c.exp()", "c.exp().mul_(2)", None),
        ("method", "c[0]", "c[0].mul_(2)", None),
        ("method", "c", "y = f(c.mul_(2))", None),
        ("method", "c", "c.normal_()", None),
        ("method", "c", "c.copy_(d)", None),
        ("method", "c", "a = 1; c.mul_(2); b = 3", "a = 1; c = c.mul(2); b = 3"),
        ("function", "c", "torch.relu_(c)", "c = torch.relu(c)"),
        ("function", "c", "y = F.elu_(c, 2.0)", "y = c = F.elu(c, 2.0)"),
        ("function", "c", "nn.init.zeros_(c)", None),
        ("function", "c", "relu_(c)", None),
        ("augmented", "c", "c *= 2", "c = c * 2"),
        ("augmented", "c", "c += a * b", "c = c + a * b"),
        ("augmented", "c", "c -= a - b", "c = c - (a - b)"),
        ("augmented", "c", "c *= a + b", "c = c * (a + b)"),
        ("augmented", "c", "c **= -b", "c = c ** -b"),
        ("augmented", "c", "c &= ~m", "c = c & ~m"),
        ("augmented", "c", "c |= a > b", "c = c | (a > b)"),
        ("augmented", "c", "c += a if b else d", "c = c + (a if b else d)"),
        ("augmented", "self.h", "self.h /= n", "self.h = self.h / n"),
        ("out", "c", "torch.add(a, b, out=c)", "c = torch.add(a, b)"),
        ("out", "c", "y = torch.add(a, out=c, other=b)", "y = c = torch.add(a, other=b)"),
        ("inplace", "c", "c = F.relu(c, inplace=True)", "c = F.relu(c)"),
        ("inplace", "c", "F.dropout(c, 0.5, inplace=True,)", "c = F.dropout(c, 0.5,)"),
        ("inplace", "c", "F.relu(c, True)", None),
        ("inplace", "c", "c = self.relu(c)", None),
        ("indexed", "y", "y[2] = v", "y = torch.select_scatter(y, v, 0, 2)"),
        ("indexed", "y", "y[:, -1] = v", "y = torch.select_scatter(y, v, 1, -1)"),
        ("indexed", "y", "y[:2] = v", "y = torch.slice_scatter(y, v, 0, 0, 2)"),
        ("indexed", "y", "y[:, n:] = v", "y = torch.slice_scatter(y, v, 1, n)"),
        ("indexed", "y", "y[y < 0] = -1e9", "y = y.masked_fill(y < 0, -1e9)"),
        ("indexed", "y", 'y[i > j] = float("-inf")', 'y = y.masked_fill(i > j, float("-inf"))'),
        ("indexed", "y", "y[i] = v", None),
        ("indexed", "y", "y[mask] = 0", None),
        ("indexed", "y", "y[2] = 0", None),
        ("indexed", "y", "y[0, 1] = v", None),
        ("indexed", "y", "y[::2] = v", None),
        ("indexed", "y", "y[0] += v", None),
        ("indexed", "y", "y[:] = v", None),
    ],
)
def test_out_of_place(spelling: WriteSpelling, target: str, before: str, after: str | None) -> None:
    fix = rewrites.out_of_place(_write(before, target, spelling))
    assert (fix.edits[0].replacement if fix else None) == after
    if fix is not None:
        cst.parse_module(fix.edits[0].replacement)
        assert not fix.safe
        assert ("import torch" in fix.imports) == ("torch." in str(after))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.complex64])
def test_methods_that_give_the_memory_of_their_receiver(dtype: torch.dtype) -> None:
    """No write to what one of these gives is replaced by a new tensor: it would not be seen in the receiver."""
    tensor = torch.ones(2, 2, dtype=dtype)
    shares = set()
    for name in dir(torch.Tensor):
        if name.startswith("_") or name.endswith("_"):
            continue
        try:
            result = getattr(tensor, name)()
        except Exception:  # needs arguments, is no method, or is not for this type
            continue
        if (
            isinstance(result, torch.Tensor)
            and result.layout is torch.strided
            and result.data_ptr() == tensor.data_ptr()
        ):
            shares.add(name)
    assert {"t", "contiguous", "positive"} <= shares
    for name in shares:
        assert rewrites.out_of_place(_write(f"y = c.{name}().mul_(2)", f"c.{name}()", "method")) is None, name


@pytest.mark.parametrize("grad_mode", [Truth.NO, Truth.MAYBE])
def test_what_is_computed_without_grad_mode_does_not_take_the_place_of_a_graph(grad_mode: Truth) -> None:
    write = _write("c.mul_(2)", "c", "method", grad_mode)
    assert rewrites.out_of_place(write) is None
    without = replace(write, target=TensorFacts(name="c", requires_grad=Truth.NO))
    assert rewrites.out_of_place(without) is not None


@pytest.mark.parametrize(
    ("before", "argument", "after"),
    [
        ("loss.backward(retain_graph=True)", 0, "loss.backward()"),
        ("loss.backward(g, retain_graph=True, inputs=x)", 1, "loss.backward(g, inputs=x)"),
        ("loss.backward(g, retain_graph=True)", 1, "loss.backward(g)"),
        ("loss.backward(g, True)", 1, "loss.backward(g)"),
        ("loss.backward(None, True, False)", 1, None),
        ("loss.backward(\n    g,\n    retain_graph=True,\n)", 1, "loss.backward(\n    g,\n)"),
        ("loss.backward(\n    g,\n    retain_graph=True,  # why\n)", 1, None),
    ],
)
def test_without_argument(before: str, argument: int, after: str | None) -> None:
    call = cst.parse_expression(before)
    assert isinstance(call, cst.Call)
    assert rewrites.without_argument(call, call.args[argument]) == after


@pytest.mark.parametrize(
    ("first", "second", "after"),
    [
        ("a.backward()", "b.backward()", "(a + b).backward()"),
        ("a.backward(retain_graph=True)", "b.backward()", "(a + b).backward()"),
        ("a.sum().backward()", "(b - c).backward()", "(a.sum() + (b - c)).backward()"),
        ("a.backward()", "b.backward(retain_graph=True)", "(a + b).backward(retain_graph=True)"),
        ("a.backward(g)", "b.backward()", None),
        ("a.backward()", "g = grad(b, x)", None),
        ("a.backward(); n += 1", "b.backward()", None),
    ],
)
def test_one_backward(first: str, second: str, after: str | None) -> None:
    assert rewrites.one_backward(_line(first), _line(second)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nn.Parameter(torch.rand(n)) ** 2", "nn.Parameter(torch.rand(n) ** 2)"),
        ("0.1 * nn.Parameter(a + b)", "nn.Parameter(0.1 * (a + b))"),
        ("nn.Parameter(a, requires_grad=False).to(d)", "nn.Parameter(a.to(d), requires_grad=False)"),
        ("nn.Parameter(data=a).exp()", "nn.Parameter(data=a.exp())"),
        ("nn.Parameter(*a).exp()", None),
        ("nn.Parameter(requires_grad=False, data=a).exp()", None),
        ("nn.Parameter()", None),
    ],
)
def test_inside_parameter(before: str, after: str | None) -> None:
    value = cst.parse_expression(before)
    parameter = next(
        node for node in walk(value) if isinstance(node, cst.Call) and rewrites.code(node.func) == "nn.Parameter"
    )
    assert rewrites.inside_parameter(value, parameter) == after


def test_under_no_grad() -> None:
    assert rewrites.under_no_grad(_line("w -= lr * w.grad")) == "with torch.no_grad():\n    w -= lr * w.grad"
    assert rewrites.under_no_grad(_line('w.add_(1); print("""a\nb""")')) is None
    assert rewrites.under_no_grad(cst.parse_statement("if w.add_(1).any(): pass")) is None


def test_words_of_messages() -> None:
    x, y = Condition("requires_grad", "x"), Condition("requires_grad", "y")
    assert spelled(()) == ""
    assert spelled((x,)) == ", if `x` requires grad"
    assert spelled((Condition("branch", "i < n"), x, y)) == ", where `i < n`, if `x` and `y` require grad"
    assert rewrites.shown(cst.parse_expression("f(a,\n  b)")) == "`f(a, b)`"
    assert rewrites.shown(cst.parse_expression("f(a)"), "y") == "`y`"
    assert len(rewrites.shown(cst.parse_expression("f(" + "a + " * 30 + "a)"))) == 42


def test_methods_without_a_twin_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    found = {
        name
        for kind in (torch.Tensor, torch, torch.nn.functional)
        for name in dir(kind)
        if name.endswith("_") and not name.startswith("_") and not hasattr(kind, name[:-1])
    }
    assert found <= rewrites.NO_TWIN
    meaning_something_else = {"resize_", "resize_as_", "requires_grad_", "fill_"}
    assert rewrites.NO_TWIN - found - meaning_something_else == set()


def test_a_block_is_wrapped_without_the_comments_behind_it() -> None:
    text = "for x in y:\n    if x:\n        f(x)  # why\n        # deep\n    # tail\n# after\n"
    loop = cst.parse_module(text).body[0]
    assert (
        rewrites.block_under_no_grad(loop) == "with torch.no_grad():\n    for x in y:\n        if x:\n            f(x)"
    )
