"""
What unknown code can get at of what it is given, and what it sees where no call of it is written: each snippet is one
that some body of `give` (of `lazy`, `flag`, `value`) refutes under torch.
"""

from __future__ import annotations

import expectations
import pytest

from torchlint.rule import Level

HEAD = """
import functools

import torch
from somelib import flag, give, lazy, value
from torch import nn

w = torch.ones(3)


def f():
    pass


class C:
    cls = torch.Tensor

    def __init__(self):
        self.w = torch.ones(3)


"""
REACHED = {
    "variables of a function that it gives back": "give(f).__globals__['w'] = torch.ones(3, requires_grad=True)",
    "variables of a frame": "give().f_globals.update(w=torch.ones(3, requires_grad=True))",
    "class of torch in a dictionary": "give({'t': [torch.Tensor]})",
    "class of torch in an object": "c = C()\nc.held = nn.Module\ngive(c)",
    "class of torch in a class": "give(C)",
    "key of a dictionary": "give({w: 1})",
    "key that is set": "d = {}\nd[w] = 1\ngive(d)",
    "key that is a default": "d = {}\nd.setdefault(w, 1)\ngive(d)",
    "keys of a comprehension": "give({each: 1 for each in [w]})",
    "keys of pairs": "give(dict([(w, 1)]))",
    "keys in a loop": "for each in {w: 1}:\n    each.requires_grad_()",
    "keys by name": "for each in {w: 1}.keys():\n    each.requires_grad_()",
    "keys with values": "for each, _ in {w: 1}.items():\n    each.requires_grad_()",
    "partial as key": "def g(k, x):\n    return give(x)\nsorted([w], key=functools.partial(g, 1))",
    "registered for a type": (
        "@functools.singledispatch\ndef g(x):\n    return 1\n@g.register(torch.Tensor)\ndef _(x):\n    give(x)\ng(w)"
    ),
}


def _levels(snippet: str, code: str = "TLN104") -> list[Level]:
    return [each.level for each in expectations.lint(f"{HEAD}{snippet}\n", codes=[code]).findings]


@pytest.mark.parametrize("snippet", [pytest.param(text, id=name) for name, text in REACHED.items()])
def test_what_is_reached_may_have_been_changed(snippet: str) -> None:
    assert Level.ERROR not in _levels(f"{snippet}\nw.sum().backward()")


@pytest.mark.parametrize(
    "snippet",
    [
        "print(f.__globals__['w'])",
        "give({'layer': nn.ReLU})",
        "d = {w: 1}\nprint(d)",
        "d = {torch.ones(3): 1}\ngive(d)",
        "sorted([w], key=functools.partial(torch.sum, dim=0))",
    ],
)
def test_what_is_not_reached_keeps_its_error(snippet: str) -> None:
    assert _levels(f"{snippet}\nw.sum().backward()") == [Level.ERROR]


def test_a_method_that_a_decorator_has_made_an_attribute() -> None:
    snippet = (
        "class S(C):\n    @lazy\n    def size(self):\n        {}\n        return 2\n\n\n"
        "s = S()\ns.size\ns.w.sum().backward()"
    )
    assert Level.ERROR not in _levels(snippet.format("self.w.requires_grad_()"))
    assert Level.ERROR not in _levels(snippet.format("give(self.w)"))


def test_a_parameter_has_the_shape_that_all_its_values_have() -> None:
    snippet = "z = nn.Parameter({})\nz.sqrt().backward()"
    assert Level.ERROR not in _levels(snippet.format("torch.randn(1, 3) if flag else value"), "TLN103")
    assert _levels(snippet.format("torch.randn(1, 3)"), "TLN103") == [Level.ERROR]
