"""
The two lowerings against each other: the same program, node by node, whichever parser it came from, and an `Unparsed`
that claims to be the class of the node it stands for.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import asdict
from pathlib import Path

import libcst as cst
import pytest

from torchlint.syntax import ir
from torchlint.syntax.features import written
from torchlint.syntax.lowering import lower_ast
from torchlint.syntax.lowering_libcst import lower
from torchlint.syntax.tree import TreeNeededError, Unparsed, children, unparsed

ROOT = Path(__file__).parents[2]
SNIPPETS = Path(__file__).with_name("lowering_snippets.txt").read_text(encoding="utf-8").rstrip("\n").split("\n---\n")
UNSURE = (cst.BaseString, cst.BaseExpression)
"""What is claimed where Python's tree does not tell `"a" "b"` from `"ab"`, or `x[(a), (b)]` from `x[((a), (b))]`."""


def both(text: str, *, lazily: bool = False) -> tuple[ir.Program, ir.Program]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lower(cst.parse_module(text), text), lower_ast(ast.parse(text), text, lazily=lazily)


def hold(one: object, other: object, stands_for: dict[int, object]) -> None:
    """Raise unless two pieces are the same; `stands_for`: id of a CST node → its `Unparsed`."""
    if isinstance(one, list):
        assert isinstance(other, list)
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            hold(left, right, stands_for)
    elif isinstance(one, ir.Node):
        assert type(one) is type(other)
        if isinstance(one, ir.FunctionDef):
            assert isinstance(other, ir.FunctionDef)
            assert one.assigned == other.assigned
            assert other.written is not None
            assert asdict(written(one)) == asdict(other.written)
        for name in ("origin", "line") if isinstance(one, ir.Statement) else ("origin",):
            left, right = getattr(one, name), getattr(other, name)
            claimed = type(right).unparsed
            assert claimed is type(left) or (claimed in UNSURE and isinstance(left, claimed)), (left, claimed)
            assert stands_for.setdefault(id(left), right) is right or claimed in UNSURE, f"shared: {left}"
        for name in ir.named(type(one)):
            if name != "held":
                hold(getattr(one, name), getattr(other, name), stands_for)
    else:
        assert type(one) is type(other)
        assert repr(one) == repr(other) if isinstance(one, float | complex) else one == other


@pytest.mark.parametrize("lazily", [False, True], ids=["at once", "lazily"])
@pytest.mark.parametrize("text", SNIPPETS, ids=lambda text: text.strip().partition("\n")[0][:40])
def test_snippet(text: str, lazily: bool) -> None:
    hold(*both(text + "\n", lazily=lazily), {})


@pytest.mark.parametrize(
    "text",
    [
        "if (a\n    ): b; c\nelse: d\n",
        "x = (1,\n     2); y = 3\nz = 4\n",
        "for i in x: i; j\n",
        "class A: b = 1; c = 2\n",
        "try: a; b\nexcept E: c\nfinally: d; e\n",
        "def f(): return 1; return 2\n",
        "if é: x; y\n",
        "x[(a), b], x[a, (b)], x[(a), (b)], x[((a), (b))], x[(a, b)], x[()], x[a,], x[*a], x[(*a, b)]\n",
        'x[a, "é", (b)]\n',
    ],
    ids=lambda text: text.partition("\n")[0],
)
def test_place(text: str) -> None:
    hold(*both(text), {})
    hold(*both(text, lazily=True), {})


def _files() -> list[Path]:
    return sorted((ROOT / "torchlint" / "model").rglob("*.py")) + sorted((ROOT / "tests" / "cases").glob("*.py"))


@pytest.mark.parametrize("path", _files(), ids=lambda path: "/".join(path.parts[-2:]))
def test_file(path: Path) -> None:
    hold(*both(path.read_text(encoding="utf-8")), {})


@pytest.mark.parametrize("path", _files(), ids=lambda path: "/".join(path.parts[-2:]))
def test_file_whose_functions_are_read_one_by_one(path: Path) -> None:
    hold(*both(path.read_text(encoding="utf-8"), lazily=True), {})


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
    hold(*both(text, lazily=True), {})


def test_function_is_read_when_somebody_asks() -> None:
    function = both("def f(a):\n    b = a\n    yield b\n", lazily=True)[1].body[0]
    assert isinstance(function, ir.FunctionDef)
    assert function.inside is None
    assert function.assigned == {"b"}
    assert function.is_generator
    assert function.inside is not None
    assert function.body is function.inside.body


def test_what_stands_for_a_node_is_known_by_its_class_and_identity_alone() -> None:
    place = unparsed(cst.Call)()
    assert isinstance(place, cst.Call)
    assert isinstance(place, cst.BaseExpression)
    assert not isinstance(place, cst.Name)
    assert place in {place}
    assert place != unparsed(cst.Call)()
    for look in (lambda: place.func, lambda: children(place), lambda: cst.Module([]).code_for_node(place)):
        with pytest.raises(TreeNeededError):
            look()
    assert issubclass(type(place), Unparsed)
