"""`torchlint check --statistics`: the table with the names of the rules that hold here; loads them for that."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.hosts.command_line.rules import known_rules
from torchlint.report import statistics
from torchlint.results import RunResult


def table(result: RunResult) -> Iterator[str]:
    """`statistics.table` of a run."""
    return statistics.table(result, known_rules().names)
