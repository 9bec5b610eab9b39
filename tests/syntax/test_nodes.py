"""The tree of which only parts are parsed has the nodes of the whole tree, at the same places."""

from __future__ import annotations

import ast
import textwrap
import warnings
from contextlib import suppress
from pathlib import Path

import libcst as cst
import pytest

from torchlint.syntax import ir, kinds
from torchlint.syntax.lowering import lower_ast
from torchlint.syntax.nodes import Nodes
from torchlint.syntax.place import NodeWantedError, key, keys
from torchlint.syntax.places import places
from torchlint.syntax.text import NEWLINE
from torchlint.syntax.tree import Source, walk

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("torchlint", "rules", "tests/cases", "tests/projects", "tests/scripts", "docs/examples")
    for path in (ROOT / folder).rglob("*.py")
)
SNIPPETS = {
    "decorated within": """\
        import torch

        class A(torch.nn.Module):
            @property
            # first
            def a(self):
                return 1

        @torch.no_grad()
        def f(x): return x

        def g(x):
            "what it does"
            return x  # of the last line
        # behind it
            # deeper behind it
        y = f(1); z = 2
    """,
    "behind a colon": "class A: x = 1\ndef f(): return A; print(1)\nasync def g():\n    return f\n",
    "named": "def \\\n  h(): pass\nasync  def g(): pass\n",
    "continued": "def f(): \\\n    return 1\nclass A(f \\\n  ):\n\tx = 1\n\ty = 2\nx = A\n",
    "strings": "def f():\n    x = '''\na\n'''\n    return \"\"\"b\n\"\"\"\ndef g():\n    pass\n",
    "Windows": "import a\r\ndef f():\r\n    x = 1\r\n\r\n    return x\r\n\r\n\r\ndef g():\r\n    return f\r\n",
    "form feed": "def f():\n    return 1\n\x0c\ndef g():\n    return 2\n",
    "no newline at the end": "def f():\n    return 1\n\n\ndef g():\n    return 2",
    "not ASCII": 'def f(): é = 1; return é\ndef g():\n    ü = "日本"\n    return ü\nx = f("é")\n',
    "conditional": "if a:\n    def f():\n        return 1\nelse:\n    class A:\n        x = 1\ndef g():\n    a\n",
}


def lowered(text: str) -> ir.Program:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lower_ast(ast.parse(text), text)


def check(path: str, text: str) -> None:
    """Ask for the parts of a file one by one, and hold each node against that of the whole tree."""
    program = lowered(text)
    whole = Source.parse(path, text)
    spans, theirs = places(whole.module), {}
    for node in walk(whole.module):
        for each in keys(node, spans):
            assert theirs.setdefault(each, node) is node, "two nodes of one key"
    parts = Nodes(path, program)
    asked = [number for number, held in enumerate(program.held) if held] or [0] * bool(program.body)
    for number in (*asked[::2], *asked[1::2]):
        for mine in ir.walk(program.body[number]):
            found = parts.find(mine.origin)  # type: ignore[arg-type]
            assert found is not None
            assert found.deep_equals(theirs[key(mine.origin, whole.lines)])  # type: ignore[arg-type]
    tree = parts.source()
    assert tree is not None
    assert (tree.module.default_indent, tree.module.default_newline) == (
        whole.module.default_indent,
        whole.module.default_newline,
    )
    assert tree.text == text
    for number, one in enumerate(ir.walk(program)):
        if isinstance(one, (ir.FunctionDef, ir.ClassDef)):
            definition, named = parts.find(one.origin), parts.find(kinds.name_of(one.at))  # type: ignore[arg-type]
            assert isinstance(definition, (cst.FunctionDef, cst.ClassDef))
            assert definition.name is named
        elif not number % 20 and isinstance(place := one.origin, cst.BaseExpression):
            at = place.at  # type: ignore[attr-defined]
            written = parts.text(place)  # type: ignore[arg-type]
            assert written == "\n".join(NEWLINE.split(ast.get_source_segment(text, at) or ""))
        found = parts.find(one.origin)  # type: ignore[arg-type]
        tree = parts.source()
        assert found is not None
        assert tree is not None
        its = theirs[key(one.origin, whole.lines)]  # type: ignore[arg-type]
        assert tree.span(found) == whole.span(its)
        with suppress(NodeWantedError):
            assert parts.span(one.origin) == whole.span(its)  # type: ignore[arg-type]
        with suppress(NodeWantedError):
            assert parts.code(one.origin) == cst.Module([]).code_for_node(its)  # type: ignore[arg-type]


