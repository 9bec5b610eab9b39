"""What TLN806 says of spawned workers, held against Python itself: the sandbox of the other tests starts none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from torch.utils.data import DataLoader

loader = DataLoader(range(4), num_workers=1, multiprocessing_context="spawn")
{guard}
    for batch in loader:
        pass
"""


@pytest.mark.parametrize(("guard", "fails"), [("if True:", True), ('if __name__ == "__main__":', False)])
def test_a_spawned_worker_runs_the_file_again(tmp_path: Path, guard: str, fails: bool) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(guard=guard), encoding="utf-8")
    ended = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode != 0) == fails, ended.stderr
    assert ("bootstrapping phase" in ended.stderr) == fails
