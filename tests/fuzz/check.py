"""What must hold of every random program: it kills nobody, nothing of it is lost, and compiled code says the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from .generator import FAULT, program

HERE = Path(__file__).parents[2]


@dataclass
class Linter(AbstractContextManager["Linter"]):
    """A process that lints, started anew when it dies. `root` is the folder of the torchlint that runs in it."""

    root: Path
    slowest: float = 0.0
    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    def ask(self, folder: Path) -> list[list[object]] | str:
        """The findings in a folder, or how the process ended."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "tests" / "fuzz" / "worker.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=self.root,
                env={**os.environ, "PYTHONPATH": str(self.root)},
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(str(folder)) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            ended = f"the linter ended with {self._process.wait()}"
            self._process = None
            return ended
        findings, seconds = json.loads(line)
        self.slowest = max(self.slowest, seconds)
        return findings  # type: ignore[no-any-return]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()


def faults(number: int, linters: list[Linter]) -> Iterator[str]:
    """What is wrong with what linters say of a program."""
    files = program(number)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            compile(text, name, "exec")
            (Path(folder) / name).write_text(text, encoding="utf-8")
        answers = [linter.ask(Path(folder)) for linter in linters]
    for linter, answer in zip(linters, answers, strict=True):
        if isinstance(answer, str):
            yield f"{linter.root}: {answer}"
            continue
        for finding in answer:
            if finding[3] == "TLN000":
                yield f"{linter.root}: {finding[0]}:{finding[1]}: {finding[5]}"
        last = FAULT.count("\n")
        for name in files:
            if [name, last, "TLN101"] not in [[*finding[:2], finding[3]] for finding in answer]:
                yield f"{linter.root}: the fault in line {last} of {name} is not found"
    if len({json.dumps(answer) for answer in answers}) > 1:
        yield "they disagree"
