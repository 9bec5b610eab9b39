"""Which entry points are followed, and who watches them: by what is written in them and in what they call."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from torchlint.model import ir, marks
from torchlint.model.analysis import Analysis
from torchlint.model.lower import lower
from torchlint.model.observers import observers

IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def followed(program: str) -> set[str]:
    """The functions that ran in an analysis that leaves out what it may, as `function` or `Class.method`."""
    text = IMPORTS + textwrap.dedent(program)
    analysis = Analysis(lower(cst.parse_module(text), text), thorough=False)
    analysis.run()
    names: dict[int, str] = {}
    for statement in analysis.program.body:
        inner = statement.body if isinstance(statement, ir.ClassDef) else [statement]
        owner = f"{statement.name}." if isinstance(statement, ir.ClassDef) else ""
        names |= {id(each): owner + each.name for each in inner if isinstance(each, ir.FunctionDef)}
    return {name for number, name in names.items() if number in analysis.entered}


BLOCK = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        {body}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(torch.sigmoid(x))
"""


def test_what_only_computes_is_not_followed() -> None:
    assert followed(BLOCK.format(body="return self.linear(x) + 1")) == set()


def test_writes_that_stay_inside_do_not_concern_callers() -> None:
    body = "y = self.linear(x)\n        y += 1\n        return y"
    assert followed(BLOCK.format(body=body)) == {"Block.__init__", "Block.forward"}


@pytest.mark.parametrize(
    "body",
    [
        "x += 1\n        return x",  # what it was given
        "x[0] = 0\n        return x",
        "return F.relu(x, inplace=True)",
        "self.linear.weight[0] = 0\n        return x",  # what others may use
        "y = unknown(x)\n        y += 1\n        return y",  # a caller may know what it is
        "out = torch.zeros(4)\n        out[0] = x.sum()\n        return out",  # ... or whether it is of a graph
    ],
)
def test_other_writes_concern_callers(body: str) -> None:
    assert "Net.forward" in followed(BLOCK.format(body=body))


@pytest.mark.parametrize("statement", ["x += 1", "x[0] = 0", "x.add_(1)", "x.data = x * 2", "scale_(x)"])
def test_a_function_that_writes_what_it_is_given_concerns_callers(statement: str) -> None:
    program = f"""
def change(x):
    {statement}
    return x


def run(x):
    y = torch.sigmoid(x)
    return change(y)
"""
    assert followed(program) == {"change", "run"}


@pytest.mark.parametrize(
    "inner",
    [
        "def inner(y):\n        z = torch.ones(2)\n        z += 1",
        "class Inner:\n        def __init__(self):\n            pass",
    ],
)
def test_what_is_defined_inside_says_nothing_of_what_is_written_outside(inner: str) -> None:
    program = f"""
def change(x):
    {inner}
    x += 1
    return x


def run(x):
    return change(torch.sigmoid(x))
"""
    assert "run" in followed(program)


def test_layers_that_work_in_place_are_writes() -> None:
    program = BLOCK.format(body="return self.act(x)").replace(
        "nn.Linear(4, 4)", "nn.Linear(4, 4)\n        self.act = ACT"
    )
    assert "Net.forward" in followed(program.replace("ACT", "nn.ReLU(inplace=True)"))
    assert "Net.forward" in followed(program.replace("ACT", "nn.ReLU(True)"))
    assert followed(program.replace("ACT", "nn.ReLU()")) == set()


def test_what_an_observer_waits_for_is_followed_through_calls() -> None:
    program = """
        def evaluate(model, x):
            model.eval()
            return model(x)

        def run(model, x):
            return evaluate(model, x)

        def plain(x):
            return x * 2
        """
    assert followed(program) == {"evaluate", "run"}


def test_a_class_inside_a_function_is_looked_at() -> None:
    program = """
        def make():
            class Net(nn.Module):
                def __init__(self):
                    self.linear = nn.Linear(2, 2)
            return Net
        """
    assert followed(program) == {"make"}


def test_with_everything_asked_for_everything_is_followed() -> None:
    text = IMPORTS + BLOCK.format(body="return self.linear(x) + 1")
    analysis = Analysis(lower(cst.parse_module(text), text))
    analysis.run()
    assert len(analysis.entered) == 4


def test_every_observer_says_what_concerns_it() -> None:
    known = {value for name, value in vars(marks).items() if name.isupper() and isinstance(value, str)}
    for observer in observers():
        assert observer.concerns is not None, observer
        for concern in observer.concerns:
            for group in (*concern.anywhere, *concern.near, *concern.here):
                assert group, observer
                for word in group:
                    assert not word.startswith("!") or word in known, (observer, word)


def test_marks() -> None:
    text = "def f(x):\n    if x > 0:\n        y = torch.sqrt(x)\n    self.n += 1\n    return F.softmax(y)"
    (definition,) = lower(cst.parse_module(text), text).body
    assert isinstance(definition, ir.FunctionDef)
    words = marks.written(definition).words
    assert {marks.MASKED, marks.WRITES, marks.IMPLIED_DIM, "sqrt", ">", "self"} <= words
    assert words.isdisjoint({marks.DIFFERENTIATES, marks.DROPS, marks.GROWS, marks.CHAIN})
