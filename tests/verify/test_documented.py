"""What a project says of how its classes and functions are called is what they are driven with."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest

from torchlint.verify.documented import Called, Example, Made, examples, shapes
from torchlint.verify.protocol import Request
from torchlint.verify.server import shared

HEAD = "import torch\nfrom torch import nn\n"
DOCTEST = '''
    class Patches(nn.Module):
        """
        Example:
            >>> net = Patches(12, kinds=[3, 5])
            >>> x = torch.randn(2, 4, 12).to("cuda")
            >>> net(x).shape
        """
        def __init__(self, size, kinds):
            super().__init__()
            self.linear = nn.Linear(size, kinds[0] * kinds[1])
        def forward(self, x):
            assert x.shape[1] == 4
            return self.linear(x)
    '''


def example_of(text: str, name: str, method: str = "") -> list[Example]:
    return list(examples(name, method, iter([textwrap.dedent(text)])))


def test_a_doctest_shows_both_calls() -> None:
    construction = Called((12,), (("kinds", [3, 5]),))
    assert example_of(DOCTEST, "Patches") == [
        Example(construction, construction),
        Example(construction, Called((Made((2, 4, 12), False),), ())),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "size = 6\nnet = Net(size)\nnet = net.eval()\nx = torch.randint(0, 9, (2, size))\nnet(x)\n",
        "def test():\n    model = Net(6).cuda()\n    model.forward(torch.zeros((2, 6)).long())\n",
        '"""Use it so::\n\n    net = Net(6)\n    net(torch.randint(9, (2, 6)))\n\nOr not.\n"""\n',
        "# Title\n\n```python\nnet = Net(6)\nout = net(torch.randint(low=0, high=9, size=(2, 6)))\n```\nor not\n",
    ],
)
def test_a_call_and_its_shape_are_found(text: str) -> None:
    calls = [each.call for each in example_of(text, "Net") if each.call != each.construction]
    assert [call.positional[0].shape for call in calls if call] == [(2, 6)]


def test_long_documentation_costs_little() -> None:
    lines = "    words of a list that goes on\n\n  \n\t and on\n" * 2000 + "about Net(3)\n"
    begun = time.process_time()
    assert [each.construction for each in example_of(lines, "Net")] == [Called((3,), ())]
    assert time.process_time() - begun < 5


def test_what_is_not_shown_is_left_open() -> None:
    (found,) = example_of("net = Net(width, depth=2, rate=config.rate)\n", "Net")
    assert found.construction == Called((...,), (("depth", 2), ("rate", ...)))


def test_shapes_of_documentation_and_comments() -> None:
    def attend(query, keys, labels, other):  # type: ignore[no-untyped-def]
        """
        Attend.

        Args:
            query (torch.Tensor): of shape (B, T, dim).
            keys: the keys, [batch, 7, dim]
            other: nothing (default, unused)
        """
        found = labels  # (B, C)
        return found, query, keys, other

    assert shapes(attend, ("query", "keys", "labels", "other"), {"dim": 32}) == {
        "query": (2, 5, 32),
        "keys": (2, 7, 32),
        "labels": (2, 8),
    }


def driven(text: str, name: str, path: str = "snippet.py") -> str:
    outcome = shared().run(Request(text=HEAD + textwrap.dedent(text), path=path, module=name, timeout=20.0))
    assert outcome.ending == "ended", outcome.note
    return outcome.driven


def test_an_example_is_followed() -> None:
    assert driven(DOCTEST, "Patches") == "`Patches(size=12, kinds=[3, 5])` called with `x` of shape (2, 4, 12)"


def test_an_example_of_another_file_is_followed(tmp_path: Path) -> None:
    text = """
    class Net(nn.Module):
        def __init__(self, table):
            super().__init__()
            self.linear = nn.Linear({3: 11}[table["deep"][0]], 2)
        def forward(self, x):
            return self.linear(x)
    """
    (tmp_path / "net.py").write_text(HEAD + textwrap.dedent(text))
    (tmp_path / "README.md").write_text("```\nnet = Net({'deep': [3, 11]})\nnet(torch.rand(4, 11))\n```\n")
    assert "(4, 11)" in driven(text, "Net", str(tmp_path / "net.py"))


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (
            "class Block(nn.Module):\n    expansion = 3\n    def __init__(self, n):\n        super().__init__()\n"
            "        self.linear = nn.Linear(n, n * self.expansion)\n"
            "    def forward(self, x):\n        return self.linear(x)\n"
            "class Net(nn.Module):\n    def __init__(self, block, n):\n        super().__init__()\n"
            "        self.body = block(n)\n        self.head = nn.Linear(n * block.expansion, 2)\n"
            "    def forward(self, x):\n        return self.head(self.body(x))\n",
            "Net",
            "block=",
        ),
        (
            "class Sum(nn.Module):\n    def forward(self, *parts):\n"
            "        a, b, c = parts\n        return a + b + c\n",
            "Sum",
            "`*parts2`",
        ),
        ("def f(x):\n    import nobody_has_this\n    return nobody_has_this.scaled(x) * 2\n", "f", "nobody_has_this"),
        (
            "class Fitted:\n    def __init__(self):\n        self.basis = None\n"
            "    def apply(self, x):\n        return torch.relu(x) @ self.basis\n",
            "Fitted.apply",
            "what nothing is known of",
        ),
        (
            "class Late(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.n = n\n"
            "    def prepare(self):\n        self.scale = torch.ones(self.n)\n"
            "    def forward(self, x):\n        return x * self.scale.sum()\n",
            "Late",
            "what nothing is known of",
        ),
        (
            "class Held:\n    def __init__(self, path):\n        raise RuntimeError(path)\n"
            "    def apply(self, x):\n        b, c, h, w = self.kernel.shape\n"
            "        return x.sum() * self.kernel.view(b, -1)\n",
            "Held.apply",
            "`self.kernel` of shape (2, 8, 8, 8)",
        ),
        ("def f(x):\n    return x * 2\n@f(None)\ndef g(x):\n    return x\n", "g", "what line 5 does"),
        (
            "def first(parts: list[torch.Tensor], more):\n    return parts[4].sum() * more[3]\n",
            "first",
            "`parts` (tensors)",
        ),
        (
            "def norm(box):\n    scaled = box\n    x, y, z = scaled.unbind(-1)\n    return x + y * z\n",
            "norm",
            "(2, 3)",
        ),
        (
            "def store(x, path):\n    name = (path / 'part').with_suffix('.txt')\n    return x * len(str(name))\n",
            "store",
            "`path` (path)",
        ),
    ],
)
def test_is_driven(text: str, name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text(HEAD + textwrap.dedent(text))
    assert words in driven(text, name, str(tmp_path / "file.py"))
