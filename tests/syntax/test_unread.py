"""What the text of a function that nobody has read yet tells: a no is certain, a yes means that it must be read."""

from __future__ import annotations

import ast

import pytest

from torchlint.syntax import ir
from torchlint.syntax.lowering import lower_ast
from torchlint.syntax.reading import written
from torchlint.syntax.unread import may_name, may_write

TEXT = '''
class Net:
    def reset(self):
        """Empty the cache."""
        self . cache = None

    def freeze_all(self):
        self.net.requires_grad_(False)

    def größe(self):
        self.ﬁrst = 1
'''


def _method(number: int) -> ir.FunctionDef:
    (statement,) = lower_ast(ast.parse(TEXT), TEXT, lazily=True).body
    assert isinstance(statement, ir.ClassDef)
    found = statement.body[number]
    assert isinstance(found, ir.FunctionDef)
    return found


@pytest.mark.parametrize(
    ("number", "names", "may"),
    [(0, {"cache"}, True), (0, {"ache", "net"}, False), (1, {"net"}, True), (2, {"first"}, True)],
)
def test_name_in_text(number: int, names: set[str], may: bool) -> None:
    method = _method(number)
    assert may_name(method, names) is may
    assert method.inside is None  # for this it is not read
    assert may or names.isdisjoint(written(method).assigned)


def test_part_of_name_in_text() -> None:
    assert may_write(_method(1), ("requires_grad",))
    assert not may_write(_method(0), ("requires_grad", "freeze"))


def test_of_what_is_read_the_answer_is_yes() -> None:
    method = _method(0)
    assert "cache" in written(method).assigned
    assert may_name(method, {"net"})
    assert may_write(method, ("freeze",))
