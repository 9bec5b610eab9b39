"""Claims that are false: torch does not show them, and the cross-check says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.rule import Observed, Verdict

Verdicts = Callable[..., list[Verdict]]

FALSE_CLAIMS = {
    "a second backward on a graph that saves nothing": """
        x = torch.ones(3, requires_grad=True)
        y = (x + 1).sum()
        y.backward()  # note: frees nothing
        y.backward()  # error: [TLN101]
        """,
    "a graph rebuilt before the second backward": """
        x = torch.ones(3, requires_grad=True)
        for _ in range(2):
            (x * x).sum().backward()  # error: [TLN101]
        """,
    "a gradient accumulated twice, claimed of different leaves": """
        x, z = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        x.sum().backward()  # note: first
        z.sum().backward()  # warning: [TLN101]
        """,
    "a root with one element": """
        x = torch.ones(1, requires_grad=True)
        (x * x).backward()  # error: [TLN103]
        """,
    "a root that requires grad": """
        x = torch.ones(3, requires_grad=True)
        x.detach().sum().requires_grad_().backward()  # error: [TLN104]
        """,
    "an overwritten tensor that nothing saved": """
        x = torch.ones(3, requires_grad=True)
        y = x + 1  # note: `+` saves nothing
        y.mul_(2)  # error: [TLN201]
        y.sum().backward()  # note: reads nothing
        """,
    "a leaf modified under no_grad": """
        x = torch.ones(3, requires_grad=True)
        with torch.no_grad():
            x.mul_(2)  # error: [TLN203]
        """,
    "an in-place write on data": """
        x = torch.ones(3)
        x.mul_(2)  # smell: [TLN204]
        """,
    "a graph tensor written under no_grad": """
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        with torch.no_grad():
            y.mul_(2)  # smell: [TLN204]
        """,
    "an indexed assignment outside of any graph": """
        x = torch.ones(3)
        x[0] = 2.0  # smell: [TLN205]
        """,
    "an indexed assignment to a list": """
        x = [torch.ones(3, requires_grad=True)]
        x[0] = x[0] * 2  # smell: [TLN205]
        """,
    "a retain_graph that is needed, claimed needless": """
        x = torch.ones(3, requires_grad=True)
        y = (x * x).sum()
        y.backward(retain_graph=True)  # smell: [TLN102]
        y.backward()
        """,
    "a Parameter that is one": """
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.rand(3)).requires_grad_()  # error: [TLN301]
        Layer()
        """,
    "a gradient that is scaled": """
        x = torch.ones(3, requires_grad=True)
        (x * x).sum().backward()
        x.grad *= 0.5  # smell: [TLN401]
        """,
    "a module's method whose result need not be used": """
        net = torch.nn.Linear(2, 2)
        net.double()  # warning: [TLN212]
        """,
    "a method that is in place in spite of its name": """
        x = torch.ones(3)
        x.requires_grad_()  # warning: [TLN212]
        """,
    "a container's method": """
        x = [torch.ones(3)]
        x.append(torch.ones(3))  # warning: [TLN212]
        """,
}


@pytest.mark.parametrize("claim", FALSE_CLAIMS)
def test_a_false_claim_is_refuted(verdicts: Verdicts, claim: str) -> None:
    fixes = {"TLN102": ("retain_graph=True", "", True)}
    claims = {"TLN102": (Observed("retained-graph", other="needless"),)}
    (verdict,) = verdicts("import torch\n" + _dedent(FALSE_CLAIMS[claim]), fixes=fixes, claims=claims)
    assert verdict.status == "refuted", verdict.evidence


def test_a_saved_tensor_that_no_backward_reads_is_not_refuted(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        y = x.exp()  # note: saves its result
        y.mul_(2)  # error: [TLN201]
        x.sum().backward()  # note: goes elsewhere
        """
    )
    assert verdict.status == "inconclusive"
    assert "no backward was seen to go through what saved the tensor" in verdict.evidence


def test_another_error_at_the_place_does_not_refute(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        x.add_(torch.ones(4).resize_(2, 2).item())  # error: [TLN203]
        """
    )
    assert verdict.status == "inconclusive"
    assert "cannot be converted to Scalar" in verdict.evidence


def test_a_later_error_does_not_keep_from_refuting(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3)
        x.add_(1)  # error: [TLN203]
        raise ValueError("later")
        """
    )
    assert verdict.status == "refuted"
    assert "raises ValueError in line 4: later" in verdict.evidence


def test_a_claimed_reader_of_the_retained_graph_that_reads_another(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        a, b = (x * x).sum(), (x * x).mean()
        a.backward(retain_graph=True)  # smell: [TLN102]
        b.backward()  # note: has a graph of its own
        """
    )
    assert verdict.status == "refuted"
    assert "runs without it, same gradients" in verdict.evidence


def test_a_write_that_is_not_the_culprit_is_not_confirmed(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        y.mul_(3)  # error: [TLN201]
        z = y.exp()
        z.mul_(2)
        z.sum().backward()  # note: reads what `exp` saved, which the other write overwrote
        """
    )
    assert verdict.status == "inconclusive"
    assert "what backward found overwritten was not written in line 4" in verdict.evidence


def test_an_error_at_another_line_confirms_nothing(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        y = (x * x).sum()
        y.backward()  # error: [TLN101]
        y.backward()
        """
    )
    assert verdict.status == "refuted"


def _dedent(text: str) -> str:
    import textwrap

    return textwrap.dedent(text).lstrip("\n")
