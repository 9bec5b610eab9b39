"""
Knowing less never says more, and what is said holds whatever the unknown is: on programs with fixed seeds.

Any number of them: `python -m tests.metamorphic hide --programs 10000 --seed 1 --jobs 2`, and `standins`.
"""

from __future__ import annotations

import random

import pytest
import torch

from metamorphic import hide, standins
from metamorphic.changes import Unknowns
from metamorphic.places import ADDED, numbered, written
from metamorphic.programs import Base, plain

HIDDEN = range(1_000_000, 1_000_150)
STANDING_IN = range(3_000_000, 3_000_160)

PROGRAM = plain(
    """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.h = torch.zeros(size)

    def forward(self, x):
        return x * 2 + self.h

net = Net()
kept = [torch.ones(3, requires_grad=True).exp()]
for each in kept:
    kept.append(each.detach())
loss = net(kept[0]).sum()
loss.backward()
"""
)


def test_nothing_more_is_said_where_something_is_hidden() -> None:
    found = [more for seed in HIDDEN for more in hide.one(seed)]
    assert not found, "\n".join(f"seed {each.seed}: {each.key}: {each.finding.message}" for each in found)


def test_no_stand_in_refutes_what_is_said() -> None:
    found = [claim for seed in STANDING_IN for claim in standins.one(seed)]
    assert not found, "\n".join(f"seed {each.seed}: {each.key}: {each.finding.message}" for each in found)


@pytest.mark.parametrize("kind", hide.KINDS)
def test_every_kind_has_room_in_a_program(kind: str) -> None:
    variants = list(hide.all_of_a_kind(Base("program", PROGRAM), kind))
    assert variants
    assert all(variant.text != PROGRAM and variant.roles.keys() != set() for variant in variants)


def test_lines_keep_their_statements() -> None:
    tree = numbered(PROGRAM)
    before = dict(written(tree)[1])
    next(iter(hide.KINDS["handed_on"](tree)))(Unknowns())
    text, lines = written(tree)
    added = [line for line, number in lines.items() if number == ADDED]
    assert len(added) == len(text.splitlines()) - len(PROGRAM.splitlines())
    assert set(before.values()) == set(lines.values()) - {ADDED}


def test_torch_refutes_an_error_that_one_body_escapes() -> None:
    text = "from elsewhere import call0\nimport torch\nw = torch.ones(3, requires_grad=True)\ncall0(w)\nw.add_(1)\n"
    code = compile(text, standins.FILE, "exec")
    assert standins.run(code, {"call0": "freeze"}, {"call0": "call"}).ended
    refused = standins.run(code, {"call0": "identity"}, {"call0": "call"})
    assert refused.raised == {5}
    assert "a leaf Variable that requires grad" in refused.error


def test_what_a_program_sets_for_all_that_comes_is_its_own() -> None:
    text = "import torch\ntorch.set_default_device('meta')\ntorch.Tensor.add_ = None\ntorch.Tensor.more = None\n"
    add_ = torch.Tensor.add_
    assert standins.run(compile(text, standins.FILE, "exec"), {}, {}).ended
    assert torch.ones(1).device.type == "cpu"
    assert torch.Tensor.add_ is add_
    assert not hasattr(torch.Tensor, "more")


def _passes(text: str, mended: tuple[str, str], unknown: str, body: str) -> bool:
    """Whether a run, with a part of the text mended so that it raises nothing, comes through the proof of its claim."""
    (finding,) = standins.claims(standins.shown(text))
    roles = {unknown: unknown.rstrip("0123456789")}
    harmless = compile(text.replace(*mended), standins.FILE, "exec")
    ran = standins.run(harmless, {unknown: body}, roles, lines=True).ran
    return standins.came_through(finding, ran, text, {unknown})


@pytest.mark.parametrize(("body", "passes"), [("identity", True), ("list", False), ("empty", False)])
def test_a_loop_over_an_unknown_is_taken_to_run_twice(body: str, passes: bool) -> None:
    loop = "for _ in call0([1, 2]):\n    w.sum().backward()\n"
    text = f"from elsewhere import call0\nimport torch\nw = torch.ones(3)\n{loop}"
    assert _passes(text, ("ones(3)", "ones(3, requires_grad=True)"), "call0", body) is passes


@pytest.mark.parametrize(("limit", "passes"), [(2, True), (1, False)])
def test_a_loop_that_counts_with_an_unknown_is_taken_to_run_twice(limit: int, passes: bool) -> None:
    loop = f"i = 0\nwhile i < {limit}:\n    w.sum().backward()\n    i += call0(1)\n"
    text = f"from elsewhere import call0\nimport torch\nw = torch.ones(3)\n{loop}"
    assert _passes(text, ("ones(3)", "ones(3, requires_grad=True)"), "call0", "identity") is passes


@pytest.mark.parametrize(("body", "passes"), [("identity", True), ("empty", False)])
def test_a_comprehension_over_an_unknown_is_taken_to_make_something(body: str, passes: bool) -> None:
    listed = "np.array([w * x for x in call0([1.0, 2.0])])\n"
    leaf = "w = torch.tensor(2.0, requires_grad=True)\n"
    text = f"from elsewhere import call0\nimport numpy as np\nimport torch\n{leaf}{listed}"
    assert _passes(text, ("requires_grad=True", "requires_grad=False"), "call0", body) is passes


