"""Modules that no script drives: constructor and inputs are found from their layers and from torch's refusals."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from torchlint.rule import Raises, Verdict
from torchlint.verify.protocol import Request
from torchlint.verify.server import shared

Verdicts = Callable[..., list[Verdict]]

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, Tensor\n"


def one(found: list[Verdict], status: str = "confirmed") -> str:
    """The evidence of the one verdict, which has this status."""
    (verdict,) = found
    assert verdict.status == status, verdict.evidence
    return verdict.evidence


def module(text: str) -> str:
    return HEAD + textwrap.dedent(text)


def test_inputs_from_a_linear_layer(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Gate(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.proj = nn.Linear(12, 6)

                    def forward(self, x):
                        g = torch.sigmoid(self.proj(x))  # note: saves its result
                        g += 1.0  # error: [TLN201]
                        return g * 2  # note: differentiated by the caller
                """
            )
        )
    )
    assert "RuntimeError in its backward: one of the variables" in evidence
    assert "`Gate()` called with `x` of shape (2, 12)" in evidence
    assert "in line 12 took it from version 0 to 1" in evidence


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        ("nn.Conv1d(5, 4, 3)", "(2, 5, 16)"),
        ("nn.Conv2d(3, 4, 3)", "(2, 3, 16, 16)"),
        ("nn.Conv3d(2, 4, 3)", "(2, 2, 8, 8, 8)"),
        ("nn.Sequential(nn.BatchNorm2d(7), nn.ReLU())", "(2, 7, 8, 8)"),
        ("nn.LayerNorm((4, 6))", "(2, 4, 6)"),
        ("nn.Sequential(nn.Flatten(), nn.Linear(9, 4))", "(2, 9)"),
    ],
)
def test_inputs_from_the_first_layer(verdicts: Verdicts, layer: str, shape: str) -> None:
    evidence = one(
        verdicts(
            module(
                f"""
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.first = {layer}

                    def forward(self, x):
                        y = self.first(x).exp()
                        y.mul_(2)  # error: [TLN201]
                        return y  # note: differentiated by the caller
                """
            )
        )
    )
    assert f"`x` of shape {shape}" in evidence


def test_constructor_arguments_from_annotations_and_names(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Block(nn.Module):
                    def __init__(self, in_channels: int, kernel_size, hidden: list[int], dropout, act: nn.Module):
                        super().__init__()
                        self.conv = nn.Conv2d(in_channels, hidden[0], kernel_size)
                        self.drop, self.act = nn.Dropout(dropout), act

                    def forward(self, images: Tensor):
                        y = self.drop(self.conv(images)).tanh()
                        y[0] = 0.0  # smell: [TLN205]
                        return y
                """
            )
        )
    )
    assert "recorded by TanhBackward0" in evidence
    assert "`Block(in_channels=8, kernel_size=3, hidden=[8, 8], dropout=0.1, act=" in evidence


def test_constructor_call_of_the_same_file(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                WIDTH = 24

                class Net(nn.Module):
                    def __init__(self, width, kind):
                        super().__init__()
                        assert kind == "narrow" and width == 24
                        self.layer = nn.Linear(width, 1)

                    def forward(self, x):
                        return self.layer(x).exp().mul_(2)  # error: [TLN201]

                def main(data):
                    net = Net(WIDTH, kind="narrow")
                    net(data)
                """
            )
        )
    )
    assert "`Net(24, kind='narrow')` called with `x` of shape (2, 24)" in evidence


def test_shapes_are_repaired_from_what_torch_says(verdicts: Verdicts) -> None:
    for body, shape in {
        "h = x @ torch.ones(7, 3)": (2, 7),
        "b, c, height, width = x.shape; h = x": None,
        "h = x.permute(0, 2, 3, 1)": None,
        "h = x + torch.ones(5)": (2, 5),
        "h = F.conv2d(x, torch.ones(4, 6, 3, 3))": None,
        "h = torch.ones(32, 9) @ x": None,
    }.items():
        evidence = one(
            verdicts(
                module(
                    f"""
                    class Net(nn.Module):
                        def forward(self, x):
                            {body}
                            h = h.exp()
                            h += 1  # error: [TLN201]
                            return h  # note: differentiated by the caller
                    """
                )
            )
        )
        assert shape is None or f"`x` of shape {shape}" in evidence