def check_by_methods(path: str, text: str) -> None:
    """Ask for what stands in the methods of classes first, then for all: the nodes are those of the whole tree."""
    program = lowered(text)
    whole = Source.parse(path, text)
    spans, theirs = places(whole.module), {}
    for node in walk(whole.module):
        for each in keys(node, spans):
            theirs[each] = node
    parts = Nodes(path, program)
    classes = [each for each in program.body if isinstance(each, ir.ClassDef)]
    methods = [each for cls in classes for each in cls.body[1::3] if isinstance(each, ir.FunctionDef)]
    asked = [mine for definition in methods for mine in ir.walk(definition)]
    nodes = parts.with_nodes([(mine.origin,) for mine in asked])
    first = {id(mine): node for mine, (node,) in zip(asked, nodes, strict=True)}
    for cls in classes:
        for mine in ir.walk(cls):
            found = parts.find(mine.origin)  # type: ignore[arg-type]
            assert found is not None
            assert first.get(id(mine), found) is found
            assert found.deep_equals(theirs[key(mine.origin, whole.lines)])  # type: ignore[arg-type]
    tree = parts.source()
    assert tree is not None
    inside = set(walk(tree.module))
    for cls in classes:
        for mine in ir.walk(cls):
            found = parts.find(mine.origin)  # type: ignore[arg-type]
            assert found in inside
            assert tree.span(found) == whole.span(theirs[key(mine.origin, whole.lines)])  # type: ignore[arg-type]


@pytest.mark.parametrize("path", FILES[2::6], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_file_by_methods(path: Path) -> None:
    check_by_methods(str(path), path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet_by_methods(name: str) -> None:
    check_by_methods("x.py", textwrap.dedent(SNIPPETS[name]))


def test_of_a_class_only_the_methods_that_are_asked_for_are_parsed() -> None:
    text = "class A:\n    n = 1\n    def f(x):\n        return x + 1\n\n    @n\n    def g(x):\n        return x + 2\n"
    program = lowered(text)
    parts = Nodes("x.py", program)
    cls = program.body[0]
    assert isinstance(cls, ir.ClassDef)
    _, one, other = cls.body
    assert isinstance(one, ir.FunctionDef)
    assert isinstance(other, ir.FunctionDef)
    ((first,),) = parts.with_nodes([(one.body[0].origin,)])
    tree = parts.source()
    assert tree is not None
    assert "x + 1" in tree.module.code
    assert "n = 1" in tree.module.code
    assert "x + 2" not in tree.module.code
    assert parts.find(other.body[0].origin) is not None  # type: ignore[arg-type]
    tree = parts.source()
    assert tree is not None
    assert tree.module.code == text
    assert first in set(walk(tree.module))


@pytest.mark.parametrize("path", FILES[::6], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_file(path: Path) -> None:
    check(str(path), path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet(name: str) -> None:
    check("x.py", textwrap.dedent(SNIPPETS[name]))


def test_only_what_is_asked_for_is_parsed() -> None:
    text = "import torch\n\n\ndef f(x):\n    return x + 1\n\n\ndef g(x):\n    return x + 2\n"
    program = lowered(text)
    parts = Nodes("x.py", program)
    tree = parts.source()
    assert tree is not None
    assert "+" not in tree.module.code
    function = program.body[1]
    assert isinstance(function, ir.FunctionDef)
    parts.find(function.body[0].origin)  # type: ignore[arg-type]
    tree = parts.source()
    assert tree is not None
    assert "x + 1" in tree.module.code
    assert "x + 2" not in tree.module.code
    assert tree.text == text
    assert isinstance(parts.find(program.origin), cst.Module)  # type: ignore[arg-type]
    tree = parts.source()
    assert tree is not None
    assert tree.module.code == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\n@torch.no_grad()\ndef f():\n    return 1\n", "@torch.no_grad()\ndef f():\n    return 1"),
        ("x = 1  # one\n", "x = 1  # one"),
        ("if a:\n    é = 1; y = 'ü'  # two\n", "if a:\n    é = 1; y = 'ü'"),
    ],
)
def test_text_of_a_statement(text: str, expected: str) -> None:
    program = lowered(text)
    assert Nodes("x.py", program).text(program.body[-1].line) == expected  # type: ignore[arg-type]


def test_text_of_another_file() -> None:
    other = lowered("y = 2\n")
    assert Nodes("x.py", lowered("x = 1\n")).text(other.body[0].line) is None  # type: ignore[arg-type]


def test_the_whole_tree_where_it_is_wanted() -> None:
    text = "def f(x):\n    return x + 1\n"
    tree = Nodes("x.py", lowered(text), whole=True).source()
    assert tree is not None
    assert tree.module.code == text


def test_place_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place that many proofs have a step at is looked for in its statement once."""
    looked: list[ast.AST] = []

    def is_in(at: ast.AST, top: ast.AST, line: int) -> bool:
        looked.append(at)
        return any(each is at for each in ast.walk(top))

    monkeypatch.setattr("torchlint.syntax.nodes._is_in", is_in)
    program = lowered("x = 1\ny = f(\n    x)[0]\n")
    nodes = Nodes("x.py", program)
    assert [nodes.text(program.body[-1].line) for _ in range(3)] == ["y = f(\n    x)[0]"] * 3  # type: ignore[arg-type]
    assert len(looked) == 1
