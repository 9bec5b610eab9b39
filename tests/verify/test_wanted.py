"""What an argument would have to be, from how a program uses it and from what torch says of several tensors at once."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchlint.verify.protocol import STOOD_IN, Outcome, Request
from torchlint.verify.server import shared

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nfrom typing import *\n"


def driven(text: str, name: str) -> Outcome:
    return shared().run(Request(text=HEAD + textwrap.dedent(text), path="snippet.py", module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.up = nn.Upsample(scale_factor=2)
                    self.a = nn.Conv2d(width, width, 1)
                def forward(self, x, skip):
                    return self.up(self.a(x)) + skip
            """,
            "Net",
            id="two sizes of one of several tensors",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def forward(self, x, first=None, second=None):
                    assert second is not None, "second"
                    return x * second
            """,
            "Net",
            id="an argument that may be None, but not here",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def forward(self, x, parts: Optional[List[torch.Tensor]] = None):
                    if self.training:
                        if parts is None:
                            torch._assert(False, "parts")
                    return sum(part.sum(dim=-1) for part in parts) * x.sum()
            """,
            "Net",
            id="torch._assert, and what the annotation says",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, width, activation):
                    super().__init__()
                    self.act = activation()
                    self.parts = nn.Sequential(nn.Linear(width, 3), activation())
                def forward(self, x):
                    return self.act(self.parts(x))
            """,
            "Net",
            id="a class of layers",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, *parts):
                    super().__init__()
                    if not parts:
                        raise ValueError("parts")
                    self.parts = parts
                def forward(self, x):
                    return [part(x) for part in self.parts]
            """,
            "Net",
            id="any number of arguments of a constructor",
        ),
        pytest.param(
            """
            def f(x, how):
                first, second = how
                return second(first(x))
            """,
            "f",
            id="parts that are called",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, widths: Iterable[int], shape: Tuple[int, int, int]):
                    super().__init__()
                    self.parts = nn.ModuleList([nn.Linear(w, w) for w in list(widths)])
                    self.register_buffer("grid", torch.zeros(shape))
                def forward(self, x):
                    return self.parts[0](x) + self.grid.permute(2, 0, 1).sum()
            """,
            "Net",
            id="how many numbers a tuple holds",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, d_model, num_scales, reps, action_dim, temporal_dim):
                    super().__init__()
                    self.a = nn.Linear(d_model, action_dim)
                    self.b = nn.ModuleList([nn.Linear(action_dim, action_dim) for _ in range(num_scales * reps)])
                    self.c = nn.Parameter(torch.ones(temporal_dim))
                def forward(self, x):
                    return self.b[0](self.a(x)) * self.c.sum()
            """,
            "Net",
            id="words of names are whole words",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, inplanes, planes):
                    super().__init__()
                    self.a = nn.Conv2d(inplanes, planes, 1)
                    self.b = nn.Conv2d(planes, 4 * planes, 1)
                def forward(self, x):
                    return self.b(self.a(x)) + x
            """,
            "Net",
            id="arguments of a constructor that do not fit each other",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def forward(self, pyramid: List[torch.Tensor]):
                    first, second, third = pyramid
                    return first + F.interpolate(second + F.interpolate(third, scale_factor=2), scale_factor=2)
            """,
            "Net",
            id="tensors of several sizes",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, first=None, second=None):
                    super().__init__()
                    def exists(value):
                        return value is not None
                    assert exists(first) ^ exists(second), "one of them"
                    self.a = nn.Linear(first or second, 2)
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="one of two arguments",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, config: dict):
                    super().__init__()
                    assert "shape" in config, "shape"
                    self.a = nn.Linear(config["shape"], 2)
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="a key that has to be there",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, pretrained=True):
                    super().__init__()
                    self.a = nn.Linear(4, 2)
                    if pretrained:
                        self.load_state_dict(torch.hub.load_state_dict_from_url("https://example.org/a.pt"))
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="weights that are elsewhere",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.parts = nn.Sequential(*[nn.Conv2d(1, 1, 3, stride=2) for _ in range(5)])
                def forward(self, x):
                    return self.parts(x)
            """,
            "Net",
            id="images that are large enough",
        ),
        pytest.param(
            """
            class Scaled(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, weight, scale=2.0):
                    ctx.save_for_backward(weight)
                    return F.linear(x, weight) * scale
                @staticmethod
                def backward(ctx, g):
                    return g @ ctx.saved_tensors[0] * 2.0, None, None
            """,
            "Scaled",
            id="a custom Function",
        ),
        pytest.param(
            """
            class Layer:
                pass
            class Net(Layer):
                def __init__(self, width):
                    self.weight = torch.ones(width, 3)
                def forward(self, x):
                    return x @ self.weight
            """,
            "Net.forward",
            id="a layer of a framework of its own",
        ),
        pytest.param(
            "def f(x):\n    torch.distributed.all_reduce(x)\n    return x / torch.distributed.get_world_size()\n",
            "f",
            id="a process group of one",
        ),
        pytest.param(
            "def f(net, place):\n    net.load_state_dict(torch.load(place)['net'])\n    return net(torch.ones(8))\n",
            "f",
            id="what a file holds",
        ),
        pytest.param(
            "def f(loader, device: str):\n    for batch in loader:\n        print(batch['x'].to(device).mean())\n",
            "f",
            id="batches by name, and a device by its name",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, layer):
                    super().__init__()
                    if not isinstance(layer, nn.Linear):
                        raise TypeError("layer")
                    self.layer = layer
                def forward(self, x):
                    return self.layer(x) * self.layer.in_features
            """,
            "Net",
            id="a layer of a class",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, width, planes):
                    super().__init__()
                    self.norm = nn.GroupNorm(32, planes)
                def forward(self, x, skip=None):
                    return self.norm(x) + F.conv2d(skip, torch.ones(1, 32, 1, 1))
            """,
            "Net",
            id="groups of a layer, and an argument that may be None of torch",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, parts: list, step_sizes):
                    super().__init__()
                    self.parts = nn.ModuleList([nn.Linear(part.width, part["out"]) for part in parts])
                    self.last = nn.Linear(8 - (step_sizes - 2), 2)
                def forward(self, x):
                    return self.parts[0](x)
            """,
            "Net",
            id="lists of settings, and a number that is called sizes",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def forward(self, where):
                    if type(where) == list:
                        where = torch.tensor(where)
                    elif type(where) == dict:
                        where = where["x"]
                    else:
                        raise TypeError("where")
                    return where * 2
            """,
            "Net",
            id="a type that is compared",
        ),
    ],
)
def test_what_is_wanted(text: str, name: str) -> None:
    outcome = driven(text, name)
    assert outcome.ending == "ended", outcome


def test_what_a_package_that_is_not_there_would_have_defined(tmp_path: Path) -> None:
    """Layers by where they are defined, settings by their fields, type variables, and weights that are fetched."""
    files = {
        "own/__init__.py": "",
        "own/net.py": """
            from typing import Generic
            import torch
            from torch import nn
            from torch.hub import load_state_dict_from_url
            from not_there_at_all.models.parts import Part
            from nor_this import BaseModel, Field
            from nor_that import T_Name, store_attr, several
            class Settings(BaseModel):
                width: int
                rate: float = Field(0.5, ge=0)
                many: list = Field(default_factory=list)
            class Own(Part):
                def __init__(self, width):
                    super().__init__()
                    self.a = nn.Linear(width, width)
                def forward(self, x):
                    return self.a(x)
            class Net(nn.Module, Generic[T_Name]):
                def __init__(self, settings: Settings):
                    super().__init__()
                    store_attr()
                    first, second, third = several(self.settings.width)
                    self.parts = nn.Sequential(Own(settings.width), nn.Dropout(settings.rate), *settings.many)
                    self.load_state_dict(load_state_dict_from_url("https://example.org/a.pt"))
                def forward(self, x):
                    return self.parts(x)
            """,
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(textwrap.dedent(text), encoding="utf-8")
    file = tmp_path / "own/net.py"
    request = Request(text=file.read_text(encoding="utf-8"), path=str(file), module="Net", timeout=20.0)
    outcome = shared().run(request)
    assert outcome.ending == "ended", outcome
    assert STOOD_IN in outcome.driven
    assert "`fetched weights`" in outcome.driven


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            """
            class Named:
                def __dir__(self):
                    raise TypeError("not to be listed")

            class Net(nn.Module):
                def __init__(self, kind="none", width=8):
                    super().__init__()
                    if kind == "none":
                        getattr(Named(), kind)
                    self.a = nn.Linear(width, width)
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="what is read of a refusal may refuse itself",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, part):
                    super().__init__()
                    shape = tuple(part.weight.shape)
                    self.a = nn.Linear(shape[1], shape[0], bias=part.bias is None)
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="a layer whose weight has axes",
        ),
        pytest.param(
            """
            KINDS = {"narrow": 4}

            def chosen(config):
                return vars(nn)[config.kind_of_layer.title().replace("Abcdefghijklmnopqrstuvwxyz", "Linear")]

            class Net(nn.Module):
                def __init__(self, config):
                    super().__init__()
                    self.a = chosen(config)(config.width, config.width)
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="an entry of settings",
        ),
    ],
)
def test_arguments_of_a_constructor_in_every_way(text: str, name: str) -> None:
    found = driven(text, name)
    assert found.ending == "ended", found.note
