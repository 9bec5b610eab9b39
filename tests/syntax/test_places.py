"""Places of nodes: libcst's own, whatever the program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from torchlint.syntax import places
from torchlint.syntax.places import Place

ROOT = Path(__file__).parents[2]
SMALL = {
    "empty": "",
    "one newline": "\n",
    "only a comment": "# nothing",
    "no newline at the end": "x = 1",
    "windows": "if x:\r\n    y = (\r\n        1,\r\n    )\r\n",
    "old mac": "x = 1\ry = 2\r",
    "form feed": "x = 1\n\x0c\ny = 2\n",
    "tabs": "if x:\n\tif y:\n\t\tz = [\n\t1]\n",
    "a string over lines": 'def f():\n    """a\n    b"""; x = f"""{\n    1}"""\n',
    "parentheses": "x = ((a) + (b))\ny = (yield)\n(a, b) = ((c), d)\n",
    "decorators and comments": "# a\n\n@one  # b\n# c\n@two\nasync def f(a, /, b: int = 1, *, c, **d) -> (int): pass\n",
    "semicolons": "x = 1; y = 2;\nif x: y = 3; z = 4\n",
    "footers": "class A:\n    def f(self): ...\n    # in A\n# in the module\n",
    "wide": "ä = '日本' + \"\U0001f600\"; b = ä\n",
    "continued": "x = 1 + \\\n    2\nassert x, \\\n  y\n",
    "a match": "match x:\n    case [1, *_] | {'a': b, **c} if (d): pass\n    case A(b=1) as e: pass\n",
    "everything else": (
        "from . import (a, b as c,)\nimport d.e as f\nglobal g\nx: int\nx @= lambda *a, b=1: {**a, b: c}\n"
        "del (x), y\nwith (a as b, c): pass\ntry: pass\nexcept* (A, B) as e: raise C from d\nfinally: pass\n"
        "for x, in y: break\nelse: continue\nwhile not (x): pass\n[x async for x in y if z if w]\nprint(*a, **b)\n"
        "a[1:2, ::3, ...] = b if c else d\na < b <= c not in d is not e\nif (n := 1): pass\nelif x: pass\nelse: pass\n"
        "type X[T: int, *U, **V] = int\ndef g[T](): return\nx = -1j ** ~2\nawait x\n"
    ),
}


def _programs() -> Iterator[str]:
    for folder in ("torchlint", "rules", "tests/cases"):
        for path in sorted((ROOT / folder).rglob("*.py"))[::5]:
            yield path.read_text(encoding="utf-8")


def _libcst(module: cst.Module) -> dict[cst.CSTNode, Place]:
    found = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {node: (at.start.line, at.start.column, at.end.line, at.end.column) for node, at in found.items()}


@pytest.mark.parametrize("name", SMALL)
def test_small_programs(name: str) -> None:
    module = cst.parse_module(SMALL[name])
    assert places.places(module) == _libcst(module)


def test_real_programs() -> None:
    count = 0
    for text in _programs():
        module = cst.parse_module(text)
        found = places.places(module)
        assert found == _libcst(module)
        count += len(found)
    assert count > 100_000


def test_another_libcst(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose trees do not write as we know it has its own provider asked."""
    module = cst.parse_module("x = (1)\n")
    expected = places.places(module)
    monkeypatch.delattr(places._Writing, "add_token")
    assert places.places(module) == expected
