"""Several findings in one file: an error that ends the program does not hide what comes after it."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.rule import Verdict

Verdicts = Callable[..., list[Verdict]]


def test_each_error_gets_its_turn(verdicts: Verdicts) -> None:
    found = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        (x * x).backward()  # error: [TLN103]
        x.mul_(2)  # error: [TLN203]
        x.grad.zero_()  # error: [TLN401]
        y = x * x
        y.add_(1)  # strict: [TLN204]
        y.sum().backward()
        x.detach().sum().backward()  # error: [TLN104]
        """
    )
    assert [v.status for v in found] == ["confirmed"] * 5, [v.evidence for v in found]
    assert "only for scalar outputs" in found[0].evidence
    assert "a leaf Variable that requires grad" in found[1].evidence
    assert "'NoneType' object has no attribute 'zero_'" in found[2].evidence
    assert "version went 0 → 1" in found[3].evidence
    assert "does not require grad" in found[4].evidence


def test_after_a_passed_over_error_nothing_is_refuted(verdicts: Verdicts) -> None:
    first, second = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        (x * x).backward()  # error: [TLN103]
        x.sum().backward()  # error: [TLN104]
        """
    )
    assert first.status == "confirmed"
    assert second.status == "inconclusive"
    assert "went on after an error" in second.evidence


def test_an_error_that_no_finding_claims_is_not_passed_over(verdicts: Verdicts) -> None:
    first, second = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        y = (x * x).sum()
        y.backward(retain_graph=True)  # smell: [TLN102]
        raise ValueError("no data")
        x.mul_(2)  # error: [TLN203]
        """,
        fixes={"TLN102": ("retain_graph=True", "", True)},
    )
    assert first.status == "confirmed"
    assert second.status == "inconclusive"
    assert "ValueError: no data (line 5)" in second.evidence


def test_an_error_inside_a_function_is_passed_over_there(verdicts: Verdicts) -> None:
    found = verdicts(
        """
        import torch

        def step(loss):
            loss.backward()  # error: [TLN103]
            return loss

        def main():
            x = torch.ones(3, requires_grad=True)
            kept = step(x * x)
            kept.mul_(2)  # smell: [TLN204]

        if __name__ == "__main__":
            main()
        """
    )
    assert [v.status for v in found] == ["confirmed", "confirmed"], [v.evidence for v in found]


def test_two_findings_on_one_line(verdicts: Verdicts) -> None:
    found = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        z = y.detach()  # note: `z` shares memory with `y`
        y.mul_(2)  # error: [TLN201]  # warning: [TLN206]
        y.sum().backward()  # note: reads it
        """,
        message="`y` is written",
    )
    assert [v.status for v in found] == ["confirmed", "confirmed"], [v.evidence for v in found]
    assert "modified by an inplace operation" in found[0].evidence
    assert "`z` shares memory with `y`: it was [2.7183, 2.7183, 2.7183], is" in found[1].evidence


def test_the_second_iteration_of_a_loop(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        w = torch.ones(2, requires_grad=True)
        h = torch.ones(2)
        for _ in range(3):
            h = torch.tanh(h * w)
            h.sum().backward()  # error: [TLN101]
        """
    )
    assert verdict.status == "confirmed"
    assert verdict.seconds > 0


def test_a_gradient_that_is_accumulated_twice(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        y = (x + 1).sum()
        y.backward()  # note: first
        y.backward()  # warning: [TLN101]
        """,
        message="backward runs twice from `y`: its gradient is accumulated twice",
    )
    assert verdict.status == "confirmed"
    assert "`x.grad` was [1, 1, 1], is [2, 2, 2]" in verdict.evidence


def test_aliases_that_the_text_does_not_name(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        w = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.5)
        before = w.detach().numpy()
        (w * w).sum().backward()
        optimizer.step()  # warning: [TLN206]
        """
    )
    assert verdict.status == "confirmed", verdict.evidence
    assert "it was [1, 1], is [0, 0]" in verdict.evidence


def test_no_findings_no_runs(verdicts: Verdicts) -> None:
    from torchlint.syntax.tree import Source
    from torchlint.verify.verify import verify_findings

    assert verify_findings(Source.parse("empty.py", "raise SystemError\n"), []) == []


def test_a_program_that_fails_only_while_it_is_observed(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        from torch.overrides import _get_current_function_mode_stack
        assert not _get_current_function_mode_stack()
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        y.mul_(2)  # error: [TLN201]
        y.sum().backward()  # note: reads it
        """
    )
    assert verdict.status == "confirmed", verdict.evidence
    assert "RuntimeError in line 7" in verdict.evidence


def test_a_long_program_is_stopped_when_all_places_were_seen(verdicts: Verdicts) -> None:
    first, second = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        for _ in range(10**9):
            y = x.exp()
            y[0] = 0.0  # smell: [TLN205]
            y.clamp(0)  # warning: [TLN212]
        """,
        timeout=60.0,
    )
    assert (first.status, second.status) == ("confirmed", "confirmed")
    assert max(first.seconds, second.seconds) < 30.0


def test_an_alias_other_than_the_claimed_one_confirms_nothing(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        c = torch.ones(3, requires_grad=True) * 2
        view, kept = c.detach(), c.detach().clone()
        c.mul_(2)  # warning: [TLN206]
        """,
        message="`c` is modified in place, and `kept` with it",
    )
    assert verdict.status == "refuted", verdict.evidence
