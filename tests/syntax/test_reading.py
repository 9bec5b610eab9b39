"""A file whose functions are read one by one is the same program, at the same places, as one that is read at once."""

from __future__ import annotations

import ast
import warnings
from dataclasses import asdict
from pathlib import Path

import libcst as cst
import pytest

from torchlint.syntax import ir
from torchlint.syntax.lowering import lower_ast
from torchlint.syntax.place import NodeWantedError, is_place, key
from torchlint.syntax.reading import differentiates, written, written_in
from torchlint.syntax.spelling import is_of_backward
from torchlint.syntax.text import NEWLINE
from torchlint.syntax.tree import children

ROOT = Path(__file__).parents[2]
SNIPPETS = Path(__file__).with_name("lowering_snippets.txt").read_text(encoding="utf-8").rstrip("\n").split("\n---\n")


def both(text: str) -> tuple[ir.Program, ir.Program]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lower_ast(ast.parse(text), text), lower_ast(ast.parse(text), text, lazily=True)


def hold(one: object, other: object, lines: list[str]) -> None:
    """Raise unless two pieces are the same, at the same places."""
    if isinstance(one, list):
        assert isinstance(other, list)
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            hold(left, right, lines)
    elif isinstance(one, ir.Node):
        assert type(one) is type(other)
        if isinstance(one, ir.FunctionDef):
            assert isinstance(other, ir.FunctionDef)
            assert one.assigned == other.assigned
            assert other.written is not None
            assert asdict(written(one)) == asdict(other.written)
        for name in ("origin", "line") if isinstance(one, ir.Statement) else ("origin",):
            left, right = getattr(one, name), getattr(other, name)
            assert type(left) is type(right)
            assert key(left, lines) == key(right, lines)
        for name in ir.named(type(one)):
            if name != "held":
                hold(getattr(one, name), getattr(other, name), lines)
    else:
        assert type(one) is type(other)
        assert repr(one) == repr(other) if isinstance(one, float | complex) else one == other


def check(text: str) -> None:
    hold(*both(text), NEWLINE.split(text))


@pytest.mark.parametrize("text", SNIPPETS, ids=lambda text: text.strip().partition("\n")[0][:40])
def test_snippet(text: str) -> None:
    check(text + "\n")


def _files() -> list[Path]:
    return sorted((ROOT / "torchlint" / "model").rglob("*.py")) + sorted((ROOT / "tests" / "cases").glob("*.py"))


@pytest.mark.parametrize("path", _files()[::3], ids=lambda path: "/".join(path.parts[-2:]))
def test_file_whose_functions_are_read_one_by_one(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        'class A:\r\n    def f(self):\r\n        """a\r\nb"""\r\n        return 1\r\n',
        "class A:\n\tdef f(self): return 1; return 2\n",
        "if a:\n  @b(lambda: (yield))\n  async def f(x=(y := 1), *z): await x\nelse:\n  def f(): pass",
        "def f():\n    def g():\n        global h\n        h = yield 1\n    return g\n",
        "class A:\n    def f(self):\n        return '\\\n'\n\f\n    def g(self):\n\f\n        return 2\n",
        "def f():\n    return 1 + \\\n  2\nx = 2\n",
        "class A:\n    def f(self,\n  b): return (1,\n2)\n    c = 3\n",
    ],
)
def test_function_that_is_read_by_itself(text: str) -> None:
    check(text)


def test_function_is_read_when_somebody_asks() -> None:
    function = both("def f(a):\n    b = a\n    yield b\n")[1].body[0]
    assert isinstance(function, ir.FunctionDef)
    assert function.inside is None
    assert function.assigned == {"b"}
    assert function.is_generator
    assert function.inside is not None
    assert function.body is function.inside.body


def test_a_place_is_known_by_its_class_and_identity_alone() -> None:
    first, second = (lower_ast(ast.parse("f(x)\n"), "f(x)\n").body[0] for _ in range(2))
    assert isinstance(first, ir.ExpressionStatement)
    assert isinstance(second, ir.ExpressionStatement)
    place = first.value.origin
    assert isinstance(place, cst.Call)
    assert isinstance(place, cst.BaseExpression)
    assert not isinstance(place, cst.Name)
    assert place is first.value.origin
    assert place != second.value.origin
    for look in (lambda: place.func, lambda: children(place), lambda: cst.Module([]).code_for_node(place)):
        with pytest.raises(NodeWantedError):
            look()
    assert is_place(place)


def test_what_is_written_is_the_same_whoever_asked_for_places_before() -> None:
    text = "loss = criterion(x)\nfor a in x:\n    loss = criterion(a)\n    loss.backward()\n"
    fresh, asked = both(text)[0], both(text)[0]
    for node in ir.walk(asked.body):
        assert node.origin is not None
    assert written_in(fresh.body).words == written_in(asked.body).words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    return x.exp()", False),
        ("def f(step):\n    return step", False),
        ("def f(x):\n    x.backward()", True),
        ("def f(x):\n    def g():\n        class A:\n            def h(self):\n                x.grad\n", True),
        ("@o.step\ndef f(x):\n    pass", True),
        ("def f(x=y.grad):\n    pass", True),
        ("def f(x) -> y.grad:\n    pass", True),
        ("def f(x):\n    @o.step\n    def g(y=1):\n        pass", True),
        ("def f(x):\n    return lambda y=x.grad: y", True),
    ],
)
def test_who_differentiates_is_told_by_words_as_by_the_tree(text: str, expected: bool) -> None:
    for program in both(text):
        (function,) = program.body
        assert differentiates(function) is expected
        assert any(map(is_of_backward, ir.walk(function))) is expected
