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
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import torchlint
from torchlint.config import LEVELS, ConfigError, Overrides, for_directory
from torchlint.run import watched

if TYPE_CHECKING:
    from torchlint.finding import Finding

_Shown: TypeAlias = tuple[int, int, str]
"""Line (from 1), column (from 0), code and message."""


class _Asked(NamedTuple):
    """
    A file, and what flake8's options say about it.

    Attributes
    ----------
    text, filename
        The file.
    overrides
        What holds on top of torchlint's configuration.
    level
        The mildest level that is reported.
    """

    text: str
    filename: str
    overrides: Overrides
    level: str


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
    overrides: ClassVar[Overrides] = Overrides()
    level: ClassVar[str] = LEVELS[-1]

    def __init__(self, tree: ast.AST, lines: Sequence[str], filename: str) -> None:
        self.lines = lines
        self.filename = filename

    @staticmethod
    def add_options(manager: Any) -> None:
        """Register the options `--torchlint-…`, for the command line and for flake8's configuration files."""
        manager.add_option(
            "--torchlint-strict",
            action="store_true",
            parse_from_config=True,
            help="Report torchlint's strict-level findings too: correct code that a purist would change.",
        )
        for name, text in (
            ("select", "Of torchlint's rules, only these: codes, prefixes (TLN2), names, or ALL."),
            ("extend-select", "These rules of torchlint too."),
            ("ignore", "Not these rules of torchlint."),
        ):
            manager.add_option(
                f"--torchlint-{name}",
                metavar="CODES",
                default=[],
                comma_separated_list=True,
                parse_from_config=True,
                help=f"{text} On top of torchlint's own configuration.",
            )
        manager.add_option(
            "--torchlint-level",
            choices=LEVELS,
            default=LEVELS[-1],
            parse_from_config=True,
            help="The mildest level of torchlint's findings that is reported; flake8 itself knows no levels.",
        )

    @classmethod
    def parse_options(cls, options: Any) -> None:
        """Take over the values of these options."""
        cls.overrides = Overrides(
            select=tuple(options.torchlint_select) or None,
            extend_select=tuple(options.torchlint_extend_select),
            ignore=tuple(options.torchlint_ignore),
            strict=bool(options.torchlint_strict),
        )
        cls.level = options.torchlint_level

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """Line (from 1), column (from 0), text, and this class, for each finding."""
        if any("torch" in line for line in self.lines):
            for line, column, text in _findings(_Asked("".join(self.lines), self.filename, self.overrides, self.level)):
                yield line, column, text, type(self)


def _findings(asked: _Asked) -> Sequence[_Shown]:
    """
    What is found in a file, by a process of its own that is kept for the next: one that died would take flake8's
    process with it, and flake8 waits for ever for a process that died.
    """
    global _process
    if not watched.POSSIBLE:
        return _check(asked)
    if _process is None or _process.owner != os.getpid():  # flake8 itself forks
        _process = watched.Watched(_check)
    found = _process.perform(asked)
    return [(1, 0, f"TLN000 {found}")] if isinstance(found, str) else found


_process: watched.Watched[_Asked, list[_Shown]] | None = None


def _check(asked: _Asked) -> list[_Shown]:
    from torchlint.lint import engine
    from torchlint.lint.registry import INTERNAL_ERROR, RegistryError
    from torchlint.run.job import Job, check_in_host

    findings: Sequence[Finding]
    try:
        job = Job(asked.filename, for_directory(Path(asked.filename).parent), asked.overrides)
        findings = check_in_host(job, asked.text)
    except (ConfigError, RegistryError) as error:
        findings = (engine.problem(asked.filename, INTERNAL_ERROR, str(error)),)
    mildest = LEVELS.index(asked.level)
    findings = [item for item in findings if item.level.rank <= mildest]
    return [(item.span.line, item.span.column - 1, f"{item.code} {item.message}") for item in findings]
