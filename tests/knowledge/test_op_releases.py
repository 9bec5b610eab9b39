"""What changes of the operation table between releases: the comparison, and the reading of another torchgen."""

from __future__ import annotations

from pathlib import Path

import pytest

torchgen = pytest.importorskip("torchgen")

from torchlint.optable.releases import changes, facts_of  # noqa: E402


def test_what_another_release_changes() -> None:
    before = {"torch.ldexp": {"": {}}, "torch.align_as": {"": {}}, "torch.exp": {"": {"saves": "result"}}}
    after = {"torch.ldexp": {"": {"saves": "result"}}, "torch.exp": {"": {"saves": "result"}}}
    assert list(changes(before, after)) == [
        ("torch.align_as", "only before"),
        ("torch.ldexp", "(): saves - -> result"),
    ]


def test_the_torchgen_of_a_folder_is_read() -> None:
    found = facts_of(Path(torchgen.__file__).parents[1])
    (exp,) = found["torch.Tensor.exp"].values()
    assert exp == {"node": "ExpBackward0", "differentiable": "self", "saves": "result", "holds": "yes"}
    assert not any(spelling.rpartition(".")[2].startswith("_") for spelling in found)
