"""How Modules are constructed by configurations, registries and frameworks, and loaded where much is not installed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from torchlint.verify import written
from torchlint.verify.inputs import constructor_arguments
from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.repairs import instead
from torchlint.verify.server import shared

HEAD = (
    "import abc\nimport typing as tp\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
    "import pytorch_lightning_that_is_not_there as pl\n"
)
REGISTRY = """
class Wide(nn.Module):
    def __init__(self, width, hidden_size):
        super().__init__()
        self.a = nn.Linear(width, hidden_size)
    def forward(self, x):
        return self.a(x)
PARTS = {"wide": Wide}
def part(type):
    if type.lower() in PARTS:
        return PARTS[type.lower()]
    else:
        raise ValueError(f"no such part: {type}")
"""


def driven(text: str, name: str, folder: Path) -> Outcome:
    """As a file of a project: what it imports and is not there is stood in for."""
    (folder / "net.py").write_text(text := HEAD + textwrap.dedent(text))
    return shared().run(Request(text=text, path=str(folder / "net.py"), module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            REGISTRY
            + """
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.first = part(config.encoder.type)(**config.encoder.args)
        self.second = part(config.decoder.type)(**config.decoder.args)
    def forward(self, x):
        return self.first(x).sum() + self.second(x).sum()
""",
            "Net",
            id="parts by their name and keywords in a configuration",
        ),
        pytest.param(
            REGISTRY
            + """
class Inner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.part = part(config.encoder.type)(**config.encoder.args)
    def forward(self, x):
        return self.part(x)
class Net(nn.Module):
    def __init__(self, settings: dict):
        super().__init__()
        self.inner = Inner(settings.inner)
    def forward(self, x):
        return self.inner(x)
""",
            "Net",
            id="a configuration of which another class reads",
        ),
        pytest.param(
            """
            class Part(tp.NamedTuple):
                width: int = 8
                padding: str = "same"
            class Net(nn.Module):
                def __init__(self, config: Part):
                    super().__init__()
                    width, padding = config
                    self.a = nn.Conv2d(width, width, 3, padding_mode=padding)
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="a word of those that a refusal of torch lists, in settings of the program's own",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def forward(self, x):
                    return torch.ops.extension_that_is_not_there.scaled(x, 2.0) + 1
            """,
            "Net",
            id="an operator of an extension that is not built",
        ),
        pytest.param(
            """
            from torchvision_that_is_not_there import models
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    features = models.Squeeze(pretrained=False).features
                    self.parts = nn.Sequential(*(features[index] for index in range(3)))
                    self.last = nn.Linear(models.Squeeze().classifier.in_features, 2)
                def forward(self, x):
                    return self.last(self.parts(x))
            """,
            "Net",
            id="the features of a network that is not installed",
        ),
        pytest.param(
            """
            class Block(nn.Module):
                def __init__(self, dim, num_heads):
                    super().__init__()
                    if dim % num_heads or dim // num_heads < 2:
                        raise ValueError("heads of two at least")
                    self.a = nn.Linear(dim, dim)
                def forward(self, x):
                    return self.a(x)
            class Net(nn.Module):
                def __init__(self, config):
                    super().__init__()
                    parts = config.parts["first"]
                    self.a = Block(parts.inner.dim, parts.inner.num_heads)
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="numbers that settings inside of settings hold, by their names",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, sizes, widths):
                    super().__init__()
                    if len(sizes) != widths:
                        raise ValueError("as many as that")
                    self.a = nn.Linear(8, sum(sizes))
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="a length that is compared with what is a list",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, function, /, *, times):
                    super().__init__()
                    self.function, self.times = function, times
                def forward(self, x):
                    return self.function(x) * self.times
            """,
            "Net",
            id="an argument that goes by its place alone",
        ),
        pytest.param(
            """
            class Net(abc.ABC, nn.Module):
                @abc.abstractmethod
                def __init__(self):
                    super().__init__()
                    self.a = nn.Linear(3, 3)
                @abc.abstractmethod
                def before(self, x):
                    pass
                def forward(self, x):
                    return self.a(self.before(x))
            """,
            "Net",
            id="an abstract constructor",
        ),
        pytest.param(
            """
            class Net(pl.LightningModule):
                def __init__(self, hparams, model):
                    super().__init__()
                    self.save_hyperparameters(hparams)
                    self.model = model
                    self.a = nn.Linear(self.hparams.width, self.hparams["classes"])
                    if "more" in self.hparams:
                        self.more = self.hparams.more
                def forward(self, x):
                    return self.a(self.model(x))
            """,
            "Net",
            id="hyperparameters that a framework keeps",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, vocabulary=60000, dim=4096, layers=40):
                    super().__init__()
                    self.e = nn.Embedding(vocabulary, dim)
                    self.l = nn.ModuleList([nn.Linear(dim, 4 * dim) for _ in range(layers)])
                    self.o = nn.Linear(4 * dim, dim)
                def forward(self, x):
                    x = self.e(x)
                    for each in self.l:
                        x = self.o(each(x))
                    return x
            """,
            "Net",
            id="one that takes too long to construct by its defaults",
        ),
    ],
)
def test_is_driven(text: str, name: str, tmp_path: Path) -> None:
    outcome = driven(text, name, tmp_path)
    assert outcome.ending == "ended", (outcome.raised, outcome.note, outcome.driven)


