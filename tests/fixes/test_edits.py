"""Edits of nodes become edits of text: layout, comments, blocks, imports."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.fixes.edits import EditError, apply, clash, resolve
from torchlint.rule import Edit, Fix, TextEdit
from torchlint.syntax.tree import Source, Span, walk


def _statement(source: Source, starts: str) -> cst.CSTNode:
    """The innermost statement line or compound statement whose code starts so."""
    found = [
        node
        for node in walk(source.module)
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement)
        and _text(source, node).startswith(starts)
    ]
    return found[-1]


def _text(source: Source, node: cst.CSTNode) -> str:
    span = source.span(node)
    return source.lines[span.line - 1][span.column - 1 :]


def _fixed(text: str, *edits: tuple[str, str], imports: tuple[str, ...] = (), safe: bool = True) -> tuple[str, bool]:
    source = Source.parse("x.py", text)
    fix = Fix("fix it", tuple(Edit(_statement(source, starts), new) for starts, new in edits), safe, imports)
    resolved = resolve(source, fix)
    return apply(text, resolved.edits), resolved.safe


@pytest.mark.parametrize(
    ("text", "starts", "new", "result"),
    [
        ("x = 1\n", "x", "y = 2", "y = 2\n"),
        ("# a\nx = 1  # b\n# c\n", "x", "y = 2", "# a\ny = 2  # b\n# c\n"),
        ("def f():\n    x = 1  # b\n", "x", "with g:\n    y = 2", "def f():\n    with g:\n        y = 2  # b\n"),
        ("def f():\n\tx = 1\n", "x", "with g:\n    y = 2", "def f():\n\twith g:\n\t\ty = 2\n"),
        ("if a:\r\n  x = 1\r\n", "x", "with g:\n    y = 2", "if a:\r\n  with g:\r\n    y = 2\r\n"),
        ("if a:\n    x = 1", "x", "y = 1\nz = 2", "if a:\n    y = 1\n    z = 2"),
        ("if a:\n    x = 1\n", "x", 's = """\nq\n"""\ny', 'if a:\n    s = """\nq\n"""\n    y\n'),
        (
            "if a:\n    x = f(\n        1,\n    )\n",
            "x",
            "y = f(\n        1,\n    )",
            "if a:\n    y = f(\n        1,\n    )\n",
        ),
        ("x = 1; y = 2\n", "x", "z", "z\n"),
        ("for p in q:\n    x = 1  # c\nz = 1\n", "for", "y()", "y()  # c\nz = 1\n"),
    ],
)
def test_statements_are_replaced_in_their_layout(text: str, starts: str, new: str, result: str) -> None:
    assert _fixed(text, (starts, new))[0] == result


@pytest.mark.parametrize(
    ("text", "starts", "result"),
    [
        ("x = 1\ny = 2\n", "x", "y = 2\n"),
        ("y = 2\nx = 1", "x", "y = 2\n"),
        ("y = 2\r\nx = 1\r\nz\r\n", "x", "y = 2\r\nz\r\n"),
        ("if a:\n    x = 1\n", "x", "if a:\n    pass\n"),
        ("if a:\n    x = 1  # why\n", "x", "if a:\n    pass  # why\n"),
        ("if a:\n    x = 1  # why\n    y = 2\n", "x", "if a:\n    # why\n    y = 2\n"),
        ("# before\nx = 1\n", "x", "# before\n"),
        ("x = f(\n    1,\n)\ny\n", "x", "y\n"),
        ("a\nfor p in q:\n    r\n    s\nz\n", "for", "a\nz\n"),
    ],
)
def test_statements_are_removed(text: str, starts: str, result: str) -> None:
    assert _fixed(text, (starts, ""))[0] == result


def test_a_block_emptied_by_several_edits_keeps_one_pass() -> None:
    text = "if a:\n    x = 1\n    y = 2\nz\n"
    assert _fixed(text, ("x", ""), ("y", ""))[0] == "if a:\n    pass\nz\n"


def test_expressions_and_small_statements() -> None:
    text = "a = (f(x)); b = 1\n"
    source = Source.parse("x.py", text)
    call = next(node for node in walk(source.module) if isinstance(node, cst.Call))
    second = [node for node in walk(source.module) if isinstance(node, cst.Assign)][1]
    fix = Fix("fix it", (Edit(call, "g(y)"), Edit(second, "")), safe=True)
    assert apply(text, resolve(source, fix).edits) == "a = g(y); pass\n"


@pytest.mark.parametrize(
    ("text", "new", "result"),
    [
        ("y = (a + b).sum()\n", "f(a)", "y = f(a).sum()\n"),
        ("y = ((a + b))\n", "f(a)", "y = f(a)\n"),
        ("y = ((a + b))\n", "(f(a))", "y = (f(a))\n"),
        ("y = (a + b) ** 2\n", "a - b", "y = (a - b) ** 2\n"),
        ("y = (a\n     + b)\n", "f(a)", "y = f(a)\n"),
        ("y = (  # why\n    a + b\n)\n", "f(a)", "y = (  # why\n    f(a)\n)\n"),
        ("y = 1 if(a + b)else 2\n", "f(a)", "y = 1 if(f(a))else 2\n"),
    ],
)
def test_parentheses_go_where_nothing_needs_them(text: str, new: str, result: str) -> None:
    source = Source.parse("x.py", text)
    node = next(node for node in walk(source.module) if isinstance(node, cst.BinaryOperation) and node.lpar)
    assert apply(text, resolve(source, Fix("fix it", (Edit(node, new),), True)).edits) == result


def test_lines_are_put_before_a_statement() -> None:
    text = "class C:\n    # why\n    def f(self,\n          x):\n            return x  # x\n"
    source = Source.parse("x.py", text)
    fix = Fix("decorate it", (Edit(_statement(source, "def"), "@staticmethod", before=True),), True)
    resolved = resolve(source, fix)
    assert resolved.safe
    assert apply(text, resolved.edits) == text.replace("    def", "    @staticmethod\n    def")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("try:\n    x = 1\nexcept E:\n    pass\n", False),
        ("try:\n    pass\nexcept E:\n    x = 1\n", True),
        ("try:\n    x = 1\nfinally:\n    pass\n", True),
        ("with raises(E):\n    x = 1\n", False),
        ("with torch.no_grad():\n    x = 1\n", True),
        ("def f():\n    x = 1\ntry:\n    f()\nexcept E:\n    pass\n", False),
        ("def f():\n    x = 1\n", True),
    ],
)
def test_what_is_expected_to_fail_is_not_cured_safely(text: str, safe: bool) -> None:
    source = Source.parse("x.py", text)
    edits = (Edit(_statement(source, "x = 1"), "y"),)
    assert resolve(source, Fix("fix it", edits, True, mends=True)).safe is safe
    assert resolve(source, Fix("fix it", edits, True)).safe


def test_a_small_statement_on_its_own_is_its_line() -> None:
    text = "if a:\n    x = 1\n    y\n"
    source = Source.parse("x.py", text)
    assign = next(node for node in walk(source.module) if isinstance(node, cst.Assign))
    assert apply(text, resolve(source, Fix("fix it", (Edit(assign, ""),), safe=True)).edits) == "if a:\n    y\n"


@pytest.mark.parametrize(
    ("text", "new", "safe"),
    [
        ("x = f(  # why\n    1)\n", "x = g(1)", False),
        ("x = f(  # why\n    1)\n", "x = g(  # why\n    1)", True),
        ("# why\nx = f(1)  # why not\n", "x = g(1)", True),
    ],
)
def test_a_fix_that_loses_a_comment_is_not_safe(text: str, new: str, safe: bool) -> None:
    assert _fixed(text, ("x", new))[1] is safe


@pytest.mark.parametrize(
    ("text", "line", "result"),
    [
        ("import torch\nx\n", "import torch", "import torch\nx\n"),
        ("import torch.nn\nx\n", "import torch", "import torch.nn\nx\n"),
        ("import torch.nn as nn\nx\n", "import torch", "import torch.nn as nn\nimport torch\nx\n"),
        ("from torch.nn import functional as F\nx\n", "import torch.nn.functional as F", None),
        ("import numpy as np\nx\n", "import numpy", "import numpy as np\nimport numpy\nx\n"),
        ("from a import b\nx\n", "from a import b", None),
        ("from a import b as c\nx\n", "from a import b", "from a import b as c\nfrom a import b\nx\n"),
        ('"""doc"""\nx\n', "import torch", '"""doc"""\n\nimport torch\nx\n'),
        ("# head\n\n# own\nx\n", "import torch", "# head\n\nimport torch\n# own\nx\n"),
        (
            "from __future__ import annotations\nx\n",
            "import torch",
            "from __future__ import annotations\nimport torch\nx\n",
        ),
        ("import a\nx\nimport b\n", "import torch", "import a\nimport torch\nx\nimport b\n"),
        ("import a", "import torch", "import a\nimport torch"),
        ("from a import (\n    b,\n)\nx\n", "import c", "from a import (\n    b,\n)\nimport c\nx\n"),
        ("def f():\n    import torch\n", "import torch", "import torch\ndef f():\n    import torch\n"),
        ("import a\r\nx\r\n", "import torch", "import a\r\nimport torch\r\nx\r\n"),
    ],
)
def test_imports_are_added_where_missing(text: str, line: str, result: str | None) -> None:
    source = Source.parse("x.py", text)
    resolved = resolve(source, Fix("fix it", (), safe=True, imports=(line,)))
    assert apply(text, resolved.edits) == (text if result is None else result)


def test_overlapping_edits_are_refused() -> None:
    source = Source.parse("x.py", "x = f(1)\n")
    call = next(node for node in walk(source.module) if isinstance(node, cst.Call))
    with pytest.raises(EditError, match="overlap"):
        resolve(source, Fix("fix it", (Edit(call, "g"), Edit(source.module.body[0], "y")), safe=True))


def test_strange_nodes_are_refused() -> None:
    source = Source.parse("x.py", "x = f(1)\n")
    with pytest.raises(EditError, match="not in this file"):
        resolve(source, Fix("fix it", (Edit(cst.Name("x"), "y"),), safe=True))


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (Span(1, 1, 1, 5), Span(1, 5, 1, 9), False),
        (Span(1, 1, 1, 5), Span(1, 4, 1, 9), True),
        (Span(1, 1, 3, 1), Span(2, 1, 2, 4), True),
        (Span(1, 1, 1, 5), Span(1, 1, 1, 5), True),
        (Span(1, 3, 1, 3), Span(1, 3, 1, 3), False),
        (Span(1, 3, 1, 3), Span(1, 1, 1, 5), True),
        (Span(1, 1, 1, 1), Span(1, 1, 1, 5), False),
        (Span(1, 5, 1, 5), Span(1, 1, 1, 5), False),
    ],
)
def test_clash(first: Span, second: Span, together: bool) -> None:
    assert clash(TextEdit(first, "a"), TextEdit(second, "b")) is together
    assert clash(TextEdit(second, "b"), TextEdit(first, "a")) is together


def test_equal_insertions_are_made_once() -> None:
    insertion = TextEdit(Span(2, 1, 2, 1), "import torch\n")
    assert apply("a\nb\n", [insertion, insertion, TextEdit(Span(1, 1, 1, 2), "c")]) == "c\nimport torch\nb\n"
