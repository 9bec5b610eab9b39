"""An error in a file that others are generated from is none: what was generated runs, and is linted itself."""

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
    ("head", "codes"),
    [
        ("# This file was automatically generated from src/package/source_block.py.\n", []),
        ("# This file was automatically generated from src/package/other_block.py.\n", ["TLN308"]),
        ("# See source_block.py for how weights are generated.\n", ["TLN308"]),
        ("", ["TLN308"]),
    ],
)
def test_what_runs_is_what_was_generated(tmp_path: Path, head: str, codes: list[str]) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "source_block.py").write_text(SOURCE)
    (package / "block.py").write_text(f"{head}from torch import nn\n")
    findings = lint(SOURCE, path=str(package / "source_block.py")).findings
    assert [each.code for each in findings if each.level.value == "error"] == codes
    assert len(findings) == len(codes)
