"""What a program asks for by a name, a word or a key, and what stands where nothing else gives it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchlint.verify.evidence import choices, read
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
                def __init__(self, encoder):
                    super().__init__()
                    self.encoder = encoder
                    self.head = nn.Linear(encoder.config.hidden_size, 3)
                def forward(self, input_ids, attention_mask):
                    outputs = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
                    return self.head(outputs.last_hidden_state) + self.head(outputs[1])[:, None] + outputs.logits.sum()
            """,
            "Net",
            id="parts of what a network gives back",
        ),
        pytest.param(
            """
            class Stack(nn.Module):
                def __init__(self, width, layers):
                    super().__init__()
                    self.parts = nn.ModuleList()
                    for kind in layers:
                        if kind == "wide":
                            self.parts.append(nn.Linear(width, width))
                        elif kind == "narrow":
                            self.parts.append(nn.Linear(width, width, bias=False))
                        else:
                            raise ValueError(kind)
                def forward(self, x):
                    for part in self.parts:
                        x = part(x)
                    return x
            """,
            "Stack",
            id="words that a list holds",
        ),
        pytest.param(
            """
            class Summary(nn.Module):
                def __init__(self, config):
                    super().__init__()
                    self.how = config.summary_how
                    if self.how == "attention":
                        raise NotImplementedError
                def forward(self, states):
                    if self.how == "last":
                        found = states[:, -1]
                    elif self.how == "mean":
                        found = states.mean(1)
                    return found * 2
            """,
            "Summary",
            id="a branch that gives a name its value",
        ),
        pytest.param(
            """
            Way = Literal["left", "right"]
            def turned(x: torch.Tensor, way: Way):
                if way == "left":
                    return x.rot90(1, [-2, -1])
                if way == "right":
                    return x.rot90(-1, [-2, -1])
                raise ValueError(f"unknown: {way}")
            """,
            "turned",
            id="one of the words of an annotation",
        ),
        pytest.param(
            """
            class Dense(nn.Module):
                def __init__(self, width, kernel, stride=1, padding=0):
                    super().__init__()
                    self.conv = nn.Conv2d(width, width, kernel, stride, padding)
                def forward(self, x):
                    return torch.cat([x, self.conv(x)], 1)
            """,
            "Dense",
            id="a default with which it cannot work",
        ),
        pytest.param(
            """
            class Score(nn.Module):
                def forward(self, states, positions, valid):
                    index = positions.clamp(min=0)[:, :, None].expand(-1, -1, states.size(-1))
                    found = torch.gather(states, 1, index).sum(-1)
                    return found.masked_fill(~valid, -1e4)
            """,
            "Score",
            id="what is gathered, and a mask by its use",
        ),
        pytest.param(
            """
            def pooled(given, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
                return F.avg_pool2d(given, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
            """,
            "pooled",
            id="arguments of torch's own, one after the other",
        ),
        pytest.param(
            """
            def parts(given, width_axis):
                first, second = torch.unbind(given, dim=width_axis)
                b, c, h, w = first.shape
                return (first * second).view(b, c * h * w)
            """,
            "parts",
            id="an axis by its use, and a part that must be deeper",
        ),
        pytest.param(
            """
            def build(dim, hidden):
                return nn.Sequential(nn.Linear(dim, hidden), nn.Linear(hidden, dim))
            """,
            "build",
            id="a size that is called as an axis",
        ),
        pytest.param(
            """
            def score(outputs, sizes=None):
                classes, masks = outputs.class_logits.softmax(-1), outputs.mask_logits.sigmoid()
                return torch.einsum("bqc,bqhw->bchw", classes, masks)
            """,
            "score",
            id="an object that holds tensors, each with its shape",
        ),
        pytest.param(
            """
            def run(x, transposed, biases):
                if transposed:
                    x = x.transpose(-1, -2)
                return x + sum(bias.sum() for bias in biases)
            """,
            "run",
            id="a tensor that is taken for true or false",
        ),
        pytest.param(
            """
            class Pyramid(nn.Module):
                def __init__(self, channels_list, width, kernels, paddings=None):
                    super().__init__()
                    paddings = paddings or [1] * len(kernels)
                    self.parts = nn.ModuleList(nn.Conv2d(c, width, k, padding=p)
                                               for c, k, p in zip(channels_list, kernels, paddings))
                def forward(self, levels):
                    levels = list(levels.values())
                    return [part(levels[i]) + levels[2].sum() for i, part in enumerate(self.parts)]
            """,
            "Pyramid",
            id="a dictionary that is gone through, and small sizes of lists",
        ),
        pytest.param(
            """
            class Branches(nn.Module):
                def __init__(self, branches):
                    super().__init__()
                    for i in range(len(branches)):
                        self.add_module(f"branch{i}", nn.Sequential(*[branches[i][j] for j in range(len(branches[i]))]))
                def forward(self, x):
                    return torch.cat([part(x) for part in self.children()], 1)
            """,
            "Branches",
            id="a list of lists of layers",
        ),
        pytest.param(
            """
            def checked(function):
                def inner(*args):
                    assert len(args) == 2, "by place"
                    return function(*args)
                return __import__("functools").wraps(function)(inner)
            @checked
            def both(x, y):
                return torch.add(x, y)
            """,
            "both",
            id="a decorator that takes arguments by their place alone",
        ),
        pytest.param(
            """
            class Words(nn.Module):
                def __init__(self, vocab_size, pad_id):
                    super().__init__()
                    self.table = nn.Embedding(vocab_size, 8, padding_idx=pad_id)
                def forward(self, tokens):
                    return self.table(tokens)
            """,
            "Words",
            id="the number of what pads",
        ),
        pytest.param(
            """
            class Joined(nn.Module):
                def __init__(self, parameter: nn.Parameter, cat_dim: int):
                    super().__init__()
                    self.parameter, self.cat_dim = parameter, cat_dim
                def forward(self, x):
                    return torch.cat([self.parameter, x], dim=self.cat_dim)
            """,
            "Joined",
            id="a Parameter by its annotation",
        ),
        pytest.param(
            """
            class Spiking(nn.Module):
                def __init__(self, width=48):
                    super().__init__()
                    self.potential = None
                    self.out = nn.Linear(width, 2)
                def forward(self, x):
                    if self.potential is None:
                        self.potential = torch.zeros_like(x)
                    self.potential = self.potential.detach() + x
                    return self.out(self.potential)
            """,
            "Spiking",
            id="a Module that keeps something of each call",
        ),
        pytest.param(
            """
            def flipped(boxes, active):
                size = boxes.size()
                scaled = boxes / size[2]
                return torch.where(active, -scaled, scaled)
            """,
            "flipped",
            id="a shape with a name, and a condition",
        ),
        pytest.param(
            """
            class Grouped(nn.Module):
                def __init__(self, options={}):
                    super().__init__()
                    self.scale = options["scale"]
                def forward(self, x):
                    return x * self.scale
            """,
            "Grouped",
            id="an empty dictionary by default",
        ),
    ],
)
def test_what_is_asked_for_is_there(text: str, name: str) -> None:
    outcome = driven(text, name)
    assert outcome.ending == "ended", outcome


