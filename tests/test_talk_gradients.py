"""
The rows of the talk on gradients over several passes, and on debugging them: T2, T6, T9, T15, T16 (static side).

As in `test_talk`: programs of their own with every finding and step marked, what torch shows, and a cured twin.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import expectations
import pytest

from torchlint.rule import Holds, Symptom, Warns
from torchlint.verify.execute import describe_ending, run_program, shows


@dataclass(frozen=True)
class Row:
    """A faulty program with its markers, what torch shows, words of the messages, and the cured programs."""

    faulty: str
    shows: Symptom
    says: tuple[str, ...]
    cured: tuple[str, ...]
    strict: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "faulty", textwrap.dedent(self.faulty).lstrip("\n"))
        object.__setattr__(self, "cured", tuple(textwrap.dedent(text).lstrip("\n") for text in self.cured))


ROWS = {
    "T2": Row(
        """
        import torch

        def energy(a, b):
            return a * (a + b)

        u = torch.tensor(1.5, requires_grad=True)
        v = torch.tensor(0.5, requires_grad=True)
        energy(u, v).backward()  # note: this backward adds to `u.grad`
        once = u.grad.item()  # note: `u.grad` is read here
        energy(u, v).backward()  # note: this backward adds to `u.grad`
        twice = u.grad.item()  # warning: [TLN112]
        """,
        Holds("twice == 2 * once"),
        ("`u.grad`", "sum of the gradients"),
        (
            """
            import torch

            def energy(a, b):
                return a * (a + b)

            u = torch.tensor(1.5, requires_grad=True)
            v = torch.tensor(0.5, requires_grad=True)
            once = torch.autograd.grad(energy(u, v), u)[0].item()
            twice = torch.autograd.grad(energy(u, v), u)[0].item()
            """,
        ),
    ),
    "T6": Row(
        """
        import torch

        z = torch.rand(6, requires_grad=True)
        shared = 2.0 * z**2
        mean, total = shared.mean(), shared.sum()
        expected = 4.0 * z.detach()
        mean.backward(retain_graph=True)  # smell: [TLN102]
        one = torch.allclose(z.grad, expected / 6)
        total.backward()
        two = torch.allclose(z.grad, expected)  # warning: [TLN112]
        """,
        Holds("one and not two"),
        ("`z.grad`", "after each of two backwards"),
        (
            """
            import torch

            z = torch.rand(6, requires_grad=True)
            mean, total = (2.0 * z**2).mean(), (2.0 * z**2).sum()
            expected = 4.0 * z.detach()
            mean.backward()
            first = z.grad.clone()
            one = torch.allclose(first, expected / 6)
            total.backward()
            two = torch.allclose(z.grad - first, expected)
            assert two
            """,
            """
            import torch

            z = torch.rand(6, requires_grad=True)
            optimizer = torch.optim.SGD([z], lr=0.1)
            expected = 4.0 * z.detach()
            (2.0 * z**2).mean().backward()
            one = torch.allclose(z.grad, expected / 6)
            optimizer.zero_grad()
            (2.0 * z**2).sum().backward()
            two = torch.allclose(z.grad, expected)
            assert two
            """,
            """
            import torch

            z = torch.rand(6, requires_grad=True)
            shared = 2.0 * z**2
            expected = 4.0 * z.detach()
            (shared.mean() + shared.sum()).backward()
            one = two = torch.allclose(z.grad, expected * 7 / 6)
            assert two
            """,
        ),
    ),
    "T9": Row(
        """
        import torch

        z = torch.rand(4, requires_grad=True)
        z.pow(2).sum().backward()
        kept = z.grad  # warning: [TLN210]
        before = kept.sum().item()
        z.pow(2).sum().backward()  # note: backward accumulates into it here
        after = kept.sum().item()  # note: `kept` is read here
        """,
        Holds("abs(after - 2 * before) < 1e-4"),
        ("`kept`", "`z.grad` itself", "accumulates"),
        (
            """
            import torch

            z = torch.rand(4, requires_grad=True)
            z.pow(2).sum().backward()
            kept = z.grad.clone()
            before = kept.sum().item()
            z.pow(2).sum().backward()
            after = kept.sum().item()
            """,
        ),
    ),
    "T15": Row(
        """
        import torch

        z = torch.rand(3, requires_grad=True)
        out = z[0] * z[1:].sum()  # strict: [TLN220, TLN220]
        out.backward()
        """,
        Holds("'SelectBackward0' in str(out.grad_fn.next_functions)"),
        ("indexing `z`", "a view of it"),
        (
            """
            import torch

            z = torch.rand(3, requires_grad=True)
            head, tail = z.split([1, 2])
            out = head.sum() * tail.sum()
            out.backward()
            """,
        ),
        strict=True,
    ),
    "T16": Row(
        """
        import torch

        u = torch.tensor(2.0, requires_grad=True)
        v = torch.tensor(3.0, requires_grad=True)
        inner = u + v  # note: `inner` created here
        out = inner * u
        out.backward()
        print(inner.grad)  # warning: [TLN109]
        """,
        Warns("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"),
        ("`inner`", "no leaf", "retains"),
        (
            """
            import torch

            u = torch.tensor(2.0, requires_grad=True)
            v = torch.tensor(3.0, requires_grad=True)
            inner = u + v
            inner.retain_grad()
            out = inner * u
            out.backward()
            print(inner.grad)
            """,
            """
            import torch

            u = torch.tensor(2.0, requires_grad=True)
            v = torch.tensor(3.0, requires_grad=True)
            inner = u + v
            inner.register_hook(print)
            out = inner * u
            out.backward()
            """,
        ),
    ),
}
EVERY_ROW = [pytest.param(row, id=name) for name, row in ROWS.items()]


@pytest.mark.parametrize("row", EVERY_ROW)
def test_row_is_found_with_its_trace(row: Row) -> None:
    noted = expectations.check(row.faulty, strict=row.strict)
    assert noted is None, noted
    findings = expectations.lint(expectations.stripped(row.faulty), strict=row.strict).findings
    messages = " ".join(finding.message for finding in findings)
    assert all(word in messages for word in row.says), messages


@pytest.mark.parametrize("row", EVERY_ROW)
def test_cured_rows_are_clean(row: Row) -> None:
    for cured in row.cured:
        report = expectations.lint(cured, strict=row.strict)
        assert not report.findings, expectations.described(cured, report.findings)


@pytest.mark.parametrize("row", EVERY_ROW)
def test_torch_agrees(row: Row) -> None:
    shown, seen = shows(expectations.stripped(row.faulty), row.shows)
    assert shown, seen
    for cured in row.cured:
        outcome = run_program(cured)
        assert outcome.ending == "ended", describe_ending(outcome)
        shown, seen = shows(cured, row.shows)
        assert not shown, seen
