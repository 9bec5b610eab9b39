"""Which of the values that a file gives a name are seen from where."""

from __future__ import annotations

import ast

import pytest

from torchlint.syntax.given import Given
from torchlint.syntax.mentions import statements

TEXT = """
flag = 0

def one(x):
    flag = 1
    def inner():
        return flag
    return inner

def two(flag):
    return flag

class Kept:
    flag = 3
    other = flag

    def method(self):
        return flag

def three():
    global flag
    flag = 4

def four(): return flag

def five():
    y = flag
    def flag(): pass
"""


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (2, [0, 4]),
        (7, [1]),
        (8, [1]),
        (11, []),
        (15, [3]),
        (18, [0, 4]),
        (22, [0, 4]),
        (24, [0, 4]),
        (27, ["flag"]),
        (1000, [0, 4]),
    ],
)
def test_what_a_name_is_given_where_it_is_seen(line: int, values: list[object]) -> None:
    given: Given[object] = Given()
    every = list(statements(ast.parse(TEXT)))
    for node in every:
        given.enter(node)
    for node in every:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            given.note(node.targets[0].id, node.lineno, getattr(node.value, "value", None))
        elif isinstance(node, ast.FunctionDef):
            given.note(node.name, node.lineno, node.name)
    assert given.values("flag", line) == values
