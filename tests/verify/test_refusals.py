"""What a program's own refusals say of its arguments is what it is driven with next; what it lacks is made up."""

from __future__ import annotations

import copy
import textwrap
from pathlib import Path

import pytest
import torch

from torchlint.verify import refusals
from torchlint.verify.anything import AnyTensor, Anything
from torchlint.verify.machine import OnThisMachine
from torchlint.verify.protocol import STOOD_IN, Outcome, Request
from torchlint.verify.server import shared

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def driven(text: str, name: str, path: str = "snippet.py") -> Outcome:
    return shared().run(Request(text=HEAD + textwrap.dedent(text), path=path, module=name, timeout=20.0))


def of_file(folder: Path, files: dict[str, str], file: str, name: str) -> Outcome:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(textwrap.dedent(text), encoding="utf-8")
    text = (folder / file).read_text(encoding="utf-8")
    return shared().run(Request(text=text, path=str(folder / file), module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "def f(u, v):\n    assert u.dim() == 3 and v.dim() == 3\n    assert u.shape[1] == 7\n"
            "    return torch.cat([u, v[:, :7]]).sum()\n",
            "f",
        ),
        (
            "def f(z):\n    b, c, h = z.shape\n    if c != 5:\n        raise ValueError('no')\n    return z.sum()\n",
            "f",
        ),
        (
            "RATES = {'half': 0.5, 'full': 1.0}\ndef f(z, how):\n    return z * RATES[how]\n",
            "f",
        ),
        (
            "def f(z, how):\n    if how == 'twice':\n        return z * 2\n"
            "    elif how == 'once':\n        return z * 1\n"
            "    else:\n        raise NotImplementedError(how)\n",
            "f",
        ),
        (
            "KINDS = ('sum', 'mean')\nclass Net(nn.Module):\n    def __init__(self, kind):\n"
            "        super().__init__()\n"
            "        if kind not in KINDS:\n            raise ValueError(kind)\n        self.kind = kind\n"
            "    def forward(self, x):\n        return getattr(x, self.kind)()\n",
            "Net",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
            "        assert config.flavour in ('sweet', 'sour')\n        self.flavour = config.flavour\n"
            "    def forward(self, x):\n        return x * len(self.flavour)\n",
            "Net",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self, width, parts):\n        super().__init__()\n"
            "        if not isinstance(parts, (list, tuple)):\n            raise TypeError('parts')\n"
            "        assert len(parts) == 3\n        self.a = nn.Linear(width, len(parts))\n"
            "    def forward(self, x):\n        return self.a(x)\n",
            "Net",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.words, self.facts = nn.Embedding(5, 6), nn.Linear(9, 6)\n"
            "    def forward(self, given):\n"
            "        return self.words(given['first']) + self.facts(given['second'])\n",
            "Net",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self, block, counts, norm_layer):\n        super().__init__()\n"
            "        self.parts = nn.ModuleList([block(8, norm_layer(8)) for _ in range(counts[0])])\n"
            "        self.last = nn.Linear(8 * block.expansion, 2)\n"
            "    def forward(self, x):\n        for part in self.parts:\n            x = part(x)\n"
            "        return self.last(x)\n",
            "Net",
        ),
        (
            "class Net(nn.Module):\n    def part(self, x):\n        raise NotImplementedError\n"
            "    def forward(self, x):\n        return self.part(x) * 2\n",
            "Net",
        ),
        ("def f(z):\n    a, b, c, d, e, g, h = z\n    return a + b + c + d + e + g + h\n", "f"),
        (
            "class Net(nn.Module):\n    def __init__(self, *args, **kwargs):\n        super().__init__()\n"
            "        self.build(*args, **kwargs)\n    def build(self, width, scale):\n"
            "        self.a = nn.Linear(width, 2)\n        self.scale = scale\n"
            "    def forward(self, x):\n        return self.a(x) * self.scale\n",
            "Net",
        ),
        (
            "import functools\n@functools.lru_cache\ndef f(place):\n    assert place == 5\n"
            "    return torch.ones(place)\n",
            "f",
        ),
        ("def f(z, num_parts):\n    return z * torch.lgamma(num_parts)\n", "f"),
        (
            "class Net(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
            "        self.a = nn.Parameter(torch.exp(width))\n"
            "    def forward(self, x):\n        return x * self.a.sum()\n",
            "Net",
        ),
        (
            "def f(z):\n    torch.cuda.synchronize()\n    return z * (1 + torch.cuda.max_memory_allocated('cuda:0'))\n",
            "f",
        ),
        ("def f(z, opt):\n    opt.step\n    return z * opt.how_much\n", "f"),
    ],
)
def test_a_refusal_says_what_is_wanted(text: str, name: str) -> None:
    outcome = driven(text, name)
    assert outcome.ending == "ended", outcome


