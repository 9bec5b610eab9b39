"""
The rows of the talk and the threads on custom functions, hooks, numerics and needless work: T17 to T19, S1 to S4
(static side).

As in `test_talk`: programs of their own with every finding marked, what torch shows, and a cured twin. T18 has no
faulty twin: it is the clean example.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import expectations
import pytest

from torchlint.rule import Holds, Raises, Symptom, Warns
from torchlint.verify.execute import describe_ending, run_program, shows


@dataclass(frozen=True)
class Row:
    """A faulty program with its markers, what torch shows, words of the messages, and the cured program."""

    faulty: str
    shows: Symptom
    says: tuple[str, ...]
    cured: str

    def __post_init__(self) -> None:
        for name in ("faulty", "cured"):
            object.__setattr__(self, name, textwrap.dedent(getattr(self, name)).lstrip("\n"))

    @property
    def strict(self) -> bool:
        """Whether it is off by default: too few of those who own such code act on it."""
        return "# strict:" in self.faulty


ROWS = {
    "T17 deprecated": Row(
        """
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))
        for layer in net:
            layer.register_backward_hook(lambda module, grad_in, grad_out: print(grad_out))  # warning: [TLN510]
        net.register_backward_hook(lambda module, grad_in, grad_out: print(grad_in))  # warning: [TLN510]
        net(torch.rand(2, 3)).mean().backward()
        """,
        Warns("Using a non-full backward hook"),
        ("`register_backward_hook`", "deprecated"),
        """
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))
        for layer in net:
            layer.register_full_backward_hook(lambda module, grad_in, grad_out: print(grad_out))
        net(torch.rand(2, 3)).mean().backward()
        """,
    ),
    "T17 in place": Row(
        """
        import torch

        net = torch.nn.Linear(3, 3)
        net.register_full_backward_hook(lambda module, grad_in, grad_out: print(grad_out))
        hidden = net(torch.rand(2, 3))
        torch.relu_(hidden)  # error: [TLN512]
        hidden.mean().backward()
        """,
        Raises("is a view and is being modified inplace"),
        ("output", "`net`", "full backward hook"),
        """
        import torch

        net = torch.nn.Linear(3, 3)
        net.register_full_backward_hook(lambda module, grad_in, grad_out: print(grad_out))
        hidden = torch.relu(net(torch.rand(2, 3)))
        hidden.mean().backward()
        """,
    ),
    "T19": Row(
        """
        import math
        import torch
        from torch.autograd import Function

        class Wave(Function):
            @staticmethod
            def forward(ctx, amplitude, phase):
                out = amplitude * phase.sin()
                ctx.save_for_backward(amplitude, phase, out)
                return out

            @staticmethod
            def backward(ctx, grad):
                amplitude, phase, out = ctx.saved_tensors
                s = out / amplitude  # smell: [TLN505]
                c = (1 - s * s).sqrt()  # smell: [TLN505]
                c = torch.where(phase.abs() < math.pi / 2, c, -c)
                return grad * s, grad * amplitude * c

        phase = torch.tensor([1.0, 3.0, 5.0], dtype=torch.float64, requires_grad=True)
        Wave.apply(torch.ones(3, dtype=torch.float64), phase).sum().backward()
        """,
        Holds("(phase.grad - phase.cos()).abs()[2] > 0.5"),
        ("NaN", "sign"),
        """
        import torch
        from torch.autograd import Function

        class Wave(Function):
            @staticmethod
            def forward(ctx, amplitude, phase):
                ctx.save_for_backward(amplitude, phase)
                return amplitude * phase.sin()

            @staticmethod
            def backward(ctx, grad):
                amplitude, phase = ctx.saved_tensors
                return grad * phase.sin(), grad * amplitude * phase.cos()

        phase = torch.tensor([1.0, 3.0, 5.0], dtype=torch.float64, requires_grad=True)
        Wave.apply(torch.ones(3, dtype=torch.float64), phase).sum().backward()
        """,
    ),
    "S1": Row(
        """
        import torch
        from torch.utils.flop_counter import FlopCounterMode

        class Tail(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.mix = torch.nn.Conv1d(4, 4, kernel_size=1)

            def forward(self, signal):
                return self.mix(signal)[:, :, -5:]  # smell: [TLN701]

        signal = torch.rand(1, 4, 50)
        with FlopCounterMode(display=False) as counter:
            Tail()(signal)
            torch.nn.Conv1d(4, 4, 1)(signal)[:, :, -5:].sum()
        """,
        Holds("counter.get_total_flops() == 2 * 2 * 50 * 4 * 4"),
        ("`conv1d`", "1,400 operations", "140"),
        """
        import torch
        from torch.utils.flop_counter import FlopCounterMode

        class Tail(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.mix = torch.nn.Conv1d(4, 4, kernel_size=1)

            def forward(self, signal):
                return self.mix(signal[:, :, -5:])

        signal = torch.rand(1, 4, 50)
        with FlopCounterMode(display=False) as counter:
            Tail()(signal)
        """,
    ),
    "S2": Row(
        """
        import torch

        torch.manual_seed(0)
        mix = torch.nn.Conv1d(64, 64, kernel_size=1)
        x = torch.rand(1, 64, 50)
        early = mix(x[:, :, -5:]).square().mean()
        late = mix(x).square()
        late = late[:, :, -5:].sum() / 320
        same = torch.equal(early, late)  # smell: [TLN603]
        """,
        Holds("torch.allclose(early, late)"),
        ("round-off",),
        """
        import torch

        mix = torch.nn.Conv1d(64, 64, kernel_size=1)
        x = torch.rand(1, 64, 50)
        early = mix(x[:, :, -5:]).square().mean()
        tail = mix(x[:, :, -5:]).square().sum() / 320
        assert torch.allclose(early, tail)
        early = None
        """,
    ),
    "S3": Row(
        """
        import torch
        from torch.utils.flop_counter import FlopCounterMode

        first, second, third = torch.randn(100, 100), torch.randn(100, 10), torch.randn(10, 1)
        with FlopCounterMode(display=False) as counter:
            product = first @ second @ third  # smell: [TLN702]
        """,
        Holds("counter.get_total_flops() > 200_000"),
        ("200,900", "21,800", "`first @ (second @ third)`"),
        """
        import torch
        from torch.utils.flop_counter import FlopCounterMode

        first, second, third = torch.randn(100, 100), torch.randn(100, 10), torch.randn(10, 1)
        with FlopCounterMode(display=False) as counter:
            product = first @ (second @ third)
            again = torch.linalg.multi_dot([first, second, third])
        """,
    ),
    "S4 diagonal": Row(
        """
        import torch

        weights = torch.rand(40, requires_grad=True)
        rows = torch.diag(weights) @ torch.rand(40, 3)  # strict: [TLN703]
        kept = rows.grad_fn.name()
        """,
        Holds("kept == 'MmBackward0'"),
        ("40×40", "`weights.unsqueeze(-1) * torch.rand(40, 3)`"),
        """
        import torch

        weights = torch.rand(40, requires_grad=True)
        rows = weights.unsqueeze(-1) * torch.rand(40, 3)
        kept = rows.grad_fn.name()
        """,
    ),
    "S4 Jacobian": Row(
        """
        import torch
        from torch.autograd.functional import jacobian

        passes = []

        def model(x):
            y = torch.tanh(x) * x.sum()
            if y.requires_grad:
                y.register_hook(lambda grad: passes.append(1))
            return y

        x, v = torch.rand(6), torch.rand(6)
        pulled = v @ jacobian(model, x)  # smell: [TLN704]
        """,
        Holds("len(passes) == 6"),
        ("Jacobian", "`vjp`"),
        """
        import torch

        passes = []

        def model(x):
            y = torch.tanh(x) * x.sum()
            y.register_hook(lambda grad: passes.append(1))
            return y

        x, v = torch.rand(6, requires_grad=True), torch.rand(6)
        (pulled,) = torch.autograd.grad(model(x), x, grad_outputs=v)
        """,
    ),
}
T18 = textwrap.dedent(
    """
    import torch

    class Wave(torch.autograd.Function):
        @staticmethod
        def forward(ctx, amplitude, phase):
            ctx.save_for_backward(amplitude, phase)
            return amplitude * torch.sin(phase)

        @staticmethod
        def backward(ctx, grad):
            amplitude, phase = ctx.saved_tensors
            return grad * torch.sin(phase), grad * amplitude * torch.cos(phase)

    inputs = [torch.linspace(-9, 9, 7, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(Wave.apply, inputs)
    assert torch.autograd.gradgradcheck(Wave.apply, inputs)
    """
)
EVERY_ROW = [pytest.param(row, id=name) for name, row in ROWS.items()]


@pytest.mark.parametrize("row", EVERY_ROW)
def test_row_is_found(row: Row) -> None:
    expectations.check(row.faulty, strict=row.strict)
    findings = expectations.lint(expectations.stripped(row.faulty), strict=row.strict).findings
    messages = " ".join(finding.message for finding in findings)
    assert all(word in messages for word in row.says), messages


@pytest.mark.parametrize("row", EVERY_ROW)
def test_cured_row_is_clean(row: Row) -> None:
    report = expectations.lint(row.cured)
    assert not report.findings, expectations.described(row.cured, report.findings)


@pytest.mark.parametrize("row", EVERY_ROW)
def test_torch_agrees(row: Row) -> None:
    shown, seen = shows(expectations.stripped(row.faulty), row.shows)
    assert shown, seen
    outcome = run_program(row.cured)
    assert outcome.ending == "ended", describe_ending(outcome)
    shown, seen = shows(row.cured, row.shows)
    assert not shown, seen


def test_a_custom_function_that_saves_its_inputs_is_clean() -> None:
    report = expectations.lint(T18, strict=True)
    assert not report.findings, expectations.described(T18, report.findings)
    outcome = run_program(T18)
    assert outcome.ending == "ended", describe_ending(outcome)
