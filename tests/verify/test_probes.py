"""What probes confirm, and of programs that look like those, what they do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.rule import Claim, Holds, Observed, Raises, Verdict

Verdicts = Callable[..., list[Verdict]]

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
GROWS = "rows = torch.zeros(1, 2)\nfor _ in range(5):\n    rows = torch.cat([rows{}, torch.ones(1, 2)])  # smell: [X]\n"
STEPS = "net = nn.Linear(3, 2)\nfor p in net.parameters():\n    {}  # warning: [X]\n"
WEIGHTS = "x = torch.rand(4, 3)\nw = x.softmax({})  # warning: [X]\n"
LOSS = "a, b = nn.Linear(4, 2), nn.Linear(2, 1)\n{}\nloss.backward()  # warning: [X]\n"
RELU = """
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, given):
        (x,) = ctx.saved_tensors
        mine = {}
        mine[x < 0] = 0  # warning: [X]
        return mine
Relu.apply(torch.tensor([-1.0, 1.0], requires_grad=True)).backward(torch.ones(2))
"""
BEST = """
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    net(torch.ones(4, 2)).square().mean().backward()
    opt.step()
    best = {}  # warning: [X]
"""
LATE = """
w = torch.tensor(3.0, requires_grad=True)
{}
with torch.no_grad():
    w.clamp_(-1, 1)  # warning: [X]
{}
loss.backward()
"""
NAMED = "rank = torch.matrix_rank  # error: [X]\n{}\n"
LOG = "logit = torch.tensor([0.0, {}])\ngate = torch.sigmoid(logit)\nkept = torch.log(gate).clamp(-9)  # smell: [X]\n"
EVAL = """
net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
for i in range(3):
    {}
    net(torch.rand(4, 2)).mean().backward()  # note: trains
    if i == 0:
        net.eval()  # warning: [X]
"""
TWICE = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, given):
        (x,) = ctx.saved_tensors
        return 2 * given * x
y = Square.apply(torch.ones(3, requires_grad=True)).sum()
y.backward(retain_graph={})
y.backward()  # error: [X]
"""


@pytest.mark.parametrize(
    ("program", "claim", "confirmed", "other"),
    [
        pytest.param(GROWS, Observed("copied-again", "rows"), "", "[:1]", id="copied again"),
        pytest.param(STEPS, Observed("name-bound-anew", "p"), "p = p * 2", "p.data.mul_(2)", id="a name bound anew"),
        pytest.param(WEIGHTS, Observed("sums-over-batch"), "0", "-1", id="weights over the batch"),
        pytest.param(
            LOSS,
            Observed("gradient-zero", "weight"),
            "loss = b(torch.sign(a(torch.rand(3, 4)))).sum()",
            "loss = b(torch.tanh(a(torch.rand(3, 4)))).sum()",
            id="a gradient of zeros",
        ),
        pytest.param(
            RELU, Observed("incoming-written", "mine"), "given", "given.clone()", id="what a backward is given"
        ),
        pytest.param(
            BEST,
            Observed("module-changed", "best", "best"),
            "net",
            "__import__('copy').deepcopy(net)",
            id="a Module that is trained on",
        ),
        pytest.param(
            LATE,
            Observed("gradient-of-old-value", "w"),
            "loss = (w + 3) * 6\n",
            "",
            id="a leaf written behind the forward",
        ),
        pytest.param(
            NAMED, Observed("refused", "torch.matrix_rank", "1.13"), "rank(torch.eye(2))", "pass", id="by another name"
        ),
        pytest.param(
            LOG,
            Observed("inexact", "torch.log(gate)", "F.logsigmoid(logit)"),
            "-200.0",
            "-2.0",
            id="a logarithm of what rounds to 0",
        ),
        pytest.param(
            EVAL, Observed("trains-in-evaluation-mode", "net"), "pass", "net.train()", id="training in evaluation mode"
        ),
        pytest.param(
            TWICE,
            Raises("Trying to backward through the graph a second time"),
            "False",
            "True",
            id="a Function's backward raises",
        ),
    ],
)
def test_confirmed_and_not(program: str, claim: Claim, confirmed: str, other: str, verdicts: Verdicts) -> None:
    if program is LATE:
        programs = [program.format("loss = (w + 3) * 6", ""), program.format("", "loss = (w + 3) * 6")]
    else:
        programs = [program.format(confirmed), program.format(other)]
    (first,) = verdicts(HEAD + programs[0], claims={"X": (claim,)})
    (second,) = verdicts(HEAD + programs[1], claims={"X": (claim,)})
    assert first.status == "confirmed", first.evidence
    assert second.status != "confirmed", second.evidence


def test_before_a_compound_statement(verdicts: Verdicts) -> None:
    """Its expressions are seen when it begins, and each time."""
    program = HEAD + "for n in range(3):\n    if n > 5:  # warning: [X]\n        print(n)\n"
    (shown,) = verdicts(program, claims={"X": (Holds("n == 2", before=True),)})
    (other,) = verdicts(program, claims={"X": (Holds("n == 7", before=True),)})
    assert (shown.status, other.status) == ("confirmed", "refuted")


def test_a_cheaper_expression_that_is_no_fix(verdicts: Verdicts) -> None:
    program = HEAD + "a, b, v = torch.rand(9, 9), torch.rand(9, 9), torch.rand(9, 1)\ny = (a @ b) @ v  # smell: [X]\n"
    claim = Observed("cheaper", other="y = a @ (b @ v)")
    wrong = Observed("cheaper", other="y = a @ v")
    (shown,) = verdicts(program, claims={"X": (claim,)})
    (other,) = verdicts(program, claims={"X": (wrong,)})
    assert (shown.status, other.status) == ("confirmed", "inconclusive"), other.evidence


def test_a_leaf_that_is_there_in_one_run_alone_has_no_gradient(verdicts: Verdicts) -> None:
    """Leaves without a gradient are no difference of two runs."""
    text = "torch.autograd.functional.jacobian(torch.sin, x) @ v"
    fix = (text, "torch.autograd.functional.vjp(torch.sin, x, v)[1]", False)
    program = HEAD + f"x, v = torch.rand(9), torch.rand(9)\ny = {text}  # smell: [X]\n"
    (verdict,) = verdicts(program, claims={"X": (Observed("cheaper"),)}, fixes={"X": fix})
    assert verdict.status == "confirmed", verdict.evidence
