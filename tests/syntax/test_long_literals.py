"""Tables of any length in a file: what is linted is the rest, and all of it stays in its place."""

from __future__ import annotations

import ast

import expectations
import pytest

from torchlint.syntax.long_literals import LONG, shortened

MANY = LONG // 2
SAVED = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n"
TABLES = {
    "in one line": "T = [" + "1, " * MANY + "2]",
    "a row per line": "T = [\n" + "    [1.5, -2, 'é'],\n" * MANY + "  ]",
    "words": "T = {" + ", ".join(f"'ü{number}': {number}" for number in range(MANY)) + "}",
    "words per line": "T = {\n" + ",\n".join(f"'{number}': ({number}, None)" for number in range(MANY)) + "}",
    "a tuple, inside of a call": "T = torch.tensor((" + "1, " * MANY + "2))",
    "a set": "T = {" + "1, " * MANY + "2}",
    "two, and text": "T = [[" + "1, " * MANY + "2], '''\n\n''', [" + "3, " * MANY + "4]]",
}


@pytest.mark.parametrize("table", TABLES)
def test_all_else_keeps_its_place(table: str) -> None:
    text = f"{SAVED}{TABLES[table]}; y.mul_(2)  # é\ny.sum().backward()\n"
    short = shortened(text)
    assert short.left_out
    tree = ast.parse(short.text)
    assert len(list(ast.walk(tree))) < 200
    assert [len(line) for line in short.text.splitlines()][-2:] == [len(line) for line in text.splitlines()][-2:]
    assert short.text.count("\n") == text.count("\n")
    (finding,) = expectations.lint(text, codes=["TLN201"]).findings
    lines = text.splitlines()
    assert lines[finding.span.line - 1][finding.span.column - 1 :].startswith("y.mul_(2)")


@pytest.mark.parametrize(
    "literal",
    [
        "T = [" + "1, " * 20 + "2]",
        "T = [" + "f(1), " * MANY + "2]",
        "T = [*a, " + "1, " * MANY + "2]",
        "T = {**a, " + ", ".join(f"'{number}': 1" for number in range(MANY)) + "}",
        "T = " + "1, " * MANY + "2",
        "T = '" + "1, " * MANY + "2'",
        "T = [" + "1, " * MANY,
    ],
)
def test_what_is_short_or_no_table_is_read(literal: str) -> None:
    assert shortened(literal).text == literal
    assert shortened(literal).left_out == ()


def test_no_fix_writes_what_was_not_read() -> None:
    program = SAVED + "z = torch.tensor(torch.tensor([{numbers}2.0]))\n"
    short, long = (
        expectations.lint(program.format(numbers="1.0, " * count), codes=["TLN706"]).findings for count in (2, MANY)
    )
    assert [finding.fix is None for finding in short] == [False]
    assert [finding.fix is None for finding in long] == [True]


def test_the_length_of_a_table_is_not_known() -> None:
    numbers = "0.5, " * MANY
    text = f"import torch\nfrom torch import nn\na = torch.tensor([{numbers}1.0], requires_grad=True)\n"
    text += "a.sum().backward()\nb = torch.ones(2)\n(a * a).backward()\n"
    assert [finding.code for finding in expectations.lint(text).findings] == []