@pytest.mark.parametrize(("body", "passes"), [("identity", True), ("True", False)])
def test_a_loop_inside_of_one_over_an_unknown_is_none_of_its_iterations(body: str, passes: bool) -> None:
    loop = "for _ in range(call0(2)):\n    for v in kept:\n        v.sum().backward()\n"
    head = "from elsewhere import call0\nimport torch\nw = torch.ones(3, requires_grad=True)\n"
    text = f"{head}kept = [v * v for v in (w, w)]\n{loop}"
    assert _passes(text, ("v * v", "v + v"), "call0", body) is passes


@pytest.mark.parametrize(("body", "passes"), [("True", True), ("False", False)])
def test_a_step_of_a_proof_that_stands_in_an_arm_is_passed_with_that(body: str, passes: bool) -> None:
    last = "g = torch.autograd.grad(h.sum(), w)[0] if flag0 else 0.5\n"
    head = "from elsewhere import flag0\nimport torch\nw = torch.ones(3, requires_grad=True)\n"
    text = f"{head}h = w.exp()\nh.mul_(2)\n{last}"
    assert _passes(text, ("w.exp()", "w.neg()"), "flag0", body) is passes


@pytest.mark.parametrize(("body", "passes"), [("True", True), ("False", False)])
def test_a_function_is_passed_with_all_calls_of_it(body: str, passes: bool) -> None:
    called = "step(w)\nlast = step(w.detach()) if flag0 else 0.5\n"
    head = "from elsewhere import flag0\nimport torch\nw = torch.ones(3, requires_grad=True)\n"
    text = f"{head}\ndef step(q):\n    q.sum().backward()\n\n{called}"
    assert _passes(text, ("w.detach()", "w * 2"), "flag0", body) is passes


def test_what_a_stand_in_swallows_was_raised() -> None:
    text = (
        "from elsewhere import decorator0\nimport torch\n\n@decorator0\ndef descend(w):\n    for _ in range(2):\n"
        "        gradient, = torch.autograd.grad(w.sum(), w)\n        with torch.no_grad():\n"
        "            w = w - gradient\n\ndescend(torch.zeros(3, requires_grad=True))\n"
    )
    found = standins.claims(standins.shown(text))
    roles = {"decorator0": "decorator"}
    outcome = standins.run(compile(text, standins.FILE, "exec"), {"decorator0": "swallow"}, roles, lines=True)
    assert outcome.ended
    assert {finding.code for finding in found} == {"TLN104", "TLN113"}
    assert {finding.span.line for finding in found} == {7} <= outcome.ran.raised
    assert not any(standins.came_through(finding, outcome.ran, text, roles) for finding in found)


JUDGED = {
    "dropout of nothing": (
        """
import torch
import torch.nn.functional as F
from elsewhere import size
w = torch.ones(size, requires_grad=True)
F.dropout(w, inplace=True)
""",
        {"size": "value"},
    ),
    "a write to no place": (
        """
import torch
from elsewhere import found
first, second = torch.arange(4.0, requires_grad=True).chunk(2)
first[found] = 0
""",
        {"found": "flag"},
    ),
    "a number to write into": (
        """
import torch
from elsewhere import call
x = torch.rand(3, requires_grad=True)
scale = call(torch.rand(3))
y = x * scale
torch.add(scale, 1, out=scale)
y.sum().backward()
""",
        {"call": "call"},
    ),
    "the other arm": (
        """
import torch
from elsewhere import flag, value
h = torch.rand(4, requires_grad=True) * 2
a, b = h.chunk(2)
h.mul_(3)
total = max([(a * 2).sum()], key=abs) if flag else value
""",
        {"flag": "flag", "value": "value"},
    ),
    "a call that is not come to": (
        """
import torch
from torch import nn
from elsewhere import call, value

class Gates(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 8)

    def forward(self, x):
        keep, add = self.linear(x).chunk(2, dim=1)
        keep += 1
        return keep * add

if __name__ == '__main__':
    with torch.no_grad():
        Gates()(torch.rand(2, 3))
try:
    eval('Gates')()(value(torch.rand(2, 3)))
except Exception:
    call()
""",
        {"call": "call", "value": "value"},
    ),
    "another call of what reads": (
        """
import torch
from elsewhere import flag
x = torch.tensor(2.0, requires_grad=True)
t = x.exp()
y = t * 2
t.add_(1)

def learn(q):
    q.sum().backward()

learn(x)
if flag:
    learn(y)
""",
        {"flag": "flag"},
    ),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_run_that_does_not_come_to_what_is_meant_refutes_nothing(name: str) -> None:
    text, roles = JUDGED[name]
    variant = hide.Variant(Base(name, text), (), text, {}, roles)
    assert any(each.level.value == "error" for each in hide.shown(text, standins.RAISING))
    assert not standins.judged(variant, random.Random(0))


def test_a_function_that_is_called_may_be_another_than_it_was_given() -> None:
    text = """
import torch
from torch import nn
from elsewhere import call
net = nn.Linear(3, 2)
context = eval('torch.autocast')('cpu')
call(context.__enter__)()
out = net(torch.ones(1, 3, requires_grad=True)).float().tanh()
with torch.no_grad():
    net.weight.mul_(0.9)
out.sum().backward()
"""
    variant = hide.Variant(Base("by hand", text), (), text, {}, {"call": "call"})
    assert any(each.level.value == "warning" for each in hide.shown(text, standins.RAISING))
    assert not standins.judged(variant, random.Random(0))