def test_integer_inputs_of_an_embedding(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Tagger(nn.Module):
                    def __init__(self, vocab_size: int, dim: int = 16):
                        super().__init__()
                        self.words = nn.Embedding(vocab_size, dim)

                    def forward(self, batch):
                        h = self.words(batch).sigmoid()
                        h.clamp_(min=0.1)  # error: [TLN201]
                        return h.sum(-1)  # note: differentiated by the caller
                """
            )
        )
    )
    assert "integers `batch` of shape (2, 5)" in evidence


def test_a_proof_that_needs_inputs_with_gradients(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Square(nn.Module):
                    def forward(self, x):
                        y = x.sin()
                        z = y * y
                        y.add_(1)  # warning: [TLN201]
                        return z  # note: differentiated by the caller
                """
            )
        )
    )
    assert "that requires grad" in evidence


def test_a_false_claim_about_a_module_is_refuted(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layer = nn.Linear(4, 4)

                    def forward(self, x):
                        y = self.layer(x) + 1  # note: `+` is said to save its result
                        y.mul_(2)  # error: [TLN201]
                        return y  # note: differentiated by the caller
                """
            )
        ),
        "refuted",
    )
    assert "had saved it (`Net()` called with `x` of shape (2, 4) that requires grad" in evidence


def test_a_script_that_never_differentiates_does_not_refute(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layer = nn.Linear(4, 4)

                    def forward(self, x):
                        y = self.layer(x).exp()
                        y.mul_(2)  # error: [TLN201]
                        return y  # note: differentiated by the caller

                with torch.no_grad():
                    Net()(torch.ones(1, 4))
                """
            )
        )
    )
    assert "in its backward" in evidence


def test_top_level_code_that_fails_does_not_keep_a_module_from_being_driven(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                data = open("no such file").read()
                size = len(data)

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.scale = nn.Parameter(torch.ones(3)) * 0.1  # error: [TLN301]

                    def forward(self, x):
                        return x * self.scale
                """
            )
        )
    )
    assert "`named_parameters()` of `Net` has 0" in evidence


def test_a_module_that_cannot_be_built(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Net(nn.Module):
                    def __init__(self, config):
                        super().__init__()
                        self.layer = nn.Linear(len(open(str(config.path)).read()), 4)

                    def forward(self, x):
                        self.layer(x).backward()  # error: [TLN103]
                """
            )
        ),
        "inconclusive",
    )
    assert "found no way to build and call" in evidence
    assert "construct: " in evidence


def test_a_class_that_is_no_module(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Trainer:
                    def forward(self, x):
                        x.exp().backward()  # error: [TLN103]
                """
            )
        ),
        "inconclusive",
    )
    assert "`Trainer` is no torch.nn.Module" in evidence


def test_state_carried_from_one_call_to_the_next(verdicts: Verdicts) -> None:
    evidence = one(
        verdicts(
            module(
                """
                class Memory(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.cell = nn.Linear(4, 4)
                        self.h = torch.zeros(2, 4)

                    def forward(self, x):
                        self.h = torch.tanh(self.cell(x) * self.h + 1)  # error: [TLN101]
                        return self.h  # note: differentiated by the caller
                """
            ),
            claims={"TLN101": (Raises("Trying to backward through the graph a second time", here=False),)},
        )
    )
    assert "second backward" in evidence


@pytest.mark.parametrize(
    ("constructor", "call"),
    [
        ("self.rnn = nn.LSTM(6, 5, batch_first=True)", "self.rnn(x)[0]"),
        ("self.attention = nn.MultiheadAttention(8, 2)", "self.attention(x, x, x)[0]"),
        ("self.conv = nn.Conv2d(1, 4, 5); self.head = nn.Linear(4 * 24 * 24, 2)", "self.head(self.conv(x).flatten(1))"),
        ("self.norm = nn.BatchNorm1d(6)", "self.norm(x)"),
        ("self.w = nn.Parameter(torch.ones(9, 2))", "x @ self.w"),
        ("self.layer = nn.Bilinear(3, 3, 2)", "self.layer(x, x)"),
    ],
)
def test_layers_are_driven(constructor: str, call: str) -> None:
    text = module(
        f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                {constructor}

            def forward(self, x):
                return {call}
        """
    )
    outcome = shared().run(Request(text, module="Net", observe=True))
    assert outcome.ending == "ended", outcome.note
    assert [b.raised for b in outcome.backwards] == [False, False]


def test_several_inputs(verdicts: Verdicts) -> None:
    text = module(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 1)

            def forward(self, x, weight, labels, reduction="mean"):
                return {"loss": (self.layer(x) * weight).mean() + labels.float().sum(), "extras": [x]}
        """
    )
    outcome = shared().run(Request(text, module="Net", observe=True))
    assert outcome.ending == "ended", outcome.note
    assert "`x` of shape (2, 4), `weight` of shape (2, 4), integers `labels` of shape (2, 4)" in outcome.driven
