"""A small part of the random programs, always the same; any number of them: `python -m tests.fuzz`."""

from __future__ import annotations

from .check import HERE, Linter, faults


def test_nothing_is_lost() -> None:
    with Linter(HERE) as linter:
        assert [(number, fault) for number in range(60) for fault in faults(number, [linter])] == []
