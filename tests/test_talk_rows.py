"""
Which test holds each row of the talk and of the two threads, and the rows that no faulty program stands for: T20, T21.

T20: a tape records loops and branches unrolled, so the model follows them: a fault may need a second iteration, one
arm, or a function that calls itself. T21: numbers decide. Programs that the linter lets pass have gradients, first and
second, that central differences bear out (`torch.autograd.gradcheck`).
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import expectations
import pytest
import test_talk
import test_talk_gradients
import test_talk_numerics
import torch

from torchlint.verify.execute import describe_ending, run_program

RUNTIME = Path(__file__).parent / "verify" / "test_talk.py"
ROWS = [f"T{number}" for number in range(1, 22)] + [f"S{number}" for number in range(1, 5)]
SPECIAL = {
    "T18": test_talk_numerics.test_a_custom_function_that_saves_its_inputs_is_clean,
}
OBSERVED = ["T1", "T3", "T4", "T5", "T7", "T8", "T10", "T11", "T12", "T13", "T14"]
"""Rows that the runtime mode can show; see tests/verify/test_talk.py."""

UNROLLED = {
    "second iteration": (
        """
        import torch

        w = torch.tensor(1.5, requires_grad=True)
        state = torch.tensor(1.0)
        for step in range(3):
            state = state * w
            loss = state - 1
            loss.backward()  # error: [TLN101]
        """,
        "Trying to backward through the graph a second time",
    ),
    "one arm": (
        """
        import torch

        def power(base, exponent):
            result = base.exp()
            if exponent > 1:
                result.mul_(2)  # error: [TLN201]
            return result

        x = torch.tensor([0.5, 1.0], requires_grad=True)
        power(x, 1).sum().backward()
        power(x, 2).sum().backward()
        """,
        "modified by an inplace operation",
    ),
    "while": (
        """
        import torch

        x = torch.tensor(3.0, requires_grad=True)
        y = torch.sqrt(x)
        rounds = 0
        while rounds < 4:
            y /= 2  # error: [TLN201]
            rounds += 1
        y.backward()
        """,
        "modified by an inplace operation",
    ),
    "recursion": (
        """
        import torch

        def nested(x, depth):
            return x if depth == 0 else nested(torch.sin(x), depth - 1)

        x = torch.tensor(0.5, requires_grad=True)
        y = nested(x, 1)
        y.backward()
        y.backward()  # error: [TLN101]
        """,
        "Trying to backward through the graph a second time",
    ),
}

HARMLESS = {
    "every iteration has a graph of its own": """
        import torch

        w = torch.tensor(1.5, requires_grad=True)
        for step in range(3):
            (w * w - 1).backward()
        """,
    "the arms exclude each other": """
        import torch

        def run(x, inplace):
            y = x.exp()
            if inplace:
                y = y.clone()
            if inplace:
                y.mul_(2)
            return y

        x = torch.ones(2, requires_grad=True)
        run(x, True).sum().backward()
        run(x, False).sum().backward()
        """,
}


def _rows_of(module: object) -> set[str]:
    rows: dict[str, object] = vars(module)["ROWS"]
    return {name.split()[0] for name in rows}


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_a_static_test(row: str) -> None:
    modules = (test_talk, test_talk_gradients, test_talk_numerics)
    here = {"T20": UNROLLED, "T21": FUNCTIONS}
    assert any(row in _rows_of(module) for module in modules) or row in SPECIAL or here.get(row)


@pytest.mark.parametrize("row", OBSERVED)
def test_rows_that_the_runtime_mode_reaches_have_a_test_there(row: str) -> None:
    tree = ast.parse(RUNTIME.read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert any(name.startswith(f"test_{row.lower()}_") for name in names)


@pytest.mark.parametrize("name", UNROLLED)
def test_t20_a_fault_is_found_on_its_path(name: str) -> None:
    text, raises = UNROLLED[name]
    program = textwrap.dedent(text).lstrip("\n")
    expectations.check(program)
    outcome = run_program(expectations.stripped(program))
    assert outcome.raised is not None
    assert raises in outcome.raised.message


@pytest.mark.parametrize("name", HARMLESS)
def test_t20_and_only_there(name: str) -> None:
    program = textwrap.dedent(HARMLESS[name]).lstrip("\n")
    assert not expectations.lint(program).findings
    outcome = run_program(program)
    assert outcome.ending == "ended", describe_ending(outcome)


FUNCTIONS = {
    "x * x": "x * x",
    "exp": "x.exp()",
    "sum of products": "(x * w).sum() * x.sin()",
    "in place": "x.mul(2).add_(w)",
    "in place on what is saved by nobody": "(x + w).mul_(w)",
    "indexed": "torch.stack([x[0] * x[1], x[2] ** 2])",
    "branch": "torch.where(x > 0.3, x.tanh(), w * x)",
    "detached": "x * w.detach()",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_t21_what_the_model_lets_pass_has_right_gradients(name: str) -> None:
    program = "import torch\n\nx = torch.rand(3).requires_grad_()\nw = torch.rand(3).requires_grad_()\n"
    program += f"y = {FUNCTIONS[name]}\ny.sum().backward()\n"
    findings = [f for f in expectations.lint(program).findings if f.level.value in ("error", "warning")]
    assert not findings, expectations.described(program, findings)
    torch.manual_seed(0)
    inputs = [torch.rand(3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    if "detach" in FUNCTIONS[name]:
        inputs[1].requires_grad_(False)

    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = eval(FUNCTIONS[name], {"torch": torch, "x": x, "w": w})
        return result

    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)
