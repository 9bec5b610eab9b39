"""Several findings in one file: an error that ends the program does not hide what comes after it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.rule import Observed, Raises, Verdict

GRAPH = (Observed("graph-written"),)
Verdicts = Callable[..., list[Verdict]]


def test_what_shows_only_after_an_error_was_passed_over_is_not_confirmed(verdicts: Verdicts) -> None:
    first, second, third = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        (x * x).backward()  # error: [TLN103]
        x.grad.zero_()  # error: [TLN401]
        y = x * x
        y.add_(1)  # strict: [TLN204]
        """,
        claims={"TLN401": (Raises("'NoneType' object has no attribute"),)},
    )
    assert first.status == "confirmed"
    assert "only for scalar outputs" in first.evidence
    assert second.status == "inconclusive"
    assert second.evidence.startswith(
        "it shows, but only once the error before it is passed over: RuntimeError in line 3"
    )
    assert third.status == "inconclusive"
    assert third.evidence.startswith(
        "it shows, but only once the error before it is passed over: RuntimeError in line 3"
    )


def test_each_error_gets_its_turn_once_those_before_it_are_mended(verdicts: Verdicts) -> None:
    found = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        (x * x).backward()  # error: [TLN103]
        y = x * x
        y.add_(1)  # strict: [TLN204]
        x.detach().sum().backward()  # error: [TLN104]
        """,
        fixes={"TLN103": ("(x * x).backward()", "(x * x).sum().backward()", False)},
    )
    assert [v.status for v in found] == ["confirmed"] * 3, [v.evidence for v in found]
    assert "only for scalar outputs" in found[0].evidence
    assert "version went 0 → 1 (with the fix in line 3)" in found[1].evidence
    assert "does not require grad" in found[2].evidence


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


def test_an_error_that_the_program_raises_itself_is_not_passed_over(verdicts: Verdicts) -> None:
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
    assert "raises ValueError in line 5: no data" in second.evidence


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
    assert [v.status for v in found] == ["confirmed", "inconclusive"], [v.evidence for v in found]
    assert "only once the error before it is passed over: RuntimeError in line 4" in found[1].evidence


def test_two_findings_on_one_line(verdicts: Verdicts) -> None:
    found = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        z = y.detach()  # note: `z` shares memory with `y`
        y.mul_(2)  # error: [TLN201]  # warning: [TLN206]
        print(z)
        y.sum().backward()  # note: reads it
        """,
        claims={"TLN206": (Observed("alias-written", "y", "z"),)},
        fixes={"TLN201": ("y.mul_(2)", "y = y.mul(2)", False)},
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
        claims={"TLN101": (Observed("gradient-accumulated"),)},
    )
    assert verdict.status == "confirmed"
    assert "`x.grad` was [1, 1, 1], is [2, 2, 2]" in verdict.evidence


def test_an_alias_of_what_a_step_writes(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        w = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.5)
        before = w.detach().numpy()
        (w * w).sum().backward()
        optimizer.step()  # warning: [TLN206]
        print(w - before)
        """,
        claims={"TLN206": (Observed("alias-written", "w", "before"),)},
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
        claims={"TLN206": (Observed("alias-written", "c", "kept"),)},
    )
    assert verdict.status == "refuted", verdict.evidence


STOPPED = """
    import torch
    x = torch.ones(3, requires_grad=True)
    loss = torch.ones(3) @ torch.ones(4)
    torch.nn.utils.clip_grad_norm([x], 1.0)  # warning: [TLN902]
    y = x * x
    y.add_(1)  # strict: [TLN204]
    z = x.exp()
    z.{write}(2)  # strict: [TLN204]
    """
DEPRECATED = {"TLN902": (Observed("deprecated", "torch.nn.utils.clip_grad_norm", "0.4"),)}


def test_an_error_that_no_finding_explains_is_passed_over_for_those_behind_it(verdicts: Verdicts) -> None:
    deprecated, *others = verdicts(STOPPED.format(write="mul_"), claims={**DEPRECATED, "TLN204": GRAPH})
    assert deprecated.status == "confirmed", deprecated.evidence  # torch says that, whatever came before
    for each in others:
        assert each.status == "inconclusive"
        assert each.evidence.startswith(
            "it shows, but only once the error before it is passed over: RuntimeError in line 3"
        )


def test_an_error_is_told_in_whole_once(verdicts: Verdicts) -> None:
    text = STOPPED.replace("# warning: [TLN902]", "").replace("y.add_(1)", "y.add(1)").format(write="mul")
    first, second = verdicts(text, claims={"TLN204": GRAPH})
    assert "the program raises RuntimeError in line 3: inconsistent tensor size" in first.evidence
    assert "line 8 was not reached: the program raises RuntimeError in line 3 (see TLN204 in line 6)" in second.evidence


GONE = """
    import torch
    from torch import nn
    class Net(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.a = {built}
            self.b = {then}
        def forward(self, x):
            return x {used}
    """
NAMES = {
    "TLN901": (Observed("refused", "torch.symeig", "2.0"),),
    "TLN902": (Observed("refused", "torch.rfft", "1.8"),),
}


@pytest.mark.parametrize(
    ("built", "then", "used"),
    [
        ("nn.Linear(dim, dim)", "nn.Linear(dim, dim)", "@ torch.symeig(x.t() @ x)[0]  # error: [TLN901]"),
        ("nn.Parameter(torch.symeig(torch.eye(dim))[0])  # error: [TLN901]", "nn.Linear(dim, dim)", "* 2"),
    ],
)
def test_what_is_gone_is_shown_where_a_module_fails_by_it(verdicts: Verdicts, built: str, then: str, used: str) -> None:
    (verdict,) = verdicts(GONE.format(built=built, then=then, used=used), claims=NAMES)
    assert verdict.status == "confirmed", verdict.evidence
    assert "now removed" in verdict.evidence
    assert "`Net(dim=8)`" in verdict.evidence


def test_another_failure_of_building_shows_nothing_gone(verdicts: Verdicts) -> None:
    text = GONE.format(built="nn.Linear('a', dim)", then="torch.symeig(torch.eye(3))  # error: [TLN901]", used="* 2")
    (verdict,) = verdicts(text, claims=NAMES)
    assert verdict.status == "inconclusive", verdict.evidence


def test_a_module_is_driven_on_with_the_fix_of_what_it_fails_by(verdicts: Verdicts) -> None:
    built = "torch.symeig(torch.eye(dim))[0]  # error: [TLN901]"
    text = GONE.format(built=built, then="torch.rfft  # error: [TLN902]", used="* 2")
    fixes = {"TLN901": ("torch.symeig(torch.eye(dim))[0]", "torch.linalg.eigvalsh(torch.eye(dim))", True)}
    first, second = verdicts(text, claims=NAMES, fixes=fixes)
    assert (first.status, second.status) == ("confirmed", "confirmed"), (first.evidence, second.evidence)
    assert second.evidence.endswith("(with the fix in line 6)")
