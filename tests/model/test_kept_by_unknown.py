"""
What is kept where nobody knows what is kept reaches whoever is given that later; and so does what a function of the
file, which Python runs, hands on.
"""

from __future__ import annotations

import expectations
import pytest

from torchlint.rule import Level

HEAD = """
import queue
from collections import defaultdict

import torch
from somelib import give, held

w = torch.ones(3)
"""
KEEPS = {
    "append": "held.append(w)\ngive(held)",
    "append to a part": "held.x.y.append(w)\ngive(held)",
    "its own method": "held.append(w)\nheld.run()",
    "method of a part": "held.append(w)\nheld[0].run()",
    "update": "held.update(x=w)\ngive(held)",
    "extend": "held.extend([w])\ngive(held)",
    "added list": "held += [w]\ngive(held)",
    "defaultdict": "d = defaultdict(list)\nd['a'].append(w)\ngive(d)",
    "item of a defaultdict": "d = defaultdict(list)\nd['a'].append(w)\nfor k, v in d.items():\n    give(v)",
    "queue": "q = queue.Queue()\nq.put(w)\ngive(q.get())",
}
RUNS = {
    "key that is a method": "class O:\n    def m(self, t): give(t)\nmax([w], key=O().m)",
    "key that is an object": "class O:\n    def __call__(self, t): give(t)\nmax([w], key=O())",
    "key of a list's own order": "[w].sort(key=lambda t: give(t))",
    "mapped": "list(map(lambda t: give(t), [w]))",
}


def _levels(snippet: str) -> list[Level]:
    text = f"{HEAD}{snippet}\nw.sum().backward()\n"
    return [each.level for each in expectations.lint(text, codes=["TLN104"]).findings]


@pytest.mark.parametrize("snippet", [pytest.param(text, id=name) for name, text in (KEEPS | RUNS).items()])
def test_what_is_handed_on_may_have_been_changed(snippet: str) -> None:
    assert Level.ERROR not in _levels(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "held.append(w)",
        "held.append(w)\nprint(len(held))",
        "held.append(torch.ones(3))\ngive(held)",
        "d = {'a': []}\nd['a'].append(w)\nprint(d)",
        "max([w], key=lambda t: t.sum())",
        "[w].sort(key=lambda t: float(t.sum()))",
    ],
)
def test_what_nobody_is_given_keeps_its_error(snippet: str) -> None:
    assert _levels(snippet) == [Level.ERROR]


def test_what_a_setter_makes_of_the_parameters_of_a_layer() -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom somelib import give\n\n\nclass Masked(nn.Linear):\n"
        "    def forward(self, x):\n        self.weight.mul_(2)\n\n"
        "    def __setattr__(self, name, value):\n        object.__setattr__(self, name, {})\n\n\n"
        "Masked(2, 3)(torch.rand(1, 2))\n"
    )
    found = {
        value: [each.level for each in expectations.lint(text.format(value), codes=["TLN203"]).findings]
        for value in ("value", "give(value)")
    }
    assert found == {"value": [Level.ERROR], "give(value)": [Level.WARNING]}


def test_a_part_of_what_a_decorated_function_gives() -> None:
    text = (
        "import torch\nfrom somelib import give, wrapped\n\nw = torch.ones(3, requires_grad=True)\n\n\n"
        "@wrapped\ndef both(a, b):\n    return a, b\n\n\n"
        "first, second = both(w, w)\n{}(first)\nw.add_(1)\n"
    )
    found = {
        name: [each.level for each in expectations.lint(text.format(name), codes=["TLN203"]).findings]
        for name in ("print", "give")
    }
    assert Level.ERROR not in found["give"]
    assert found["print"] == [Level.WARNING]  # what wraps it is given the leaf, too
