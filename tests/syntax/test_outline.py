"""
The outline of a text against Python's own parser: without what stands in functions, it is the same tree at the same
places, or the text itself.
"""

from __future__ import annotations

import ast
import importlib.util
import sysconfig
import warnings
from pathlib import Path

import pytest

from torchlint.syntax import ir
from torchlint.syntax.lowering import UNREADABLE, program_elsewhere
from torchlint.syntax.outline import outline
from torchlint.syntax.spelling import identifier

ROOT = Path(__file__).parents[2]


def told(text: str) -> str:
    """The tree with all its places; of what stands in functions only where it begins, their ends being their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    begins: list[int] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            begins.append(min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))]))
            node.body.clear()
        pending += ast.iter_child_nodes(node)
    return ast.dump(tree, include_attributes=True) + str(begins)


LEFT_OUT = {
    "plain": "def f(x):\n    y = x + 1\n    return y\nz = 1\n",
    "in a class": "class A:\n    def f(self):\n        return 1\n\n    # about g\n    def g(self):\n        return 2\n",
    "docstring at the margin": 'def f():\n    """\ndef g():\n    pass\n"""\n    return 1\nx = 1\n',
    "head of several lines": "def f(\n    a, b=(1,\n2), *,\n    c: 'i: 3' = 4,\n) -> d[s,\nt]:\n    return a\nx = 1\n",
    "bracket at the margin": "def f():\n    return g(\n1, [\n2],\n    )\nx = 1\n",
    "closing bracket at the margin": "def f():\n    y = g(\n        1,\n)\n    return y\nx = 1\n",
    "comment at the margin": "def f():\n    y = 1\n# no end of it\n    return y  # '\nx = 1\n",
    "comment behind a string": "def f():\n    return 'a#b'  # its \"end\nx = 1\n",
    "behind a backslash": "def f():\n    y = 1 + \\\n2\n    return y\nx = 1\n",
    "nested": "def f():\n    @d\n    def g():\n        return 1\n    return g\nclass A:\n    pass\n",
    "decorated first": "def f():\n    @d\n    def g():\n        return 1\nx = 1\n",
    "async": "async def f():\n    async with a:\n        pass\nx = 1\n",
    "under if and else": "if a:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n",
    "without an end of line": "def f():\n    return 1",
    "beyond ASCII": "class A:\n    def f(self):\n        return 'größe'  # ü\n    x = 'ß'\n",
    "ends of line of Windows": "def f():\r\n    return 1\r\nx = 1\r\n",
    "string statement behind": "class A:\n    def f(self):\n        return 1\n    'about x'\n    x = 1\n",
    "raw strings": "def f():\n    return r'\\'  '\\''\nx = 1\n".replace("r'\\'  ", "r'\\\\' "),
    "f-string": 'def f(x):\n    return f\'{x!r:>{3}}\' f"""{x}\n   {{}}"""\nx = 1\n',
}


@pytest.mark.parametrize("text", LEFT_OUT.values(), ids=LEFT_OUT)
def test_left_out_and_the_same_places(text: str) -> None:
    assert outline(text) != text
    assert "return" not in outline(text)
    assert told(outline(text)) == told(text)


KEPT = {
    "one line": "def f(): return 1\nx = 1\n",
    "tabs": "def f():\n\treturn 1\n",
    "form feed": "\fdef f():\n    return 1\n",
    "string that goes on": "def f():\n    return 'a\\\nb'\nx = 1\n",
    "semicolon": "def f():\n    return 1;\nx = 1\n",
    "ends at the margin": 'def f():\n    return """\n"""\nx = 1\n',
    "quotes in the braces of an f-string": "def f(x):\n    return f'{x['#']}'\nx = 1\n",
    "no end of a string": "def f():\n    return 'a\nx = 1\n",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_kept_where_nothing_is_certain(text: str) -> None:
    assert outline(text) == text


def _places() -> list[Path]:
    torch = importlib.util.find_spec("torch")
    assert torch is not None
    assert torch.origin is not None
    return [ROOT, Path(torch.origin).parent / "nn", Path(torch.origin).parent / "optim"]


@pytest.mark.parametrize("place", [0, 1, 2], ids=["torchlint", "torch.nn", "torch.optim"])
def test_of_real_files(place: int) -> None:
    assert _differing(_places()[place]) == []


@pytest.mark.slow
def test_of_all_that_is_installed() -> None:
    assert _differing(Path(sysconfig.get_path("stdlib"))) == []


def _differing(place: Path) -> list[str]:
    found = []
    shorter = 0
    for path in sorted(place.rglob("*.py")):
        try:
            text = path.read_text(encoding="utf-8")
            expected = told(text)
        except (SyntaxError, ValueError, RecursionError, OSError):
            continue
        shorter += outline(text) != text
        if told(outline(text)) != expected:
            found.append(str(path))
    assert shorter > 10
    return found


def test_a_function_that_cannot_be_parsed_is_unknown_code() -> None:
    text = "def f(x, *y, **z):\n    print x\n\ndef g():\n    return 1\n"
    first, second = program_elsewhere(text).body
    assert isinstance(first, ir.FunctionDef)
    assert isinstance(second, ir.FunctionDef)
    (statement,) = first.body
    assert isinstance(statement, ir.Return)
    assert isinstance(statement.value, ir.Call)
    assert identifier(statement.value.function) == UNREADABLE
    assert [(each.star, identifier(each.value)) for each in statement.value.arguments] == [
        ("", "x"),
        ("*", "y"),
        ("**", "z"),
    ]
    assert isinstance(second.body[0], ir.Return)
