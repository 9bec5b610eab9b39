"""
A program that changes Python's own rules, and has code in it that nobody knows: what is told of it from then on
rests on that, whatever road leads from the one to the other. The programs raise as they stand.
"""

from __future__ import annotations

import expectations
import pytest

from torchlint.rule import Level

HEAD = """
import sys
from functools import partial
from operator import methodcaller

import torch
from torch import nn
from somelib import give, name


class Cell:
    def __init__(self):
        self.held = 1

"""
METHODS = {
    "getter of all attributes": """
    def __getattribute__(self, name):
        return give(name)
""",
    "getter of missing attributes": """
    def __getattr__(self, name):
        return give(name)
""",
    "setter under an unknown decorator": """
    @give
    def __setattr__(self, name, value):
        pass
""",
}
STATEMENTS = {
    "under an unknown name of a class": "setattr(Cell, name, give())",
    "under the name of a special method": "Cell.__setattr__ = give()",
    "in a class that nobody knows": "give().__class__.add_ = None",
    "class of an object": "cell.__class__ = give()",
    "attributes of a tensor": "give(w.__dict__)",
    "variables in a list": "give([globals()])",
    "modules that are loaded": "give(sys.modules['torch'])",
    "a text that nobody knows": "found = eval(name)",
    "what is run, in an unknown list": "list(map(*give(cell)))",
    "under an unknown name of what nobody knows": "setattr(give(), name, 2)",
    "a setter in an unknown list": "setattr(*give(cell))",
    "a setter with an unknown list": "partial(setattr, cell, *give())('other', 2)",
}
INDIRECT = {
    "method of an unknown name": "getattr(w, name)()",
    "method of an unknown name for what it does": "getattr(give(), name)()",
    "attribute of an unknown name": "setattr(cell, name, give())",
    "method that unknown code is given": "give(w.detach)()",
    "method of what nobody knows that unknown code is given": "give(give().update)(cell)",
    "method of a base class of an unknown name": "cell.look()",
    "method called by an unknown name": "methodcaller(give('detach_'))(w)",
    "elements of a list in an unknown list": "[].append(*give())",
    "arguments of a writing function in an unknown list": "nn.init.zeros_(*give(), cell)",
    "unknown code in a setter": "cell.size = 2",
    "constructor that unknown code is given": "give(Cell.__init__)",
    "special method called by hand": "object.__setattr__(w, *give())",
    "constructor of what unknown code has made": "give(Cell).__init__(cell)",
    "arguments of a method in an unknown list": "w.sum().backward(*give())",
    "key that nobody knows": "max([object], key=give)",
    "function that is mapped": "list(map(give, [w]))",
    "a text that computes": "eval('give(w)')",
    "a context in which a generator yields": "list(between())",
    "unknown code in a context of the file": "\nwith Around(): pass",
    "part of a Module": "for _, part in nn.TransformerEncoder(give(), 2).named_children(): give(part)",
}
INDIRECTLY = (
    HEAD
    + """
    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        give(value)

    def look(self):
        getattr(super(), name)()


class Around:
    def __enter__(self):
        give()

    def __exit__(self, *error):
        pass


def between():
    with give():
        yield 1

"""
)
WRITES = """
w = torch.ones(3, requires_grad=True)
cell = Cell()
{}
v = torch.ones(3, requires_grad=True)
v.add_(1)
"""


def _told(text: str) -> list[tuple[str, str, list[str]]]:
    found = expectations.lint(text).findings
    return [(each.code, each.level.value, [one.kind for one in each.conditions]) for each in found]


@pytest.mark.parametrize("kind", METHODS)
def test_a_special_method_that_runs_unknown_code_leaves_a_condition(kind: str) -> None:
    assert _told(HEAD + METHODS[kind] + WRITES.format("")) == [("TLN203", "warning", ["reflection"])]


def test_a_special_method_that_asks_its_base_leaves_an_error() -> None:
    method = """
    def __getattr__(self, name):
        return give(super().__getattr__(name))
"""
    assert _told(HEAD + method + WRITES.format("")) == [("TLN203", "error", [])]


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_statement_that_changes_what_python_does_leaves_a_condition(kind: str) -> None:
    assert _told(HEAD + WRITES.format(STATEMENTS[kind])) == [("TLN203", "warning", ["reflection"])]


@pytest.mark.parametrize("kind", INDIRECT)
def test_unknown_code_that_acts_where_no_plain_call_of_it_is_written_leaves_a_condition(kind: str) -> None:
    told = _told(INDIRECTLY + WRITES.format(INDIRECT[kind]))
    assert ("TLN203", "warning", ["reflection"]) in told


