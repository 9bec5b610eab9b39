"""What a file that is loaded for its classes needs: options of a command, layers, weights and files that are absent."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.rule import Observed, Verdict
from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.server import shared

Verdicts = Callable[..., list[Verdict]]
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def driven(text: str, name: str, folder: Path) -> Outcome:
    text = HEAD + textwrap.dedent(text)
    file = folder / "snippet.py"
    file.write_text(text)
    return shared().run(Request(text=text, path=str(file), module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            """
            import argparse
            parser = argparse.ArgumentParser()
            parser.add_argument("--width", type=int, default=6)
            parser.add_argument("--depth", type=int, required=True)
            parser.add_argument("data")
            opt = parser.parse_args()
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.a = nn.Linear(opt.width, opt.depth)
                    self.where = opt.data + ".txt"
                def forward(self, x):
                    return self.a(x)
            """,
            "Net",
            id="options of a command, one of which it insists on",
        ),
        pytest.param(
            """
            from not_there.layers import Attention
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.a = Attention(8)
                def forward(self, x):
                    return self.a(x.to(next(self.parameters()).device))
            """,
            "Net",
            id="a parameter of a layer that is not there",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, config):
                    super().__init__()
                    self.a = nn.Conv1d(config.inner, config.inner, config.taps, padding=config.taps)
                def forward(self, x):
                    b, c, n = x.shape
                    return self.a(x)
            """,
            "Net",
            id="a kernel of one dimension, of settings",
        ),
        pytest.param(
            """
            def made(name, parameters, rate):
                if name.lower() == "adam":
                    return torch.optim.Adam(parameters, lr=rate)
                raise ValueError(f"unknown {name!r}; use 'adam'")
            """,
            "made",
            id="a word that is compared in lower case",
        ),
        pytest.param(
            """
            KNOWN = {"first": torch.sin, "second": torch.cos}
            def applied(x, mode: str):
                if mode not in KNOWN:
                    raise ValueError(f"no {mode!r}: there are 'first' and 'second'")
                return KNOWN[mode](x)
            """,
            "applied",
            id="a word that a refusal quotes",
        ),
        pytest.param(
            """
            import os
            def weights(name):
                return torch.load(os.path.join("weights", name))
            """,
            "weights",
            id="a part of a path",
        ),
        pytest.param(
            """
            def distances(binary_mask):
                \"\"\"
                Args:
                    binary_mask: tensor of shape (B, C, H, W)
                \"\"\"
                x = binary_mask.float()
                b, c, h, w = x.shape
                return x.sum()
            """,
            "distances",
            id="a mask of four dimensions",
        ),
        pytest.param(
            """
            def copied(model, target):
                target.load_state_dict(model.state_dict())
                return target
            class Critic(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.a = nn.Linear(2, 2)
            def tested(model):
                return copied(model, Critic())
            """,
            "tested",
            id="the state of a network that is made up",
        ),
        pytest.param(
            """
            def counted(loader, model):
                total = 0
                for batch in loader:
                    total += batch.natoms.sum()
                    model(batch.x)
                return total
            """,
            "counted",
            id="batches with attributes",
        ),
        pytest.param(
            """
            def stacked(block, n_layers):
                return nn.Sequential(*[block() for _ in range(n_layers)])
            """,
            "stacked",
            id="what is called makes layers",
        ),
        pytest.param(
            """
            def returns(rewards, dones):
                total, found = 0, []
                for reward, done in zip(rewards, dones):
                    total = reward + (0 if done > 0.5 else total)
                    found.append(total)
                return torch.stack(found)
            """,
            "returns",
            id="parts of a tensor that are taken for numbers",
        ),
    ],
)
def test_driven(text: str, name: str, tmp_path: Path) -> None:
    outcome = driven(text, name, tmp_path)
    assert outcome.ending == "ended", (outcome.note, outcome.driven)


def test_options_that_are_given_are_parsed(tmp_path: Path) -> None:
    text = """
    import argparse
    def width(x):
        parser = argparse.ArgumentParser()
        parser.add_argument("--width", type=int, default=6)
        assert parser.parse_args(["--width", "3"]).width == 3
        return x * parser.parse_args([]).width
    """
    assert driven(text, "width", tmp_path).ending == "ended"


@pytest.mark.parametrize(
    ("said", "status"), [(", weights_only=False", "confirmed"), (", weights_only=True", "inconclusive")]
)
def test_a_file_that_is_not_there_is_loaded_as_it_was_asked(said: str, status: str, verdicts: Verdicts) -> None:
    program = f"""
    import torch
    def restored(path):
        return torch.load(path{said})  # warning: [TLN904]
    """
    (verdict,) = verdicts(program, claims={"TLN904": (Observed("foreign-code", "torch.load"),)})
    assert verdict.status == status, verdict.evidence
