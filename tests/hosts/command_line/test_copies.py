"""A smell in copies of one piece of code is told once, and the others are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from process import Torchlint

LOSS = """\
import torch


class Loss(torch.nn.Module):
    def forward(self, x, y):
        score = self.score(x, y)
        loss = -torch.log(torch.sigmoid(score))
        return loss.mean()
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LOSS)
    (tmp_path / "b.py").write_text(LOSS.replace("import torch\n", "import torch\n\nRATE = 1\n"))


def found(torchlint: Torchlint, *options: str) -> list[dict[str, object]]:
    every: list[dict[str, object]] = json.loads(torchlint("check", "--output-format", "json", *options).out)
    return every


def test_it_is_told_in_the_first(torchlint: Torchlint) -> None:
    (finding,) = found(torchlint, ".")
    assert (finding["path"], finding["line"]) == ("a.py", 7)
    assert str(finding["message"]).endswith("; a copy is in b.py:9")
    (other,) = finding["others"]  # type: ignore[misc]
    assert (other["path"], other["line"]) == ("b.py", 9)
    assert found(torchlint, ".") == [finding]  # from the cache


def test_a_file_alone_tells_its_own(torchlint: Torchlint) -> None:
    (finding,) = found(torchlint, "b.py")
    assert "copy" not in str(finding["message"])
    assert "others" not in finding


@pytest.mark.parametrize(
    ("was", "new"),
    [
        ("score = self.score(x, y)", "score = self.score(x)"),  # beside it
        ("class Loss", "class Other"),
        ("def forward", "def loss"),
        ("torch.sigmoid(score)", "torch.sigmoid(2 * score)"),
    ],
)
def test_what_is_no_copy_is_told(torchlint: Torchlint, tmp_path: Path, was: str, new: str) -> None:
    (tmp_path / "b.py").write_text(LOSS.replace(was, new))
    assert len(found(torchlint, ".")) == 2


def test_a_file_that_has_more_is_told(torchlint: Torchlint, tmp_path: Path) -> None:
    more = "\n    def other(self, z):\n        return torch.log(torch.sigmoid(self.score(z, z)))\n"
    (tmp_path / "b.py").write_text(LOSS + more)
    assert [each["path"] for each in found(torchlint, ".")] == ["a.py", "b.py"]


def test_what_is_printed_as_it_comes_is_counted_at_the_end(torchlint: Torchlint) -> None:
    ran = torchlint("check", "--output-format", "json-lines", ".")
    assert len(ran.out.splitlines()) == 1
    assert "1 more in copies of the same code: b.py:9" in ran.err


def test_errors_are_told_in_every_copy(torchlint: Torchlint, tmp_path: Path, overwritten: str) -> None:
    body = "".join(f"    {line}" for line in overwritten.splitlines(keepends=True))
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(f"def run():\n{body}")
    assert [each["code"] for each in found(torchlint, ".")] == ["TLN201", "TLN201"]
