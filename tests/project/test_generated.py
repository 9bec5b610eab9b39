"""An error in a file that others are generated from is one only where that file itself runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

SOURCE = """
from torch import nn

class Block(nn.Module):
    def __init__(self):
        nn.Module.__init__()
        self.layer = nn.Linear(2, 2)
"""


@pytest.mark.parametrize(
    ("head", "level"),
    [
        ("# This file was automatically generated from src/package/source_block.py.\n", "warning"),
        ("# This file was automatically generated from src/package/other_block.py.\n", "error"),
        ("# See source_block.py for how weights are generated.\n", "error"),
        ("", "error"),
    ],
)
def test_what_runs_is_what_was_generated(tmp_path: Path, head: str, level: str) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "source_block.py").write_text(SOURCE)
    (package / "block.py").write_text(f"{head}from torch import nn\n")
    (finding,) = lint(SOURCE, path=str(package / "source_block.py")).findings
    assert (finding.code, finding.level.value) == ("TLN308", level)
    assert ("`block.py`" in finding.message) == (level == "warning")
