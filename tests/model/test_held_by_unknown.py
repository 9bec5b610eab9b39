"""
What unknown code can get at of what it is given, and what it sees where no call of it is written: each snippet is one
that some body of `give` (of `lazy`, `flag`, `value`) refutes under torch.
"""

from __future__ import annotations

import expectations
import pytest

from torchlint.rule import Level

HEAD = """
import copy
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
    "dictionary put into another": "d = {}\ne = d\nd |= {1: w}\ngive(e)",
    "dictionary of an unknown key put into another": "d = {}\nd.update({value: w})\ngive(d)",
    "one of two dictionaries": "give({} | {1: w})",
    "keys of one of two dictionaries": "give({} | {w: 1})",
    "a dictionary and what nobody knows": "give(value | {1: w})",
    "shallow copy of a dictionary": "give(copy.copy({1: w}))",
    "what a dictionary gives back": "give({1: w}.popitem())",
    "key that a dictionary gives back": "give({w: 1}.popitem())",
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
        "d = {1: w}\nd.update(a=2)\nprint(d)",
        "d = {1: w} | {2: 3}\nprint(d)",
        "d = {1: 2} | {2: 3}\ngive(d)",
        "give(copy.deepcopy({1: w}))",
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


@pytest.mark.parametrize(
    "setter",
    [
        "@property\n    def size(self):\n        return 1\n\n    @size.setter\n    @lazy\n    def size(self, n):\n"
        "        give(self.w)",
        "def _set(self, n):\n        give(self.w)\n\n    size = property(None, _set)",
        "size = property(lambda self: 1, lambda self, n: give(self.w))",
    ],
    ids=["decorated", "by hand", "lambda"],
)
def test_a_setter_that_is_not_followed(setter: str) -> None:
    snippet = f"class S(C):\n    {setter}\n\n\ns = S()\ns.size = 3\ns.w.sum().backward()"
    assert Level.ERROR not in _levels(snippet)


FROZEN = "net = {}\nnet.requires_grad_(False)\n{}\n{}.sum().backward()"
LINEAR = "nn.Linear(3, 1)", "net(torch.ones(1, 3))"
TRANSFORMER = "nn.Transformer(4, 2, 1, 1, 4)", "net(torch.ones(1, 2, 4), torch.ones(1, 2, 4))"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (LINEAR, "give(functools.partial(net, torch.ones(1, 3)))"),
        (LINEAR, "for p in nn.DataParallel(net).parameters():\n    p.requires_grad_(True)"),
        (LINEAR, "for p in torch.compile(net).parameters():\n    p.requires_grad_(True)"),
        (LINEAR, "for p in torch.jit.script(net).parameters():\n    p.requires_grad = True"),
        (TRANSFORMER, "net.encoder.layers[0].linear1.requires_grad_(True)"),
        (TRANSFORMER, "for layer in net.encoder.layers:\n    layer.linear1.weight.requires_grad = True"),
        (("nn.LSTM(4, 2)", "net(torch.ones(1, 2, 4))[0]"), "net.all_weights[0][0].requires_grad_(True)"),
    ],
)
def test_parts_of_what_wraps_a_layer_or_is_composed(kind: tuple[str, str], change: str) -> None:
    made, called = kind
    assert Level.ERROR not in _levels(FROZEN.format(made, change, called))


@pytest.mark.parametrize(
    "change",
    [
        "",
        "print(torch.compile(net).parameters())",
        "for p in torch.compile(nn.Linear(3, 1)).parameters():\n    give(p)",
    ],
)
def test_a_frozen_layer_stays_frozen(change: str) -> None:
    made, called = LINEAR
    assert _levels(FROZEN.format(made, change, called)) == [Level.ERROR]
