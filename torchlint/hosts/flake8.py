"""
The flake8 plugin: the engine's findings as flake8 wants them.

Flake8 itself looks after `# noqa`, `--select` and `--ignore`; `[tool.torchlint]` and torchlint's own
comments hold on top. Imports neither libcst nor the rules before it sees a file that mentions torch: flake8 loads
every plugin in every run.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import torchlint
from torchlint.run import watched

if TYPE_CHECKING:
    from torchlint.finding import Finding

_Shown: TypeAlias = tuple[int, int, str]
"""Line (from 1), column (from 0), code and message."""


class Plugin:
    """
    What flake8 makes of each file.

    Parameters
    ----------
    tree
        flake8's own tree; unused, but asking for it makes flake8 call once per file.
    lines
        The file's lines with their newlines.
    filename
        The path, or "stdin".
    """

    name = "torchlint"
    version = torchlint.__version__
    strict: ClassVar[bool] = False

    def __init__(self, tree: ast.AST, lines: Sequence[str], filename: str) -> None:
        self.lines = lines
        self.filename = filename

    @staticmethod
    def add_options(manager: Any) -> None:
        """Register `--torchlint-strict`."""
        manager.add_option(
            "--torchlint-strict",
            action="store_true",
            parse_from_config=True,
            help="Report torchlint's strict-level findings too: correct code that a purist would change.",
        )

    @classmethod
    def parse_options(cls, options: Any) -> None:
        """Take over the value of `--torchlint-strict`."""
        cls.strict = bool(options.torchlint_strict)

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """Line (from 1), column (from 0), text, and this class, for each finding."""
        if any("torch" in line for line in self.lines):
            for line, column, text in _findings("".join(self.lines), self.filename, self.strict):
                yield line, column, text, type(self)


def _findings(text: str, filename: str, strict: bool) -> Sequence[_Shown]:
    """
    What is found in a file, by a process of its own that is kept for the next: one that died would take flake8's
    process with it, and flake8 waits for ever for a process that died.
    """
    global _process
    if not watched.POSSIBLE:
        return _check((text, filename, strict))
    if _process is None or _process.owner != os.getpid():  # flake8 itself forks
        _process = watched.Watched(_check)
    found = _process.perform((text, filename, strict))
    return [(1, 0, f"TLN000 {found}")] if isinstance(found, str) else found


_process: watched.Watched[tuple[str, str, bool], list[_Shown]] | None = None


def _check(asked: tuple[str, str, bool]) -> list[_Shown]:
    from torchlint.config import ConfigError, Overrides, for_directory
    from torchlint.lint import engine
    from torchlint.lint.registry import INTERNAL_ERROR, RegistryError
    from torchlint.run.job import Job, check_in_host

    text, filename, strict = asked
    findings: Sequence[Finding]
    try:
        job = Job(filename, for_directory(Path(filename).parent), Overrides(strict=strict))
        findings = check_in_host(job, text)
    except (ConfigError, RegistryError) as error:
        findings = (engine.problem(filename, INTERNAL_ERROR, str(error)),)
    return [(item.span.line, item.span.column - 1, f"{item.code} {item.message}") for item in findings]