WIRED = """
import torch
from torch import nn
from whole.settings import Settings

class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Linear(width, 2)
    def forward(self, x):
        return self.a(x)

class Net(nn.Module):
    def __init__(self, settings: "Settings", head, act):
        super().__init__()
        if settings.cells * settings.width != 1234 or not isinstance(head, Head):
            raise ValueError("no")
        self.a, self.head = nn.Linear(settings.width, 2 * settings.cells), head
        self.act = act()
    def forward(self, x):
        return self.head(self.act(self.a(x)))
"""
SHOWN = """
Name: whole

```python
settings = Settings(width=617, cells=2)
net = Net(settings, Head(4), act=torch.nn.GELU)
y = net(torch.randn(3, 617))
```
"""


@pytest.mark.parametrize("place", ["README.md", "whole-1.0.dist-info/METADATA"])
def test_what_the_introduction_of_a_project_shows(tmp_path: Path, place: str) -> None:
    for folder in ("whole", "whole-1.0.dist-info", "other-1.0.dist-info"):
        (tmp_path / folder).mkdir()
    (tmp_path / "whole" / "__init__.py").write_text("")
    settings = "class Settings:\n    def __init__(self, **given):\n        self.__dict__.update(given)\n"
    (tmp_path / "whole" / "settings.py").write_text(settings)
    (tmp_path / "whole" / "net.py").write_text(WIRED)
    (tmp_path / "whole-1.0.dist-info" / "RECORD").write_text("whole/__init__.py,,\nwhole/net.py,,\n")
    (tmp_path / "other-1.0.dist-info" / "RECORD").write_text("other/__init__.py,,\n")
    (tmp_path / "other-1.0.dist-info" / "METADATA").write_text(SHOWN.replace("617", "1"))
    (tmp_path / place).write_text(SHOWN)
    outcome = shared().run(Request(text=WIRED, path=str(tmp_path / "whole" / "net.py"), module="Net", timeout=20.0))
    assert outcome.ending == "ended", (outcome.raised, outcome.note)


def test_what_an_example_takes_from_elsewhere_is_not_evaluated() -> None:
    texts = {"a": "torch.Size((2, 3))", "b": "os.getcwd()", "c": "open('file')", "d": "Measured", "e": "[].clear()"}
    assert {*written.values(Measured, texts, {})} == {"a", "d", "e"}
    assert {*written.values(Measured, texts, {texts["a"]: ..., texts["b"]: 3})} == {"b", "d", "e"}


class Measured(torch.nn.Module):
    """
    Takes numbers and a matrix.

    Parameters
    ----------
    affine : torch.Tensor, shape (4, 4)
        Of the volume.
    """

    def __init__(self, scales: Sequence[float], flags: list[bool], affine: torch.Tensor) -> None:
        super().__init__()


def test_lists_hold_what_is_annotated_and_tensors_have_the_shape_that_is_documented() -> None:
    found = constructor_arguments(Measured, 8)
    assert found["scales"] == [0.1, 0.1]
    assert found["flags"] == [False, False]
    assert found["affine"].shape == (4, 4)


def test_several_axes_of_which_one_is_out_of_range() -> None:
    refusal = "Dimension out of range (expected to be in range of [-2, 1], but got 8)"
    assert dict(instead({"dims": (8, 8), "sizes": [4, 4]}, refusal)) == {"dims": (0, 1)}


def test_an_operator_that_torch_lacks_is_missing(tmp_path: Path) -> None:
    outcome = driven("def f(x):\n    return torch.ops.aten.no_such_operator(x)\n", "f", tmp_path)
    assert (outcome.ending, "no_such_operator" in outcome.note) == ("unbuilt", True), outcome


def test_many_packages_that_are_not_there(tmp_path: Path) -> None:
    package = tmp_path / "whole"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for part in range(4):
        imports = "".join(f"import absent_{part}_{index}\n" for index in range(10))
        (package / f"part{part}.py").write_text(f"{imports}WIDTH = {part}\n")
    text = "".join(f"from whole.part{part} import WIDTH as w{part}\n" for part in range(4))
    text += "def f(x):\n    return x.sum() * w3\n"
    (package / "net.py").write_text(text)
    outcome = shared().run(Request(text=text, path=str(package / "net.py"), module="f", timeout=20.0))
    assert outcome.ending == "ended", (outcome.raised, outcome.note)


def test_a_handled_import_beside_a_missing_one_is_left_to_the_program(tmp_path: Path) -> None:
    text = (
        "import absent_a\nimport absent_b\n"
        "try:\n    import absent_c\nexcept ImportError:\n    absent_c = None\n"
        "def f(x):\n    assert absent_c is None\n    return x.sum()\n"
    )
    (tmp_path / "net.py").write_text(text)
    outcome = shared().run(Request(text=text, path=str(tmp_path / "net.py"), module="f", timeout=20.0))
    assert outcome.ending == "ended", (outcome.raised, outcome.note)
