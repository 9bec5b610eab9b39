"""What neither confirms nor refutes: each cause of a wrong verdict that was ever seen, as a program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.rule import Claim, Condition, Level, Observed, Raises, Verdict

sys.path.insert(0, str(Path(__file__).parents[2]))  # `tests.verdicts`, a command

from tests.verdicts import forcing

Verdicts = Callable[..., list[Verdict]]

HEAD = "import torch\nfrom torch import nn\n"
SAVED = HEAD + "w = torch.rand(3, requires_grad=True)\nh = torch.sigmoid(w)  # note: saves its result\n"

NOT_CONFIRMED = {
    "the program raises torch's words itself": (
        SAVED + "h += 1  # error: [TLN201]\n"
        "raise RuntimeError('modified by an inplace operation: is at version 1; expected version 0 instead')\n"
    ),
    "another statement wrote what backward misses": (
        SAVED + "y = torch.relu(h)  # error: [TLN201]\nh.mul_(2)\n(y + h).sum().backward()  # note: reads it\n"
    ),
    "another call of the same helper raises": (
        HEAD + "def go(t):\n    t.backward()\nw = torch.rand(3, requires_grad=True)\n"
        "go((w ** 2).sum())  # error: [TLN103]\ngo(w ** 2)\n"
    ),
    "the second backward is in another line": (
        HEAD + "w = torch.rand(3, requires_grad=True)\na = (w ** 2).sum()\ndef again():\n    a.backward()\n"
        "a.backward()  # error: [TLN101]\nagain()\n"
    ),
    "another exception at the statement": (
        HEAD + "opt = torch.optim.SGD([nn.Parameter(torch.rand(2))], lr=-1.0)  # error: [TLN203]\n"
    ),
    "gradients of two batches for one step": (
        HEAD + "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for _ in range(3):\n    opt.zero_grad()\n    for _ in range(2):\n"
        "        net(torch.rand(4, 3)).sum().backward()\n    opt.step()  # warning: [TLN402]\n"
    ),
    "losses that are differentiated after the loop": (
        HEAD + "w = torch.rand(3, requires_grad=True)\nlosses = []\nfor k in range(3):\n"
        "    (w * 2).sum().backward()\n    losses.append((w * k).sum())  # warning: [TLN106]\nsum(losses).backward()\n"
    ),
    "the result of an operation on a leaf with a name": (
        HEAD + "w = torch.rand(3, requires_grad=True)\nh = w * 2  # warning: [TLN306]\nh.sum().backward()\n"
    ),
    "a state that is computed in every call": (
        HEAD + "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.c, self.h = nn.GRUCell(3, 3), torch.zeros(1, 3)\n    def forward(self, x):\n"
        "        self.h = self.c(x, self.h)  # error: [TLN301]\n        return self.h\nM()(torch.rand(1, 3))\n"
    ),
    "a function that initialises in place": HEAD + "p = nn.Linear(3, 3)\nnn.init.zeros_(p.bias)  # error: [TLN212]\n",
    "a function that clips gradients": (
        HEAD + "p = nn.Linear(3, 3)\np(torch.rand(1, 3)).sum().backward()\n"
        "nn.utils.clip_grad_norm_(p.parameters(), 1.0)  # error: [TLN212]\n"
    ),
    "methods in place one after the other": HEAD + "t = torch.rand(3)\nt.mul_(100).round_()  # error: [TLN212]\n",
    "a copy of the argument": (
        HEAD + "def f(x):\n    x = x.clone()\n    x += 1  # warning: [TLN213]\n    return x\nf(torch.rand(3))\n"
    ),
}
CLAIMS: dict[str, tuple[Claim, ...]] = {
    "TLN106": (Observed("graph-kept", "losses"),),
    "TLN301": (Observed("leaf-lost", "self.h", "parameter"),),
    "TLN306": (Observed("leaf-lost", "h"),),
}


@pytest.mark.parametrize("cause", NOT_CONFIRMED)
def test_not_confirmed(verdicts: Verdicts, cause: str) -> None:
    (verdict,) = verdicts(NOT_CONFIRMED[cause], claims=CLAIMS)
    assert verdict.status != "confirmed", verdict.evidence


MODULE = HEAD + "class M(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
LAYER = MODULE + "        self.l = nn.Linear(d, d)\n    def forward(self, x):\n"
WRITE = "        h += 1  # error: [TLN201]\n"
NOT_REFUTED = {
    "the program handles the error": (
        SAVED
        + "h += 1  # error: [TLN201]\ntry:\n    h.sum().backward()  # note: reads it\nexcept RuntimeError:\n    pass\n"
    ),
    "the program suppresses the error": (
        "import contextlib\n" + SAVED + "h += 1  # error: [TLN201]\n"
        "with contextlib.suppress(RuntimeError):\n    h.sum().backward()  # note: reads it\n"
    ),
    "what it returns cannot be differentiated by the driver": (
        LAYER
        + "        h = torch.sigmoid(self.l(x))  # note: saves its result\n"
        + WRITE
        + "        return type('Output', (), {'h': h})()  # note: differentiated by the caller\n"
    ),
    "what it returns is cut from the graph": (
        LAYER
        + "        h = torch.sigmoid(self.l(x))  # note: saves its result\n"
        + WRITE
        + "        return h.detach()  # note: differentiated by the caller\n"
    ),
    "the other arm of the expression that saves": (
        MODULE
        + "        self.l, self.act = nn.Linear(d, d), 'relu'\n    def forward(self, x):\n        h = self.l(x)\n"
        "        h = torch.sigmoid(h) if self.act == 'sigmoid' else h * 1  # note: saves its result\n"
        + WRITE
        + "        return h  # note: differentiated by the caller\n"
    ),
    "the write is an option that defaults to no": (
        MODULE + "        self.act = nn.Dropout(0.0)\n        self.l = nn.Linear(d, d)\n    def forward(self, x):\n"
        "        h = torch.sigmoid(self.l(x))  # note: saves its result\n"
        "        h = self.act(h)  # error: [TLN201]\n        return h  # note: differentiated by the caller\n"
    ),
    "an arm that is not taken while training": (
        LAYER
        + "        h = torch.sigmoid(self.l(x))  # note: saves its result\n        if not self.training:\n    "
        + WRITE
        + "        return h  # note: differentiated by the caller\n"
    ),
}


@pytest.mark.parametrize("cause", NOT_REFUTED)
def test_not_refuted(verdicts: Verdicts, cause: str) -> None:
    (verdict,) = verdicts(NOT_REFUTED[cause])
    assert verdict.status != "refuted", verdict.evidence


def test_an_error_that_the_program_handles_is_still_torchs(verdicts: Verdicts) -> None:
    for cause in ("the program handles the error", "the program suppresses the error"):
        (verdict,) = verdicts(NOT_REFUTED[cause])
        assert verdict.status == "confirmed", verdict.evidence
        assert "which the program handles" in verdict.evidence


def test_a_condition_that_did_not_hold(verdicts: Verdicts) -> None:
    program = (
        HEAD
        + "def f(x):\n    y = x + 1  # note: said to save\n    y.mul_(2)  # warning: [TLN201]\n    return y.sum()\n"
        "f(torch.rand(3, requires_grad=True) * 1).backward()  # note: reads it\n"
    )
    for text, status in (("y.requires_grad", "refuted"), ("not y.requires_grad", "inconclusive")):
        (verdict,) = verdicts(program, conditions=(Condition("branch", text),))
        assert verdict.status == status, verdict.evidence
    (verdict,) = verdicts(program, conditions=(Condition("device", "y"),))
    assert verdict.status == "inconclusive"
    (verdict,) = verdicts(program, conditions=(Condition("requires_grad", "y"),))
    assert verdict.status == "refuted", verdict.evidence


def test_what_a_later_backward_needs_is_not_needless_because_the_program_ended_before(verdicts: Verdicts) -> None:
    program = (
        HEAD + "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\n"
        "y.backward(retain_graph=True)  # smell: [TLN102]\nx.mul_(2)  # error: [TLN203]\ny.backward()\n"
    )
    claims = {"TLN102": (Observed("retained-graph", other="needless"),)}
    first, second = verdicts(program, claims=claims)
    assert (first.status, second.status) == ("inconclusive", "confirmed"), first.evidence


def test_a_write_that_torch_does_not_see_names_no_culprit(verdicts: Verdicts) -> None:
    program = (
        SAVED + "a = h.detach().numpy()\na += 1  # error: [TLN201]\nh.mul_(2)\nh.sum().backward()  # note: reads it\n"
    )
    (verdict,) = verdicts(program)
    assert verdict.status == "inconclusive", verdict.evidence


def test_claims_of_the_raising_kind_need_the_very_statement(verdicts: Verdicts) -> None:
    program = HEAD + "def f():\n    return torch.ones(3) @ torch.ones(2)\nf()  # error: [ABC123]\n"
    (verdict,) = verdicts(program, claims={"ABC123": (Raises("inconsistent tensor size"),)})
    assert verdict.status == "inconclusive", verdict.evidence


def test_parts_that_the_statement_does_not_assign_are_not_overwritten_by_it(verdicts: Verdicts) -> None:
    program = "import torch\nh = torch.arange(12.0).view(2, 6)\nh[:, :3] = h[:, 3:]  # warning: [TLN215]\n"
    claims = {"TLN215": (Observed("source-overwritten", "h[:, 1:]", "h[:, :-1]"),)}
    (verdict,) = verdicts(program, claims=claims)
    assert verdict.status == "inconclusive", verdict.evidence


@pytest.mark.parametrize(
    ("returned", "status"), [("grad * 2", "refuted"), ("grad.sign()", "refuted"), ("2 * torch.ones(3)", "confirmed")]
)
def test_a_backward_ignores_what_it_is_given_only_if_nothing_changes(
    verdicts: Verdicts, returned: str, status: str
) -> None:
    program = (
        "import torch\nclass Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        f"        return x * 2\n    @staticmethod\n    def backward(ctx, grad):\n        return {returned}"
        "  # warning: [TLN507]\n(3 * Twice.apply(torch.ones(3, requires_grad=True))).sum().backward()\n"
    )
    (verdict,) = verdicts(program, claims={"TLN507": (Observed("gradient-ignored"),)})
    assert verdict.status == status, verdict.evidence


@pytest.mark.parametrize("text", [text for _, text in list(forcing.correct())[::14]])
def test_no_false_claim_is_confirmed(text: str) -> None:
    for finding in forcing.verdicts(text):
        assert finding.verdict is not None
        if finding.level in (Level.ERROR, Level.WARNING):
            assert finding.verdict.status != "confirmed", finding
