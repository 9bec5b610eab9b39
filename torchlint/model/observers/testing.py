"""
Whether the file that runs is one of tests: what a test builds, it throws away.

No observer itself. Asks the file's dotted name and its text; knows no path.
"""

from __future__ import annotations

import re

from torchlint.model.state.machine import Machine

_TEST = re.compile(r"(?:^|\.)(?:tests?|test_[^.]*|[^.]*_test|conftest)(?:\.|$)")
_ASSERTS = re.compile(r"\bassert|\.assert|\bpytest\b|\bunittest\b")
"""A script that evaluates is called `test_model`, too; it asserts nothing."""


def is_test(machine: Machine) -> bool:
    """Whether a file has the name of a test, and asserts something."""
    return bool(_TEST.search(machine.globals.module) and _ASSERTS.search(machine.program.text))
