"""
The rows of the talk that the first twelve rules cover: T1, T3 to T5, T7, T8, T10 to T14.

Each row has programs of its own here, written as people write them (functions' worth of code under a main guard,
modules, loops), with the findings and every step of their traces marked, what torch shows, and a cured twin. The
scripts in `docs/examples/` tell the same rows to readers, and are held to the same.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import expectations
import pytest

from torchlint.rule import Holds, Raises, Symptom
from torchlint.verify.execute import describe_ending, run_program, shows

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
Bless = Callable[[Path, str, str], None]


@dataclass(frozen=True)
class Row:
    """A faulty program with its markers, what torch shows, words of the finding's message, and the cured program."""

    faulty: str
    shows: Symptom
    says: tuple[str, ...]
    cured: str
    strict: bool = False

    def __post_init__(self) -> None:
        for name in ("faulty", "cured"):
            object.__setattr__(self, name, textwrap.dedent(getattr(self, name)).lstrip("\n"))


SECOND_TIME = Raises("Trying to backward through the graph a second time")
OVERWRITTEN = Raises("modified by an inplace operation")

ROWS = {
    "T1": Row(
        """
        import torch

        def energy(a, b):
            return a * (a + b)  # note: `*` is recorded here

        if __name__ == "__main__":
            u = torch.tensor(1.5, requires_grad=True)
            v = torch.tensor(0.5, requires_grad=True)
            y = energy(u, v)
            y.backward()  # note: backward frees the graph here
            print(u.grad, v.grad)
            y.backward()  # error: [TLN101]  # note: backward comes to the freed node of `*` here
        """,
        SECOND_TIME,
        ("`y`", "freed", "`*`"),
        """
        import torch

        def energy(a, b):
            return a * (a + b)

        if __name__ == "__main__":
            u = torch.tensor(1.5, requires_grad=True)
            v = torch.tensor(0.5, requires_grad=True)
            for _ in range(2):
                energy(u, v).backward()
            print(u.grad, v.grad)
        """,
    ),
    "T3": Row(
        """
        import torch

        w = torch.rand(3, requires_grad=True)
        for _ in range(3):
            loss = (w - 1).pow(2).sum()
            loss.backward()
            with torch.no_grad():
                w.sub_(0.1 * w.grad)
            kept = w.grad
            w.grad.zero_()  # smell: [TLN401]
        """,
        Holds("kept.abs().sum() == 0"),
        ("`w.grad`", "`torch.autograd.grad`"),
        """
        import torch

        w = torch.rand(3, requires_grad=True)
        for _ in range(3):
            loss = (w - 1).pow(2).sum()
            (slope,) = torch.autograd.grad(loss, w)
            with torch.no_grad():
                w.sub_(0.1 * slope)
        """,
    ),
    "T3 too early": Row(
        """
        import torch

        w = torch.rand(3, requires_grad=True)
        w.grad.zero_()  # error: [TLN401]
        (w * w).sum().backward()
        """,
        Raises("'NoneType' object has no attribute 'zero_'"),
        ("`w.grad`", "still None"),
        """
        import torch

        w = torch.rand(3, requires_grad=True)
        (w * w).sum().backward()
        """,
    ),
    "T4": Row(
        """
        import torch
        import torch.nn as nn

        class Gate(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.gain = nn.Parameter(torch.randn(n)) ** 2  # error: [TLN301]  # note: `**` is recorded here

            def forward(self, x):
                return x * self.gain

        if __name__ == "__main__":
            gate = Gate(4)
            x = torch.rand(4)
            for _ in range(2):
                gate.zero_grad()
                loss = gate(x).sum()
                loss.backward()  # error: [TLN101]  # note: backward frees the graph here; backward comes to the freed node of `**` here
        """,  # noqa: E501
        SECOND_TIME,
        ("`self.gain`", "`**`", "`__init__`"),
        """
        import torch
        import torch.nn as nn

        class Gate(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.gain = nn.Parameter(torch.randn(n))

            def forward(self, x):
                return x * self.gain**2

        if __name__ == "__main__":
            gate = Gate(4)
            x = torch.rand(4)
            for _ in range(2):
                gate.zero_grad()
                loss = gate(x).sum()
                loss.backward()
        """,
    ),
    "T5": Row(
        """
        import torch
        from torch import nn

        net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
        scores = net(torch.rand(1, 2))  # note: `scores` created here
        scores.backward()  # error: [TLN103]
        """,
        Raises("grad can be implicitly created only for scalar outputs"),
        ("`scores`", "(1, 3)", "`gradient=`"),
        """
        import torch
        from torch import nn

        net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
        scores = net(torch.rand(1, 2))
        scores.backward(gradient=torch.eye(3)[:1])
        """,
    ),
    "T7": Row(
        """
        import torch

        net = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(torch.rand(4, 2)).pow(2).mean()
            loss.backward(retain_graph=True)  # smell: [TLN102]
            optimizer.step()
        """,
        Holds("loss.grad_fn.next_functions[0][0]._saved_self is not None"),
        ("`retain_graph=True`", "`loss`", "no later backward"),
        """
        import torch

        net = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(torch.rand(4, 2)).pow(2).mean()
            loss.backward()
            optimizer.step()
        """,
    ),
    "T8": Row(
        """
        import torch

        z = torch.rand(4, requires_grad=True)
        shared = 2.0 * z**2
        passes = []
        shared.register_hook(passes.append)
        first, second = shared.mean(), shared.max()
        first.backward(retain_graph=True)  # smell: [TLN102]
        second.backward()  # note: this backward reads the retained graph
        """,
        Holds("len(passes) == 2"),
        ("a later backward", "`first`", "sum"),
        """
        import torch

        z = torch.rand(4, requires_grad=True)
        shared = 2.0 * z**2
        passes = []
        shared.register_hook(passes.append)
        first, second = shared.mean(), shared.max()
        (first + second).backward()
        """,
    ),
    "T10": Row(
        """
        import torch

        encoder = torch.nn.Linear(3, 3)
        code = torch.relu(encoder(torch.rand(2, 3)))  # note: `relu` is recorded here
        size = code.pow(2).mean()
        spread = code.std()
        size.backward()  # note: backward frees the graph here
        spread.backward()  # error: [TLN101]  # note: backward comes to the freed node of `relu` here
        """,
        SECOND_TIME,
        ("`spread`", "`code`", "freed"),
        """
        import torch

        encoder = torch.nn.Linear(3, 3)
        code = torch.relu(encoder(torch.rand(2, 3)))
        size = code.pow(2).mean()
        spread = code.std()
        (size + spread).backward()
        """,
    ),
    "T11": Row(
        """
        import torch

        start = torch.tensor(1.0, requires_grad=True)
        state = 3 * start
        snapshot = state.detach()  # note: `detach()` shares memory with `state`
        state.mul_(2)  # warning: [TLN206]  # note: `mul_` overwrites `state`
        growth = (state - snapshot).item()  # note: `snapshot` is read here
        """,
        Holds("growth == 0"),
        ("`state`", "`snapshot`", "`detach()`", "memory"),
        """
        import torch

        start = torch.tensor(1.0, requires_grad=True)
        state = 3 * start
        snapshot = state.detach().clone()
        state.mul_(2)
        growth = (state - snapshot).item()
        """,
    ),
    "T12": Row(
        """
        import torch

        a = torch.tensor(2.0, requires_grad=True)
        h = 2 * a  # note: `h` created here
        h.mul_(1.0)  # strict: [TLN204]  # note: `mul_` overwrites `h`
        (h**2).backward()
        assert a.grad.item() == 16
        """,
        Holds("h._version == 1"),
        ("`mul_`", "`h`", "harmless"),
        """
        import torch

        a = torch.tensor(2.0, requires_grad=True)
        h = 2 * a
        h = h.mul(1.0)
        (h**2).backward()
        assert a.grad.item() == 16
        """,
        strict=True,
    ),
    "T13": Row(
        """
        import torch

        a = torch.tensor(2.0, requires_grad=True)
        b = torch.tensor(3.0, requires_grad=True)
        h = 2 * a
        y = h * b  # note: `*` saves its input `h`
        h.mul_(1.0)  # error: [TLN201]  # note: `mul_` overwrites `h`
        y.backward()  # note: backward reads it here
        """,
        OVERWRITTEN,
        ("`mul_`", "`h`", "`*`", "saved for backward"),
        """
        import torch

        a = torch.tensor(2.0, requires_grad=True)
        b = torch.tensor(3.0, requires_grad=True)
        h = 2 * a
        y = h * b
        h = h.mul(1.0)
        y.backward()
        """,
    ),
    "T13 through a detached alias": Row(
        """
        import torch

        a = torch.tensor(2.0, requires_grad=True)
        b = torch.tensor(3.0, requires_grad=True)
        h = 2 * a
        fixed = h.detach()  # note: `detach()` shares memory with `h`
        y = fixed * b  # note: `*` saves its input `fixed`
        h *= 1.0  # error: [TLN201]  # note: `*=` overwrites `h`
        z = h**2
        (y + z).backward()  # note: backward reads it here
        """,
        OVERWRITTEN,
        ("`*=`", "`fixed`", "`h`", "memory"),
        """
        import torch

        a = torch.tensor(2.0, requires_grad=True)
        b = torch.tensor(3.0, requires_grad=True)
        h = 2 * a
        fixed = h.detach()
        y = fixed * b
        h = h * 1.0
        z = h**2
        (y + z).backward()
        """,
    ),
    "T14": Row(
        """
        import torch
        from torch import nn

        class Fibonacci(nn.Module):
            def forward(self, x):
                y = torch.zeros(4)
                y[:2] = x
                y[2] = y[0] * y[1]  # error: [TLN205]  # note: `*` saves its input `y[1]`; `[...] =` writes into `y`
                return y[:3].sum()

        if __name__ == "__main__":
            x = torch.rand(2, requires_grad=True)
            Fibonacci()(x).backward()  # note: backward reads it here
        """,
        OVERWRITTEN,
        ("`y`", "`torch.cat`", "`torch.stack`"),
        """
        import torch
        from torch import nn

        class Fibonacci(nn.Module):
            def forward(self, x):
                y = torch.cat([x, (x[0] * x[1]).reshape(1)])
                return y.sum()

        if __name__ == "__main__":
            x = torch.rand(2, requires_grad=True)
            Fibonacci()(x).backward()
        """,
    ),
}

