"""What a text mentions, told without scopes: never less than what it uses."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container
from pathlib import Path
from time import process_time

import pytest

from torchlint.knowledge.api import find
from torchlint.syntax.mentions import are_spelled, lines_of, mentioned, names_of, spelled, statements
from torchlint.syntax.references import Reference, references
from torchlint.target import Target

NEEDS = ("torch.load", "torch.nn", ".data")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import torch\ntorch.load", {"torch.load"}),
        ("import torch as t\nt.nn.functional.relu(t.load)", {"torch.load", "torch.nn"}),
        ("from torch import load as l\nl", {"torch.load"}),
        ("from torch import *\n", {"torch.load", "torch.nn"}),
        ("from torch.nn import *\n", {"torch.nn"}),
        ("import torch.nn as nn", {"torch.nn"}),
        ("import torch.nn.functional", {"torch.nn"}),
        ("from torch.nn import Linear", {"torch.nn"}),
        ("def f():\n    import torch\n    torch.load", {"torch.load"}),
        ("x.y().data", {".data"}),
        ("import json\njson.load\ndata", set()),
        ("from .torch import load\nload", set()),
        ("import torch\ntorch.loads\nx.load", set()),
    ],
)
def test_mentioned(text: str, found: set[str]) -> None:
    assert mentioned(ast.parse(text), NEEDS) == found


def test_spelled() -> None:
    assert are_spelled("x.load('a')", NEEDS)
    assert are_spelled("# nn", NEEDS)
    assert not are_spelled("loads, preload, datas", NEEDS)
    assert not are_spelled("load", ())


SPELLINGS = {
    "plain": "import torch\ntorch.ger(a, b)\n",
    "on other lines": "import torch\nx = (torch  # torch.qr\n    .linalg\n    . svd(a))\ny = torch.\\\n    ger(a, b)\n",
    "in parentheses": "import torch\n(torch).ger(a, b)\n((torch.linalg)).svd(a)\n",
    "in parentheses above": "import torch\n(  # torch\n    torch\n).ger(a, b)\nf(x=torch.qr).ger\nf( torch).ger(a)\n",
    "aliases": "import torch as th\nlinear = th.linalg\nif th:\n    svd = linear.svd\ndef f(a):\n    return svd(a)\n",
    "an alias of an alias below": "import torch\ndef f(a):\n    return g(a)\nif a:\n    t = torch\ng = t.ger\n",
    "an import": "from torch import ger as outer, add\n\n\ndef f(a):\n    return outer(a, a)\n",
    "everything": "from torch import *\nger(a, b)\n",
    "a decorator": "import torch\n\n@torch.ger\ndef f():\n    pass\n",
    "a constructor": "import torch\nclass A(torch.ger):\n    def __init__(self):\n        super().__init__(size=1)\n",
    "asked": "import torch\nOLD = torch.__version__ < '1'\nif not OLD:\n    raise OSError\ntorch.ger(a, b)\n",
    "a string": "import torch\nprint(f'{torch.ger(a, b)}')\n",
    "rebound": "import torch\ndef f():\n    global torch\n    torch = None\ntorch.ger(a, b)\n",
    "provided": "import torch\ntorch.ger(a, b)\ntorch.ger = None\n",
    "assigned to itself": "import torch\na = torch\na = a.b\ntorch.ger(a, b)\n",
    "another root with its end": "import torch\nmytorch.ger(a, b); my.torch.ger(a); torch.ger(b)\n",
    "two on a line": "import torch; x = 1; torch.ger(a, b)\n",
}
WANTED = frozenset({"torch.ger", "torch.linalg.svd"})


def _both(text: str, wanted: Container[str], packages: Collection[str]) -> tuple[list[object], list[object]]:
    """What is found where it may be, and what is found by looking everywhere."""
    tree = ast.parse(text)
    names = names_of(statements(tree), packages)
    beginnings = find.beginnings() if isinstance(wanted, find.Watched) else {"torch", "torch.linalg"}
    lines = None if names is None else lines_of(spelled(text, names, wanted, beginnings), wanted)
    near, all_over = references(tree, wanted, packages, lines, text=text), references(tree, wanted, packages)
    return [_shown(each) for each in near], [_shown(each) for each in all_over]


def _shown(each: Reference) -> object:
    return each.name, each.spelled, each.node.lineno, each.node.col_offset, each.asked, each.again, each.constructs


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_names_are_found_where_they_may_be(text: str) -> None:
    near, all_over = _both(text, WANTED, {"torch"})
    assert near == all_over
    assert bool(all_over) == ("global" not in text and "ger = None" not in text)


def test_programs_name_the_same_wherever_it_is_looked_for() -> None:
    watched = find.watched(Target((1, 8)))
    texts = [path.read_text() for path in sorted(Path(__file__).parents[1].glob("cases/*.py"))]
    found = [_both(text, watched, find.PACKAGES) for text in texts]
    assert all(near == all_over for near, all_over in found)
    assert sum(len(near) for near, _ in found) > 100


def test_statements_are_those_of_a_walk() -> None:
    tree = ast.parse(
        Path(__file__).read_text() + "\nmatch a:\n    case 1:\n        b = 2\ntry:\n    c\nfinally:\n    d\n"
    )
    assert list(statements(tree)) == [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


@pytest.mark.parametrize("between", ["#" * 400, "# " * 200, "\n\n# a\n" * 100, " " * 400, "\\\n" * 200, "#\t)" * 150])
def test_what_follows_a_name_is_read_once(between: str) -> None:
    """Else a line of hashes below an import is read in as many ways as it has parts, and the file never ends."""
    text = f"import torch.nn as nn\n\n\n{between}\n# Chapter 3\nclass A(nn.Module): pass\n" + f"nn{between}\n" * 3
    names = names_of(ast.parse("import torch.nn as nn").body, ("torch",))
    assert names is not None
    begin = process_time()
    found = spelled(text, names, {"torch.nn.Module"})
    assert process_time() - begin < 1
    assert found
