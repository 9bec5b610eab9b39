"""What is driven without a driver of its own: functions, methods, files of packages, and what is missing there."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.rule import Observed, Raises, Verdict
from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.server import shared
from torchlint.verify.usage import uses

Verdicts = Callable[..., list[Verdict]]
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def driven(text: str, name: str, path: str = "snippet.py") -> Outcome:
    return shared().run(Request(text=HEAD + textwrap.dedent(text), path=path, module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def f(x, y):\n    return F.mse_loss(x, y) + x.mean()\n", "f"),
        ("def f(x):\n    b, c, h, w = x.shape\n    return x.view(b, c * h * w) @ torch.rand(c * h * w, 2)\n", "f"),
        ("def f(x, num_groups):\n    return torch.stack([x for _ in range(num_groups)])\n", "f"),
        (
            "def train_step(model, optimizer, criterion, loader, device, num_epochs):\n"
            "    model.train()\n    for _ in range(num_epochs):\n        for x, y in loader:\n"
            "            optimizer.zero_grad()\n            loss = criterion(model(x.to(device)), y)\n"
            "            loss.backward()\n            optimizer.step()\n    return loss.item()\n",
            "train_step",
        ),
        (
            "class Pool:\n    def __init__(self, config):\n        self.width = config.model.hidden_size\n"
            "    def run(self, batch):\n        return batch['image'].sum() * self.width\n",
            "Pool.run",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self, cfg):\n        super().__init__()\n"
            "        self.a = nn.Linear(cfg.d_model, cfg.d_model)\n    def forward(self, x, mask):\n"
            "        return self.a(x).masked_fill(~mask.unsqueeze(-1), 0.0) if x.dim() == 3 else self.a(x)\n",
            "Net",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self, settings):\n        super().__init__()\n"
            "        self.a = nn.Linear(settings['width'], 2)\n        self.scale = dict(**settings)['width']\n"
            "    def forward(self, x):\n        return self.a(x) * self.scale\n",
            "Net",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self, part):\n        super().__init__()\n"
            "        self.part = part\n"
            "    def forward(self, x):\n        return self.part(x) * 2\n",
            "Net",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self, keep):\n        super().__init__()\n"
            "        self.register_buffer('keep', keep)\n    def forward(self, x):\n"
            "        return x.sum() * self.keep\n",
            "Net",
        ),
        (
            "def f(x, mode):\n    if mode not in ('sum', 'mean'):\n        raise ValueError(mode)\n"
            "    return getattr(x, mode)()\n",
            "f",
        ),
        (
            "class Net(nn.Module):\n    def __init__(self, part=None):\n        super().__init__()\n"
            "        if part is None:\n            raise ValueError('give it')\n        self.part = part\n"
            "    def forward(self, x):\n        return self.part(x)\n",
            "Net",
        ),
        (
            "class Base(nn.Module):\n    def run(self, x):\n        raise NotImplementedError\n"
            "    def forward(self, x):\n        raise NotImplementedError\n"
            "class Net(Base):\n    def forward(self, x):\n        return x * 2\n",
            "Base",
        ),
        (
            "class Reader:\n    def __init__(self):\n        raise FileNotFoundError('weights')\n"
            "    def scaled(self, x):\n        return self.layer(x) * self.width + self.config.shift\n",
            "Reader.scaled",
        ),
        (
            "@torch.jit.script\ndef f(x: torch.Tensor):\n    return x.sum()\n",
            "f",
        ),
        (
            "from abc import ABC, abstractmethod\nclass Base(ABC, nn.Module):\n    @abstractmethod\n"
            "    def extra(self): ...\n    def forward(self, x):\n        return x * 2\n",
            "Base",
        ),
    ],
)
def test_is_driven(text: str, name: str) -> None:
    outcome = driven(text, name)
    assert outcome.ending == "ended", (outcome.note, outcome.raised, outcome.driven)


def test_the_same_run_twice_is_the_same() -> None:
    text = "def f(x, y):\n    return torch.rand(3).sum() + x.sum() * y.mean()\n"
    first, second = driven(text, "f"), driven(text, "f")
    assert (first.driven, first.seen, first.ending) == (second.driven, second.seen, second.ending)


def test_a_file_of_a_package_is_loaded_under_its_name(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from pkg.net import Net\n")
    (package / "parts.py").write_text("from torch import nn\nWIDTH = 6\n")
    text = (
        "from .parts import WIDTH\nassert __name__ == 'pkg.net'\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Linear(WIDTH, 2)\n    def forward(self, x):\n        return self.a(x)\n"
    )
    (package / "net.py").write_text(HEAD + text)
    outcome = driven(text, "Net", str(package / "net.py"))
    assert (outcome.ending, outcome.driven) == ("ended", "`Net()` called with `x` of shape (2, 6)")


def test_a_package_without_an_init(tmp_path: Path) -> None:
    package = tmp_path / "loose"
    package.mkdir()
    (package / "parts.py").write_text("WIDTH = 6\n")
    text = "from .parts import WIDTH\ndef f(x):\n    return x.sum() * WIDTH\n"
    (package / "net.py").write_text(HEAD + text)
    outcome = driven(text, "f", str(package / "net.py"))
    assert outcome.ending == "ended", outcome.raised


SETTINGS = (
    "import enum\nfrom dataclasses import dataclass\nfrom typing import NamedTuple\n"
    "class Kind(enum.Enum):\n    PLAIN = 'plain'\n"
    "@dataclass\nclass Inner:\n    width: int\n"
    "@dataclass\nclass Config:\n    kind: Kind\n    inner: Inner\n    d_model: int = 12\n"
    "class Sizes(NamedTuple):\n    hidden: int = 6\n"
)


@pytest.mark.parametrize(
    ("signature", "checked", "width"),
    [
        ("cfg: Config", "isinstance(cfg, Config) and cfg.kind is Kind.PLAIN", "cfg.d_model"),
        ("cfg: 'Config | None'", "isinstance(cfg.inner, Inner)", "cfg.d_model"),
        ("sizes: Sizes", "len(sizes) == 1", "sizes.hidden"),
        ("config", "isinstance(config, Sizes)", "config.hidden"),
    ],
)
@pytest.mark.parametrize("apart", [False, True])
def test_a_configuration_is_built_by_its_class(
    tmp_path: Path, signature: str, checked: str, width: str, apart: bool
) -> None:
    text = (
        f"class Net(nn.Module):\n    def __init__(self, {signature}):\n        super().__init__()\n"
        f"        assert {checked}\n        self.a = nn.Linear({width}, 2)\n"
        "    def forward(self, x):\n        return self.a(x)\n"
    )
    (tmp_path / "settings.py").write_text(SETTINGS)
    text = ("from settings import Config, Inner, Kind, Sizes\n" if apart else SETTINGS) + text
    (tmp_path / "net.py").write_text(HEAD + text)
    outcome = driven(text, "Net", str(tmp_path / "net.py"))
    assert outcome.ending == "ended", (outcome.note, outcome.raised)
    assert outcome.driven.endswith("`x` of shape (2, 12)" if "d_model" in width else "`x` of shape (2, 6)")


MISSING = (
    "import not_installed_anywhere as gone\nfrom not_installed_anywhere.inner import registry, Base\n"
    "@registry.register('net')\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.a = nn.Linear(4, 2)\n    def forward(self, x):\n        {inside}        return self.a(x)\n"
    "class Other(Base):\n    pass\n"
)


@pytest.mark.parametrize(("inside", "leaned"), [("", False), ("gone.log(x)\n", True)])
def test_what_is_not_installed_is_stood_in_for_and_told_if_it_was_used(
    tmp_path: Path, inside: str, leaned: bool
) -> None:
    text = MISSING.format(inside=inside)
    (tmp_path / "net.py").write_text(HEAD + text)
    outcome = driven(text, "Net", str(tmp_path / "net.py"))
    assert outcome.ending == "ended", outcome.raised
    assert ("with a stand-in for `not_installed_anywhere`" in outcome.driven) is leaned


def test_a_layer_that_is_not_installed_is_a_module(tmp_path: Path) -> None:
    text = (
        "from not_installed_anywhere.layers import Rearrange, fold\nfrom not_installed_anywhere import One, Two\n"
        "class Both(One, Two):\n    pass\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Sequential(Rearrange('b c -> c b'), nn.Linear(4, 2))\n"
        "    def forward(self, x):\n        y = fold(x)\n        y += 1\n        return self.a(y) + x.sum()\n"
    )
    (tmp_path / "net.py").write_text(HEAD + text)
    outcome = driven(text, "Net", str(tmp_path / "net.py"))
    assert outcome.ending == "ended", (outcome.raised, outcome.note)
    assert "with a stand-in for `not_installed_anywhere`" in outcome.driven


def test_a_folder_that_is_named_like_a_library(tmp_path: Path) -> None:
    package = tmp_path / "whole" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("WIDTH = 6\n")
    text = "from whole.torch import WIDTH\nfrom whole.elsewhere import name\ndef f(x):\n    return x.sum() * WIDTH\n"
    (package / "net.py").write_text(HEAD + text)
    outcome = driven(text, "f", str(package / "net.py"))
    assert outcome.ending == "ended", outcome.raised


def test_a_package_whose_beginning_fails(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from pkg.parts import WIDTH\nfrom pkg.net import gone\nraise OSError('no')\n")
    (package / "parts.py").write_text("WIDTH = 6\n")
    text = "from pkg import WIDTH, native\ndef f(x):\n    return x.sum() * WIDTH\n"
    (package / "net.py").write_text(HEAD + text)
    outcome = driven(text, "f", str(package / "net.py"))
    assert outcome.ending == "ended", outcome.raised


def test_of_many_attempts_the_furthest_is_told() -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.a = nn.Linear(width, 2)\n    def forward(self, x):\n        raise LookupError('not here')\n"
    )
    outcome = driven(text, "Net")
    assert (outcome.ending, outcome.note) == ("unbuilt", "forward: LookupError: not here")


def test_sizes_of_a_configuration_are_small(tmp_path: Path) -> None:
    text = (
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n"
        "    width: int = 4096\n    num_layers: int = 48\n"
        "class Net(nn.Module):\n    def __init__(self, cfg: Config):\n        super().__init__()\n"
        "        assert isinstance(cfg, Config)\n"
        "        self.a = nn.ModuleList(nn.Linear(cfg.width, cfg.width) for _ in range(cfg.num_layers))\n"
        "    def forward(self, x):\n        for a in self.a:\n            x = a(x)\n        return x\n"
    )
    outcome = driven(text, "Net")
    assert (outcome.ending, outcome.driven.endswith("of shape (2, 256)")) == ("ended", True), outcome.note


def test_a_program_that_handles_what_is_missing_goes_its_own_way(tmp_path: Path) -> None:
    text = (
        "try:\n    import not_installed_anywhere\nexcept ImportError:\n    not_installed_anywhere = None\n"
        "def f(x):\n    assert not_installed_anywhere is None\n    return x.sum()\n"
    )
    (tmp_path / "net.py").write_text(HEAD + text)
    assert driven(text, "f", str(tmp_path / "net.py")).ending == "ended"


def test_a_finding_in_a_function_that_nobody_calls(verdicts: Verdicts) -> None:
    text = HEAD + (
        "def fill(x, y):\n    out = torch.zeros_like(x)\n    y[0] = 1.0  # warning: [TLN213]\n    return out\n"
    )
    claims = {"TLN213": (Observed("argument-written", "y"),)}
    (verdict,) = verdicts(text, claims=claims)
    assert verdict.status == "confirmed", verdict.evidence
    assert "`fill` called with" in verdict.evidence


def test_made_up_arguments_refute_nothing_and_confirm_nothing_of_their_own(verdicts: Verdicts) -> None:
    text = HEAD + "def step(loss):\n    loss.backward()  # error: [TLN103]\n    return loss\n"
    (verdict,) = verdicts(text)
    assert verdict.status == "inconclusive", verdict.evidence
    text = HEAD + "def keep(x, y):\n    y = y + 1  # warning: [TLN213]\n    return x.sum() + y.sum()\n"
    (verdict,) = verdicts(text, claims={"TLN213": (Observed("argument-written", "y"),)})
    assert verdict.status == "inconclusive", verdict.evidence


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("def f(x: torch.Tensor, n: int = 2): pass", {"x": "tensor", "n": "integer"}),
        ("def f(a):\n    return a.shape", {"a": "tensor"}),
        ("def f(a):\n    return a['k']", {"a": "dict"}),
        ("def f(a):\n    u, v = a\n    return u", {"a": "batch"}),
        ("def f(a):\n    a.zero_grad(); a.step()", {"a": "optimizer"}),
        ("def f(a):\n    return list(a.parameters())", {"a": "module"}),
        ("def f(a, x):\n    return a(x.sum())", {"a": "callable", "x": "tensor"}),
        ("def f(thing):\n    return thing.depth + thing.width", {"thing": "config"}),
        ("def f(q, key_mask, token_ids):\n    return torch.where(key_mask, q, token_ids)", {"key_mask": "mask"}),
    ],
)
def test_kinds_by_use(text: str, kinds: dict[str, str]) -> None:
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    found = {name: use.kind for name, use in uses(node, computes=True).items()}
    assert found == {**found, **kinds}


def test_another_device_is_this_one() -> None:
    text = """
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2).cuda()
            def forward(self, x):
                return self.layer(x.to("cuda:0")) + torch.ones(2, device=torch.device("cuda"))
        """
    outcome = driven(text, "Net")
    assert outcome.ending == "ended", outcome.note


def test_what_is_read_of_a_made_up_module_is_there() -> None:
    text = """
        import torch
        def total(model):
            kept = [p for p in model.particles]
            return sum(p.sum() for p in kept) + model.weight.sum() + torch.ones(())
        """
    outcome = driven(text, "total")
    assert outcome.ending == "ended", outcome.note


def test_a_constructor_says_what_it_wants_instead_of_a_number() -> None:
    text = """
        import torch
        from torch import nn
        class Chain(nn.Module):
            def __init__(self, parts, start):
                super().__init__()
                self.parts = nn.ModuleList(parts)
                self.start = nn.Parameter(torch.zeros(start.size()))
            def forward(self, x):
                for part in self.parts:
                    x = part(x)
                return x.sum() + self.start.sum()
        """
    outcome = driven(text, "Chain")
    assert outcome.ending == "ended", outcome.note


def test_what_came_further_is_followed_first() -> None:
    """Three tensors of shapes that only their refusals tell, one after the other."""
    text = """
        import torch
        def mixed(a, b, c):
            n, d = a.shape
            m, k, e = b.shape
            if k != 3:
                raise ValueError(f"input has {k} channels but 3 are needed")
            h = torch.matmul(a, torch.ones(8, 4))
            return h.sum() + torch.nn.functional.conv2d(c, torch.ones(2, 5, 1, 1)).sum() + b.sum()
        """
    outcome = driven(text, "mixed")
    assert outcome.ending == "ended", outcome.note


def test_what_a_function_parses_are_no_arguments_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = "import argparse\ndef main():\n    parser = argparse.ArgumentParser()\n"
    text += "    parser.add_argument('--epochs', default=1)\n"
    path.write_text("import torch\n" + text + "    return torch.ones(parser.parse_args().epochs)\n")
    outcome = shared().run(Request(text=path.read_text(), path=str(path), module="main", timeout=20.0))
    assert outcome.ending == "ended", outcome
    assert outcome.driven, outcome


def test_a_view_whose_node_torch_does_not_tell(verdicts: Verdicts) -> None:
    """A layer with a padding index makes one and writes it; what looks at it must not end the program."""
    text = HEAD + textwrap.dedent(
        """
        class Covered(nn.Module):
            def __init__(self, vocabulary=16, width=8):
                super().__init__()
                self.words = nn.Embedding(vocabulary, width, padding_idx=0)
                self.score = nn.Linear(width, 1)
            def forward(self, src):
                embedded = self.words(src)
                covered = embedded.new_zeros(src.shape)
                cost = 0
                for _ in range(3):
                    a = self.score(embedded).squeeze(-1).softmax(-1)
                    cost = cost + torch.min(a, covered).sum()
                    covered += a  # error: [TLN201]
                return cost
        """
    )
    (found,) = verdicts(text)
    assert found.status == "confirmed", found.evidence
    assert "`add_` in line 17 took it from version" in found.evidence


def test_what_was_made_in_inference_mode_ends_the_search(verdicts: Verdicts) -> None:
    """No argument helps against that refusal: it is what this program does."""
    text = HEAD + textwrap.dedent(
        """
        class Twin(nn.Module):
            def __init__(self, width=8):
                super().__init__()
                self.online, self.target = nn.Linear(width, width), nn.Linear(width, width)
            @torch.inference_mode()
            def goal(self, x):
                return self.target(x)
            def forward(self, x):
                goal = self.goal(x)
                return (self.online(x) * goal).sum()  # error: [TLN118]
        """
    )
    (found,) = verdicts(text, claims={"TLN118": (Raises("Inference tensors cannot be saved for backward"),)})
    assert found.status == "confirmed", found.evidence


def test_a_mixin_runs_as_part_of_a_module(verdicts: Verdicts) -> None:
    """And what did not show in one Module says nothing of others."""
    text = HEAD + textwrap.dedent(
        """
        class Scaled:
            def reset(self):
                first = torch.ones(self.width, dtype=torch.float64)
                self.scale = nn.Parameter(first).to(torch.float32)  # error: [TLN301]
                self.shift = nn.Parameter(first.to(torch.float32))  # error: [TLN301]
        class Scale(nn.Module, Scaled):
            def __init__(self, width=8):
                super().__init__()
                self.width = width
                self.reset()
            def forward(self, x):
                return x * self.scale + self.shift
        """
    )
    lost, kept = verdicts(text)
    assert lost.status == "confirmed", lost.evidence
    assert "without it" in lost.evidence
    assert kept.status == "inconclusive", kept.evidence
    assert kept.evidence.startswith("it did not show")


def test_a_mixin_whose_module_cannot_be_built_and_a_metaclass() -> None:
    text = """
        class Kind(type):
            pass
        class Part:
            def forward(self, x):
                return x
        class Whole(nn.Module, Part):
            def __init__(self):
                raise RuntimeError("never")
        """
    assert driven(text, "Kind").ending == "unbuilt"
    outcome = driven(text, "Part")
    assert outcome.ending == "unbuilt"
    assert outcome.note.startswith("`Part` is no torch.nn.Module; `Whole` is")
