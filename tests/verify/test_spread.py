"""The verdicts of a run are the same whoever runs the programs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from torchlint.config import Overrides
from torchlint.run import run
from torchlint.verify.run import verify_run

OVERWRITTEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""


def test_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        Path(name).write_text(OVERWRITTEN)
    Path("c.py").write_text("import torch\n")
    found = run.check_files(["a.py", "b.py", "c.py"], Overrides(), workers=1)

    def verdicts(**who: object) -> list[tuple[str, str]]:
        judged = verify_run(found, {}, timeout=60.0, memory_mb=4096, **who)  # type: ignore[arg-type]
        return [(each.path, each.verdict.status) for each in judged.findings if each.verdict is not None]

    expected = [("a.py", "confirmed"), ("b.py", "confirmed")]
    assert verdicts(workers=2) == expected
    with ThreadPoolExecutor(2) as executor:
        assert verdicts(executor=lambda: nullcontext((executor, 2))) == expected
