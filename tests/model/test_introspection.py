"""
What a program learns by asking: the model's answers are Python's, and where it cannot know it gives none.

Each expression is evaluated by the model and by Python, in the same surroundings.
"""

from __future__ import annotations

import pytest

from torchlint.model.scheduling.entry_points import EntryPoints
from torchlint.model.state.values import Constant, Value
from torchlint.syntax.lowering import program_of

SURROUNDINGS = """
import functools, types
import torch
from torch import nn

class Base: pass
class Derived(Base): pass
class Net(nn.Module): pass
class Names(dict): pass

def function(): pass

base, derived, net = Base(), Derived(), Net()
bound = functools.partial(nn.GELU, approximate="tanh")
names = Names({"a": 1})
kinds = {nn.ReLU, Derived, nn.Tanh}
tensor = torch.ones(3)
"""
KNOWN = [
    "isinstance('relu', str)",
    "isinstance('relu', (list, tuple))",
    "isinstance(3, (int, str))",
    "isinstance(True, int)",
    "isinstance(3, torch.Tensor)",
    "isinstance(None, str)",
    "isinstance([1], list)",
    "isinstance((1,), list)",
    "isinstance({}, dict)",
    "isinstance({}, str)",
    "isinstance(tensor, torch.Tensor)",
    "isinstance(tensor, nn.Module)",
    "isinstance(tensor, (list, torch.Tensor))",
    "isinstance(nn.ReLU, type)",
    "isinstance(nn.ReLU, str)",
    "isinstance(nn.ReLU, functools.partial)",
    "isinstance(nn.ReLU, types.FunctionType)",
    "isinstance(function, types.FunctionType)",
    "isinstance(function, str)",
    "isinstance(torch.relu, str)",
    "isinstance(derived, Base)",
    "isinstance(base, Derived)",
    "isinstance(net, Base)",
    "isinstance(nn.ReLU(), nn.Module)",
    "isinstance(nn.ReLU(), str)",
    "isinstance(tensor.shape[0], int)",
    "nn.ReLU in kinds",
    "nn.GELU in kinds",
    "Derived in kinds",
    "Base not in kinds",
    "'a' in names",
    "'b' in names",
    "names['a']",
    "nn.BatchNorm2d.__name__.lower()",
    "Derived.__name__",
    "function.__name__",
    "'Re-LU'.lower().replace('-', '')",
    "'a-b'.split('-')[0]",
    "'relu'.startswith('re')",
]
UNKNOWN = [
    "isinstance(bound, functools.partial)",
    "isinstance(net, (str, types.ModuleType))",
    "torch.relu in kinds",
    "isinstance(base, types.SimpleNamespace)",
]


def _value(expression: str) -> Value:
    text = f"{SURROUNDINGS}\nresult = {expression}\n"
    analysis = EntryPoints(program_of(text))
    analysis.run_script()
    return analysis.machine.globals.variables["result"]


def _truth(expression: str) -> object:
    scope: dict[str, object] = {}
    exec(SURROUNDINGS, scope)
    return eval(expression, scope)


@pytest.mark.parametrize("expression", KNOWN)
def test_the_answer_is_pythons(expression: str) -> None:
    assert _value(expression) == Constant(_truth(expression))


@pytest.mark.parametrize("expression", UNKNOWN)
def test_no_answer_rather_than_a_guess(expression: str) -> None:
    assert not isinstance(_value(expression), Constant)
