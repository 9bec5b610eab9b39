"""
Programs of any size, to see how the time for one file grows with it: large, deep, wide, and everything by the thousand.

    python -m tests.bench.growth            prints one line of JSON
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

HEAD = "import torch\nfrom torch import nn\n\nx = torch.ones(3, requires_grad=True)\nmodel = nn.Linear(3, 3)\n"


def _lines(number: int, line: str, head: str = HEAD) -> str:
    return head + "".join(f"{line.format(i=i)}\n" for i in range(number))


def _nested(number: int) -> str:
    """Blocks of 20 `if`s within each other."""
    text = HEAD
    for block in range(number // 20):
        text += "".join(f"{'    ' * depth}if x[{depth}] > {block}:\n" for depth in range(20))
        text += f"{'    ' * 20}x = x * {block}\n"
    return text


def _loops(number: int) -> str:
    """Blocks of six loops within each other."""
    text = HEAD
    for _ in range(number // 6):
        text += "".join(f"{'    ' * depth}for i{depth} in range(3):\n" for depth in range(6))
        text += f"{'    ' * 6}x = x * i0 + i5\n"
    return text


def _calls(number: int) -> str:
    """Functions, each of which calls the one before it."""
    text = HEAD + "def f0(t):\n    return t.exp()\n"
    text += "".join(f"def f{i}(t):\n    return f{i - 1}(t) * 2\n" for i in range(1, number))
    return f"{text}f{number - 1}(x).sum().backward()\n"


def _doubling(number: int) -> str:
    """Functions, each of which calls the one before it twice."""
    text = HEAD + "def f0(t):\n    return t.exp()\n"
    text += "".join(f"def f{i}(t):\n    return f{i - 1}(t) + f{i - 1}(t * 2)\n" for i in range(1, number))
    return f"{text}f{number - 1}(x).sum().backward()\n"


def _handed(number: int) -> str:
    """A long function that calls itself, handed to code that nobody knows again and again."""
    text = f"{HEAD}from elsewhere import register\ndef parse(t):\n" + "    t = parse(t)\n" * number
    return f"{text}    return t\n" + "register(parse)\n" * number


def _module(number: int) -> str:
    """A Module with many layers, all called."""
    text = f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += "".join(f"        self.layer{i} = nn.Linear(8, 8)\n" for i in range(number))
    text += "\n    def forward(self, x):\n"
    text += "".join(f"        x = torch.relu(self.layer{i}(x))\n" for i in range(number))
    return f"{text}        return x\n"


FAMILIES: dict[str, tuple[int, Callable[[int], str]]] = {
    "statements": (2500, lambda n: _lines(n, "x = x * 2")),
    "in-place statements": (1000, lambda n: _lines(n, "y{i} = x * 2; y{i}.add_(1)")),
    "attribute statements": (1000, lambda n: _lines(n, "model.weight.data.mul_({i})")),
    "branches, same condition": (250, lambda n: _lines(n, "if flag:\n    x = x * {i}", HEAD + "flag = input()\n")),
    "branches, other conditions": (250, lambda n: _lines(n, "if c[{i}]:\n    x = x * {i}", HEAD + "c = input()\n")),
    "branches within branches": (500, _nested),
    "loops one after another": (
        250,
        lambda n: _lines(n, "for i in range({i}):\n    x = x * 2\n    x.sum().backward()"),
    ),
    "loops within loops": (120, _loops),
    "backwards": (250, lambda n: _lines(n, "(x * {i}).exp().sum().backward()")),
    "backwards through one graph": (
        250,
        lambda n: _lines(n, "y.backward(retain_graph=True)", HEAD + "y = x.exp().sum()\n"),
    ),
    "saves, then one backward": (1000, lambda n: _lines(n, "x = x.exp()") + "x.sum().backward()\n"),
    "calls within calls": (40, lambda n: HEAD + f"y = {'torch.exp(' * n}x{')' * n}\n"),
    "operators in a row": (250, lambda n: HEAD + f"y = {' + '.join(['x'] * n)}\n"),
    "methods in a row": (100, lambda n: HEAD + f"y = x{'.exp()' * n}\n"),
    "functions in a row": (100, _calls),
    "functions, each calling one twice": (10, _doubling),
    "functions handed to unknown code": (250, _handed),
    "layers": (250, _module),
    "functions": (500, lambda n: _lines(n, "def f{i}(t, u):\n    t = t * u\n    t.add_(1)\n    return t")),
    "classes": (100, lambda n: _lines(n, "class C{i}(nn.Module):\n    def forward(self, x):\n        return x * 2")),
    "arms of one if": (
        250,
        lambda n: _lines(n, "elif x[0] == {i}:\n    x = x * 2", HEAD + "if x[0] > 0:\n    pass\n"),
    ),
    "tries": (250, lambda n: _lines(n, "try:\n    x = x * 2\nexcept ValueError:\n    x = x * 3")),
    "list literal": (10_000, lambda n: HEAD + f"y = torch.tensor([{', '.join(map(str, range(n)))}])\n"),
    "dictionary literal": (5000, lambda n: HEAD + "y = {" + ", ".join(f"'{i}': x" for i in range(n)) + "}\n"),
    "string literal": (250_000, lambda n: HEAD + f"y = '{'a' * n}'\n"),
    "list that grows": (500, lambda n: _lines(n, "kept.append(x * {i})", HEAD + "kept = []\n")),
    "aliases": (500, lambda n: _lines(n, "y{i} = x.detach()\nz{i} = x.view(-1)\nx.data.mul_(2)")),
}
"""Name, the size to start with, and the program of a size."""
STEPS = (1, 2, 4)


@dataclass(frozen=True)
class Growth:
    """
    How the time grows.

    Attributes
    ----------
    family
        Which kind of program.
    size
        The smallest one's.
    seconds
        At one, two and four times that size.
    """

    family: str
    size: int
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """1 for linear growth, 2 for quadratic, 0 where it is bounded: from the smallest to the largest."""
        return math.log(self.seconds[-1] / self.seconds[0]) / math.log(STEPS[-1])


def grown(family: str, times: int = 3, fraction: float = 1.0) -> Growth:
    """Lint the programs of a family; the least CPU time of several."""
    from torchlint import config
    from torchlint.lint import registry
    from torchlint.lint.engine import check_text

    rules = registry.load()
    selection = rules.select(config.Config(), config.Overrides())
    size, program = FAMILIES[family]
    size = max(2, int(size * fraction))
    seconds = []
    for step in STEPS:
        text = program(size * step)
        runs = []
        for _ in range(times):
            start = time.process_time()
            check_text("grown.py", text, rules, selection)
            runs.append(time.process_time() - start)
            if runs[-1] > 1:  # long enough to be measured once
                break
        seconds.append(min(runs))
    return Growth(family, size, tuple(seconds))


if __name__ == "__main__":
    measured = []
    for name in FAMILIES:
        measured.append(asdict(grown(name)))
        print(name, measured[-1]["seconds"], file=sys.stderr, flush=True)
    print(json.dumps(measured))
