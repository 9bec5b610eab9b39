"""What a program asks of what stands for something else: so many parts, other sizes, settings inside of settings."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

from torchlint.verify import resized
from torchlint.verify.protocol import STOOD_IN, Outcome, Request
from torchlint.verify.server import shared

HEAD = "import torch\nimport torch.nn.functional as F\nimport numpy as np\nfrom torch import nn\n"


def driven(text: str, name: str, folder: Path) -> Outcome:
    """As a file of a project: what it imports and is not there is stood in for."""
    (folder / "net.py").write_text(text := HEAD + textwrap.dedent(text))
    return shared().run(Request(text=text, path=str(folder / "net.py"), module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            """
            class Routed(nn.Module):
                def __init__(self, router, dispatcher):
                    super().__init__()
                    self.router, self.dispatcher = router, dispatcher
                def forward(self, x):
                    weights, indices, loss = self.router(x)
                    sent, state = self.dispatcher.permute(x, weights)
                    return self.dispatcher.unpermute(sent, weights, state), loss
            """,
            "Routed",
            id="as many as are taken apart",
        ),
        pytest.param(
            """
            from absent import coalesce
            class Sparse(nn.Module):
                def __init__(self, rows):
                    super().__init__()
                    indices, values = coalesce(torch.zeros(2, rows).long(), torch.ones(rows), rows)
                    self.register_buffer("indices", indices)
                    self.weight = nn.Parameter(values)
                def forward(self, x):
                    return x * self.weight[self.indices[0]]
            """,
            "Sparse",
            id="those that were given, in their order",
        ),
        pytest.param(
            """
            class Residual(nn.Module):
                def __init__(self, block, layers, classes=10):
                    super().__init__()
                    self.before = 16
                    self.first = nn.Conv2d(3, 16, 3)
                    self.body = nn.Sequential(*[self.stage(block, 16 * 2**i, n) for i, n in enumerate(layers)])
                    self.last = nn.Linear(16 * 2 ** (len(layers) - 1) * block.expansion, classes)
                def stage(self, block, planes, number):
                    parts = [block(self.before, planes, stride=2)]
                    self.before = planes * block.expansion
                    return nn.Sequential(*parts, *[block(self.before, planes) for _ in range(1, number)])
                def forward(self, x):
                    return self.last(self.body(self.first(x)).mean((2, 3)))
            """,
            "Residual",
            id="a class of blocks makes other sizes of sizes",
        ),
        pytest.param(
            """
            from absent.layers import ConvAct
            class Pyramid(nn.Module):
                def __init__(self, width=8):
                    super().__init__()
                    self.first = ConvAct(width, 2 * width, 3)
                    self.second = ConvAct(in_channels=2 * width, out_channels=4 * width, stride=2)
                    self.norm = nn.BatchNorm2d(4 * width)
                def forward(self, x):
                    return self.norm(self.second(self.first(x)))
            """,
            "Pyramid",
            id="so does a layer that is not there",
        ),
        pytest.param(
            """
            import triton
            @triton.autotune(configs=[triton.Config({"B": 64})], key=["n"])
            @triton.jit
            def kernel(x, y, n, B):
                pass
            def launched(x):
                y = torch.empty_like(x)
                kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, y, x.numel(), B=64)
                return y
            """,
            "launched",
            id="a kernel is launched on a grid",
        ),
        pytest.param(
            """
            from absent import AutoModel
            class Classified(nn.Module):
                def __init__(self, config):
                    super().__init__()
                    self.inner = AutoModel.from_config(config)
                    self.last = nn.Linear(config.hidden_size, config.num_labels)
                def forward(self, input_ids):
                    return self.last(self.inner(input_ids).pooler_output)
            """,
            "Classified",
            id="a network by its configuration",
        ),
        pytest.param(
            """
            extension = None
            class Fused(nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.bias = nn.Parameter(torch.zeros(width))
                def forward(self, x):
                    return extension.fused(x, self.bias, 3)
            """,
            "Fused",
            id="an extension that is never built",
        ),
        pytest.param(
            """
            from absent import label, smooth
            class Parts(nn.Module):
                def forward(self, logits):
                    mask = (logits.detach().numpy() > 0.5).astype(np.uint8)
                    named, count = label(smooth(mask))
                    return logits * torch.from_numpy(named).float() / max(count, 1), abs(smooth("mask"))
            """,
            "Parts",
            id="arrays keep their shapes",
        ),
        pytest.param(
            """
            class Restored(nn.Module):
                def __init__(self, fpath: str):
                    super().__init__()
                    extra = {"config": ""}
                    self.inner = torch.jit.load(fpath, _extra_files=extra).eval()
                    self.teacher = torch.hub.load("owner/repository", "network")
                    self.scale = nn.Parameter(torch.ones(1))
                    import json
                    self.config = json.loads(extra["config"])
                def forward(self, x):
                    return self.teacher(self.inner(x)) * self.scale
            """,
            "Restored",
            id="a network of no file",
        ),
        pytest.param(
            """
            class Base(nn.Module):
                def __init__(self, width):
                    super().__init__()
                    if not hasattr(self, "sizes") or len(self.sizes) != width:
                        raise ValueError("its sizes are wanted")
                    self.layer = nn.Linear(width, 2)
                def forward(self, x):
                    return self.layer(x)
            class Pair(Base):
                def __init__(self, first, second):
                    self.sizes = first, second
                    super().__init__(2)
            """,
            "Base",
            id="a class by one that is derived from it",
        ),
    ],
)
def test_what_stands_for_something_else(text: str, name: str, tmp_path: Path) -> None:
    outcome = driven(text, name, tmp_path)
    assert outcome.ending == "ended", outcome.note


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            """
            class Restoration(nn.Module):
                def __init__(self, opt):
                    super().__init__()
                    net = opt["network"]["width"]
                    self.scale = opt["network"]["upscale"]
                    self.first = nn.Conv2d(opt["network"]["in_nc"], net, 3, 1, 1)
                    if opt["network"]["act"] == "lrelu":
                        self.act = nn.LeakyReLU(0.1)
                    else:
                        raise NotImplementedError("no such activation")
                    self.last = nn.Conv2d(net, 3 * self.scale**2, 3, 1, 1)
                def forward(self, image):
                    return F.pixel_shuffle(self.last(self.act(self.first(image))), self.scale)
            """,
            "Restoration",
            id="settings inside of settings, and the words they are compared with",
        ),
        pytest.param(
            """
            class Graph(nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.layer, self.edge = nn.Linear(width, width), nn.Linear(2 * width, 1)
                def forward(self, data):
                    x, (source, target) = self.layer(data.x), data.edge_index
                    weight = self.edge(torch.cat([x[source], x[target]], -1)).sigmoid()
                    whole = torch.zeros_like(x).index_add(0, target, weight * x[source])
                    return torch.zeros(int(data.batch.max()) + 1, x.size(1)).index_add(0, data.batch, whole)
            """,
            "Graph",
            id="a graph",
        ),
        pytest.param(
            """
            class Named(nn.Module):
                def __init__(self, args):
                    super().__init__()
                    self.layer = nn.Linear(args.width, args.width)
                    self.criterion = getattr(nn, args.loss)()
                def forward(self, x):
                    return self.criterion(self.layer(x), x)
            """,
            "Named",
            id="a loss by its name",
        ),
        pytest.param(
            """
            class Observed(nn.Module):
                def __init__(self, observation_space, width=16):
                    super().__init__()
                    self.conv = nn.Conv2d(observation_space.shape[0], 4, 8, 4)
                    with torch.no_grad():
                        size = self.conv(torch.as_tensor(observation_space.sample()[None]).float()).numel()
                    self.layer = nn.Linear(size, width)
                def forward(self, seen):
                    return self.layer(self.conv(seen).flatten(1))
            """,
            "Observed",
            id="the space of what an environment shows",
        ),
        pytest.param(
            """
            class Features(nn.Module):
                def __init__(self, sparse: list[str], in_keys, sizes: dict[str, int], width=8):
                    super().__init__()
                    self.sparse, self.in_keys = sparse, in_keys
                    self.inner = nn.ModuleDict({each: nn.Embedding(sizes[each], width) for each in sparse})
                def forward(self, inputs: dict[str, torch.Tensor]):
                    found = [self.inner[each](inputs[each].long()) for each in self.sparse]
                    return torch.stack(found), torch.stack([inputs[key] for key in self.in_keys])
            """,
            "Features",
            id="lists of words",
        ),
        pytest.param(
            """
            PARTS = {"linear": nn.Linear, "two": nn.Bilinear}
            class Built(nn.Module):
                def __init__(self, cfg):
                    super().__init__()
                    self.part = PARTS[cfg["block"].name](cfg["block"].width, cfg["block"].width)
                    if cfg["head"]["kind"] not in ("plain", "other"):
                        raise ValueError(cfg["head"]["kind"])
                def forward(self, x):
                    return self.part(x)
            """,
            "Built",
            id="a key that settings inside of settings hold",
        ),
        pytest.param(
            """
            LOSSES = {"l1": F.l1_loss, "l2": F.mse_loss}
            class Summed(nn.Module):
                def __init__(self, weights: dict[str, float], kinds: list[str]):
                    super().__init__()
                    self.weights, self.kinds = weights, [LOSSES[each] for each in kinds]
                def forward(self, outputs, targets):
                    found = [f(outputs[key], targets[key]) for key in self.weights for f in self.kinds]
                    return torch.stack(found).sum()
            """,
            "Summed",
            id="words of a list that are keys of a table",
        ),
        pytest.param(
            """
            class Fused(nn.Module):
                def __init__(self, feature_dims: dict[str, int]):
                    super().__init__()
                    self.parts = nn.ModuleDict({key: nn.Linear(size, 16) for key, size in feature_dims.items()})
                def forward(self, **features):
                    return torch.cat([self.parts[key](value) for key, value in features.items()], -1)
            """,
            "Fused",
            id="inputs by any name",
        ),
        pytest.param(
            """
            class Shifted(nn.Module):
                def __init__(self, window, shift, resolution, dim):
                    super().__init__()
                    self.window, self.shift, self.resolution = window, shift, resolution
                    assert 0 <= self.shift < self.window
                    height, width = self.resolution
                    assert 4 < height <= 16
                    self.layer = nn.Linear(dim, dim)
                def forward(self, x):
                    return self.layer(x)
            """,
            "Shifted",
            id="a comparison of several",
        ),
        pytest.param(
            """
            class Bounded(nn.Module):
                def __init__(self, bounds: np.ndarray, width: int):
                    super().__init__()
                    self.least = nn.Parameter(torch.from_numpy(bounds[:, 0]).float(), requires_grad=False)
                    self.layer = nn.Linear(bounds.shape[0], width)
                def forward(self, x):
                    return self.layer(x - self.least)
            """,
            "Bounded",
            id="an array of two dimensions",
        ),
        pytest.param(
            """
            class Words(nn.Module):
                def __init__(self, tokenizer, width):
                    super().__init__()
                    self.inner = nn.Embedding(len(tokenizer), width, padding_idx=tokenizer.pad_token_id)
                def forward(self, input_ids):
                    return self.inner(input_ids)
            """,
            "Words",
            id="a vocabulary is counted",
        ),
        pytest.param(
            """
            class Noised(nn.Module):
                def __init__(self, betas):
                    super().__init__()
                    self.register_buffer("kept", (1 - betas).cumprod(0))
                def forward(self, x, t):
                    return x * self.kept.gather(-1, t).reshape(-1, *[1] * (x.ndim - 1))
            """,
            "Noised",
            id="a tensor by a method that nothing else has",
        ),
        pytest.param(
            """
            from dataclasses import dataclass
            from collections.abc import Sequence
            @dataclass
            class Node:
                name: str
                width: int = 8
            class Chain(nn.Module):
                def __init__(self, nodes: Sequence[Node]):
                    super().__init__()
                    for each in nodes:
                        if not isinstance(each, Node):
                            raise TypeError("nodes are wanted")
                    self.layers = nn.Sequential(*[nn.Linear(each.width, each.width) for each in nodes])
                def forward(self, x):
                    return self.layers(x)
            """,
            "Chain",
            id="instances of the class that a list is annotated with",
        ),
        pytest.param(
            """
            class Blocks(nn.Module):
                def __init__(self, dim, drop_paths=None, drop_path=0.0, depth=2):
                    super().__init__()
                    self.drops = nn.ModuleList([nn.Dropout(drop_paths[i]) for i in range(depth)])
                    self.layer = nn.Linear(dim, dim)
                def forward(self, x, x_size):
                    H, W = x_size
                    B, L, C = x.shape
                    assert L == H * W, "wrong size"
                    x = self.layer(x).view(B, H, W, C)
                    for each in self.drops:
                        x = each(x)
                    return x
            """,
            "Blocks",
            id="a list by its index, and two sizes by their product",
        ),
        pytest.param(
            """
            class Gate(nn.Module):
                def __init__(self, dim):
                    super().__init__()
                    self.conv = nn.Conv2d(dim // 2, dim // 2, 3, 1, 1, groups=dim // 2)
                def forward(self, x, H, W):
                    a, b = x.chunk(2, dim=-1)
                    B, N, C = x.shape
                    b = self.conv(b.transpose(1, 2).contiguous().view(B, C // 2, H, W))
                    return a * b.flatten(2).transpose(1, 2)
            """,
            "Gate",
            id="height and width",
        ),
        pytest.param(
            """
            def exact(function):
                def checked(params):
                    if type(params) is not dict:
                        raise TypeError("a dict is wanted")
                    return function(params)
                return checked
            @exact
            def shrink(params):
                return nn.Softshrink(lambd=params["threshold"])
            """,
            "shrink",
            id="keys of a plain dictionary",
        ),
    ],
)
def test_what_arguments_hold(text: str, name: str, tmp_path: Path) -> None:
    outcome = driven(text, name, tmp_path)
    assert outcome.ending == "ended", outcome.note


def test_a_class_that_is_driven_by_another_one_is_stood_in_for(tmp_path: Path) -> None:
    """Nothing is refuted then: the other one may do more."""
    text = """
        class Base(nn.Module):
            def __init__(self, width):
                super().__init__()
                if type(self) is Base:
                    raise TypeError("it is to be derived from")
                self.layer = nn.Linear(width, 2)
            def forward(self, x):
                return self.layer(x)
        class Own(Base):
            pass
    """
    outcome = driven(text, "Base", tmp_path)
    assert outcome.ending == "ended", outcome.note
    assert f"{STOOD_IN} `Base`" in outcome.driven
    assert STOOD_IN not in driven(text, "Own", tmp_path).driven


@pytest.mark.parametrize(
    ("arguments", "keywords", "by_place", "found"),
    [
        ((3, 8), {}, True, (3, 8, 1)),
        ((3, 8), {}, False, None),
        ((3,), {"out_channels": 4, "stride": 2}, True, (3, 4, 2)),
        ((), {"in_features": 2, "out_features": 5}, False, (2, 5, 1)),
        ((8,), {}, True, None),
        ((8, True), {}, True, None),
        ((8, 8.0), {}, True, None),
    ],
)
def test_sizes_of_a_layer(
    arguments: tuple[int, ...], keywords: dict[str, int], by_place: bool, found: tuple[int, int, int] | None
) -> None:
    assert resized.sizes(arguments, keywords, by_place=by_place) == found


def test_a_resized_tensor_shares_nothing_and_saves_nothing() -> None:
    given = torch.rand(2, 3, 8, 8, requires_grad=True).clone()
    made = resized.resized(given, (3, 5, 2))
    assert made.shape == (2, 5, 4, 4)
    given.mul_(2)
    made.sum().backward()
    assert resized.resized(given, (4, 5, 1)) is given