@pytest.mark.parametrize(
    "statement", ["give(torch.set_grad_enabled)", "give().__enter__()", "torch.set_grad_enabled(*give())"]
)
def test_unknown_code_that_may_set_the_mode_by_another_road_leaves_no_error(statement: str) -> None:
    assert all(level != "error" for _, level, _ in _told(HEAD + WRITES.format(statement)))


@pytest.mark.parametrize(
    "statement",
    [
        *("give(w)", "give(w).run(cell)", "give(w)(w)", "net = nn.Linear(*give())", "give(**give())", "give(cell.run)"),
        *("getattr(cell, 'held')", "getattr(nn, name)(2)", "w.view(*give())", "max(give(), key=give)", "len(give())"),
        *("list(map(torch.relu, give()))", "list(map(cell.run, give()))", "sorted(give())", "w.sum().backward(give())"),
        *("eval('cell')", "give().__len__()", "for _ in give(): give(w)", "with give(): give(w)"),
    ],
)
def test_a_plain_call_of_unknown_code_leaves_an_error(statement: str) -> None:
    assert ("TLN203", "error", []) in _told(HEAD + WRITES.format(statement))


@pytest.mark.parametrize("given", ["torch.Tensor, name", "(torch.Tensor, name)", "[torch.Tensor, 'add_', None]"])
def test_unknown_code_that_is_told_of_a_class_of_torch_and_a_name_may_replace_its_method(given: str) -> None:
    assert _told(HEAD + WRITES.format(f"give({given})")) == []


@pytest.mark.parametrize(
    "statement",
    [
        *("setattr(cell, 'held', give())", "cell.other = give()", "print(cell.__dict__)", "type(cell)", "give(cell)"),
        *("found = eval('2')", "list(map(int, *give()))", "print(*give())", "partial(int, *give())"),
        "setattr(give(), 'held', 2)",
    ],
)
def test_what_changes_no_rule_of_python_leaves_an_error(statement: str) -> None:
    assert _told(HEAD + WRITES.format(statement)) == [("TLN203", "error", [])]


def test_what_another_entry_point_changes_is_forgotten_with_it() -> None:
    text = """
import torch
from somelib import give


def other():
    exec(give())


def writes():
    torch.ones(3).sum().backward()
"""
    assert _told(text) == [("TLN104", "error", [])]


def test_what_is_made_by_unknown_code_and_run_without_grad_may_record_again() -> None:
    text = """
import torch
from somelib import give
w = torch.rand(3, requires_grad=True)
with torch.no_grad():
    {}
    loss = (w * 2).sum()
loss.backward()
"""
    assert _told(text.format("give(w)()")) == [("TLN104", "warning", ["reflection"])]
    assert _told(text.format("give(w)")) == [("TLN104", "error", [])]


@pytest.mark.parametrize("line", ["w.sum().backward()", "w.requires_grad_().add_(1)"])
def test_what_changes_the_rules_is_named_whichever_rule_tells(line: str) -> None:
    text = (
        "import torch\nfrom elsewhere import other\n\n\nclass C:\n    def __getitem__(self, x):\n        pass\n\n\n"
        f"C.__getitem__ = other(C.__getitem__)\nw = torch.ones(3)\n{line}\n"
    )
    (found,) = (each for each in expectations.lint(text).findings if each.span.line == 12)
    assert found.level is Level.WARNING
    assert found.message.endswith(", where `C.__getitem__` changes nothing of that")


def test_a_method_of_a_class_that_is_replaced_changes_the_rules_for_all_entry_points() -> None:
    text = (
        "import torch\nfrom elsewhere import other\n\n\nclass C:\n    def same(self):\n        pass\n\n"
        "    def trained(self):\n        torch.ones(3).sum().backward()\n\n\n{}\n"
    )
    for last, level in (("C.same = other(C.same)", Level.WARNING), ("C.same = 3", Level.ERROR)):
        (found,) = (each for each in expectations.lint(text.format(last)).findings if each.span.line == 10)
        assert found.level is level


def test_what_is_supposed_is_the_one_condition_that_is_named() -> None:
    text = """
import torch
from somelib import text
from torch import nn
from torch.nn import functional as F


class Settings:
    def __init__(self, width=3):
        self.width = width
        self.rate = 0.0


class Attention(nn.Module):
    def __init__(self, config, window):
        super().__init__()
        self.linear = nn.Linear(config.width, config.width)
        self.rate = config.rate

    def forward(self, x):
        weights = torch.softmax(self.linear(x), dim=-1)
        kept = F.dropout(weights, p=self.rate, training=self.training)
        kept.clamp_(min=0.1)
        return kept @ x


class Block(nn.Module):
    def __init__(self, config: Settings):
        super().__init__()
        self.attention = text("Attention")(config, 2)


{}
"""
    assert _told(text.format("exec(text)")) == _told(text.format("")) == [("TLN201", "warning", ["branch"])]