def test_what_further_calls_show_is_followed_first() -> None:
    """All come to one line, and no further; how far they came inside shows in what torch did."""
    text = """
        def inner(a, b):
            a = F.conv2d(a, torch.ones(1, 1, 3, 3))
            b = F.conv2d(b, torch.ones(1, 1, 3, 3))
            return F.conv2d(a * b, torch.ones(1, 1, 9, 9)).sum()
        def f(a, b): return inner(a, b)
        """
    outcome = driven(text, "f")
    assert outcome.ending == "ended", outcome


def test_a_name_that_a_handled_import_would_have_made(tmp_path: Path) -> None:
    text = """
        import torch
        try:
            from not_there_at_all import fused
        except ImportError:
            pass
        try:
            from nor_this import quick
        except ImportError:
            quick = None
        def f(x):
            return fused(x) + quick(x)
        """
    outcome = of_file(tmp_path, {"a.py": text}, "a.py", "f")
    assert outcome.ending == "ended", outcome
    assert STOOD_IN in outcome.driven
    assert "`not_there_at_all`" in outcome.driven
    assert "`nor_this`" in outcome.driven


def test_a_package_that_is_there_and_does_not_load(tmp_path: Path) -> None:
    files = {
        "native/__init__.py": "raise OSError('libnative.so: cannot open shared object file')\n",
        "own/__init__.py": "",
        "own/a.py": "import torch\nimport native\ndef f(x):\n    return native.op(x) * 2\n",
    }
    outcome = of_file(tmp_path, files, "own/a.py", "f")
    assert outcome.ending == "ended", outcome
    assert "`native`" in outcome.driven


def test_a_part_of_a_network_that_is_not_there_is_a_module(tmp_path: Path) -> None:
    text = """
        import torch
        from torch import nn
        from not_there_at_all.models import Backbone
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                whole = Backbone(8)
                self.first = nn.Sequential(whole.stem, whole.blocks[0])
                self.last = nn.Linear(whole.fc.in_features, 2)
            def forward(self, x):
                return self.last(self.first(x))
        """
    outcome = of_file(tmp_path, {"a.py": text}, "a.py", "Net")
    assert outcome.ending == "ended", outcome


def test_a_project_that_is_not_installed_has_a_release(tmp_path: Path) -> None:
    text = """
        import importlib.metadata
        import torch
        __version__ = importlib.metadata.version("not-there-at-all")
        class Odd(Exception):
            release = importlib.metadata.version("not-there-at-all")
        def f(x):
            return x * len(Odd.release)
        """
    outcome = of_file(tmp_path, {"a.py": text}, "a.py", "f")
    assert outcome.ending == "ended", outcome


def test_an_import_error_in_the_authors_words(tmp_path: Path) -> None:
    text = """
        import torch
        try:
            import not_there_at_all
        except ImportError:
            raise ImportError("Please install it.")
        def f(x):
            return x * 2
        """
    outcome = of_file(tmp_path, {"own/__init__.py": "", "own/a.py": text}, "own/a.py", "f")
    assert outcome.ending == "ended", outcome


def test_what_nothing_is_known_of_is_told() -> None:
    outcome = driven("def f(x, thing):\n    return x * thing.part(3).other[0]\n", "f")
    assert outcome.ending == "ended", outcome
    assert STOOD_IN in outcome.driven
    plain = driven("def f(x):\n    return x * 2\n", "f")
    assert STOOD_IN not in plain.driven


def test_anything_is_a_number_and_all_else() -> None:
    made = Anything(4)
    assert torch.zeros(made, made).shape == (4, 4)
    assert torch.nn.Linear(made, 2).in_features == 4
    assert [type(each) for each in made] == [Anything, Anything]
    assert isinstance(made.what.ever(1)["key"], Anything)
    assert made.part is made.part
    assert made.view(-1).shape == (8,)
    assert copy.deepcopy(made) == 4
    assert torch.equal(made(torch.ones(3)), torch.ones(3))
    with OnThisMachine():
        assert torch.tensor(made).shape == ()
    assert torch.exp(AnyTensor(4)).shape == (2, 4)
    Anything.asked = False
    assert made + 1 == 5
    assert not Anything.asked
    assert made.another_part
    assert Anything.asked


def test_nothing_is_wished_of_what_is_no_argument() -> None:
    def refuses(x: torch.Tensor) -> None:
        wide = 3
        if wide != 4:
            raise ValueError("wide")

    given = {"x": torch.ones(2)}
    with pytest.raises(ValueError, match="wide") as raised:
        refuses(**given)
    assert refusals.wishes(raised.value, given) == []