EVERY_ROW = [pytest.param(row, id=name) for name, row in ROWS.items()]


@pytest.mark.parametrize("row", EVERY_ROW)
def test_row_is_found_with_its_trace(row: Row, bless: Bless) -> None:
    noted = expectations.check(row.faulty, strict=row.strict) or row.faulty
    bless(Path(__file__), textwrap.indent(row.faulty, " " * 8), textwrap.indent(noted, " " * 8))
    findings = expectations.lint(expectations.stripped(row.faulty), strict=row.strict).findings
    messages = " ".join(finding.message for finding in findings)
    assert all(word in messages for word in row.says), messages


@pytest.mark.parametrize("row", EVERY_ROW)
def test_cured_row_is_clean(row: Row) -> None:
    report = expectations.lint(row.cured, strict=row.strict)
    assert not report.findings, expectations.described(row.cured, report.findings)


@pytest.mark.parametrize("row", EVERY_ROW)
def test_torch_agrees(row: Row) -> None:
    shown, seen = shows(expectations.stripped(row.faulty), row.shows)
    assert shown, seen
    outcome = run_program(row.cured)
    assert outcome.ending == "ended", describe_ending(outcome)
    shown, seen = shows(row.cured, row.shows)
    assert not shown, seen


def test_harmless_without_strict() -> None:
    assert not expectations.lint(expectations.stripped(ROWS["T12"].faulty)).findings


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SCRIPTS])
def test_script_is_flagged_at_its_markers(path: Path, bless: Bless) -> None:
    text = path.read_text(encoding="utf-8")
    assert expectations.expected(text).findings
    bless(path, text, expectations.check(text, strict=True) or text)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SCRIPTS])
def test_script_has_a_cured_twin(path: Path) -> None:
    text = (path.parent / "cured" / path.name).read_text(encoding="utf-8")
    report = expectations.lint(text)
    assert not report.findings, expectations.described(text, report.findings)
    outcome = run_program(text)
    assert outcome.ending == "ended", describe_ending(outcome)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SCRIPTS])
def test_errors_of_a_script_are_errors_under_torch(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    outcome = run_program(text)
    wanted = "raised" if "error " in str(expectations.expected(text).findings) else "ended"
    assert outcome.ending == wanted, describe_ending(outcome)


def test_every_row_has_a_script() -> None:
    told = {path.read_text(encoding="utf-8").splitlines()[1].partition(":")[0] for path in SCRIPTS}
    assert told == {name.split()[0] for name in ROWS}
    assert {path.name for path in EXAMPLES.glob("cured/*.py")} == {path.name for path in SCRIPTS}