def test_what_a_missing_base_class_would_have_given_is_stood_in_for(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import torch, os\nfrom torch import nn\nfrom heavy_models import PreTrainedModel, home\n"
        "class Net(PreTrainedModel):\n    def __init__(self, config):\n        super().__init__(config)\n"
        "        self.where = os.path.join(home, 'weights')\n"
        "        self.a = nn.Linear(config.hidden_size, 3)\n        self.tie_all_weights()\n"
        "    def forward(self, x):\n        return self.a(x)\n",
        encoding="utf-8",
    )
    outcome = shared().run(Request(text=path.read_text(), path=str(path), module="Net", timeout=20.0))
    assert outcome.ending == "ended", outcome
    assert f"{STOOD_IN} `heavy_models`" in outcome.driven


def test_parts_of_what_a_missing_network_gives_back(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import torch\nfrom torch import nn\nfrom heavy_models import AutoModel\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.encoder = AutoModel.from_pretrained('base')\n    def forward(self, input_ids):\n"
        "        hidden = self.encoder(input_ids).last_hidden_state\n        assert hidden.dim() == 3\n"
        "        return hidden.mean(1)\n",
        encoding="utf-8",
    )
    outcome = shared().run(Request(text=path.read_text(), path=str(path), module="Net", timeout=20.0))
    assert outcome.ending == "ended", outcome
    assert f"{STOOD_IN} `heavy_models`" in outcome.driven


def test_decorators_inside_a_class_that_raise_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import torch\nfrom torch import nn\ndef documented(what):\n    raise ValueError('no documentation')\n"
        "@documented\nclass Net(nn.Module):\n    @documented\n    def forward(self, x):\n        return x * 2\n",
        encoding="utf-8",
    )
    outcome = shared().run(Request(text=path.read_text(), path=str(path), module="Net", timeout=20.0))
    assert outcome.ending == "ended", outcome
    assert "what line 7 does" in outcome.driven


def test_arrays_of_a_missing_package_and_of_a_missing_file_are_arrays(tmp_path: Path) -> None:
    path = tmp_path / "filters.py"
    path.write_text(
        "import numpy as np\nimport torch\nfrom torch import nn\nimport wavelets_of_nobody as wavelets\n"
        "class Filter(nn.Module):\n    def __init__(self, wave='db1'):\n        super().__init__()\n"
        "        taps = wavelets.taps(wave)\n        assert len(wavelets.Wavelet(wave).bank) == 2\n"
        "        self.register_buffer('taps', torch.from_numpy(wavelets.filters(wave)).float())\n"
        "        self.register_buffer('more', torch.tensor(np.array(taps)).float())\n"
        "        self.stored = np.load('taps.npz')\n"
        "    def forward(self, x):\n        return x * self.taps.sum() + self.more.sum()\n",
        encoding="utf-8",
    )
    outcome = shared().run(Request(text=path.read_text(), path=str(path), module="Filter", timeout=20.0))
    assert outcome.ending == "ended", outcome
    assert "a file" in outcome.driven
    assert "wavelets_of_nobody" in outcome.driven


def test_evidence_says_what_is_held_and_read() -> None:
    import ast

    function = ast.parse(
        "def f(cfg, kinds):\n    for i, kind in enumerate(kinds):\n        if kind == 'a': pass\n"
        "    if cfg.mode == 'sum': return cfg.sizes[0]\n    states = cfg.states\n    return states.softmax(-1)\n"
    ).body[0]
    assert dict(choices(function)) == {"kinds[]": "a", "cfg.mode": "sum"}
    found = set(read(function))
    assert ("cfg", "mode", "=sum") in found
    assert ("cfg", "states", "tensor") in found
