"""
Whether a file is one of tests: what a test builds, it throws away.

Asks its dotted name, or its place in the project as one, and its text; opens no file, and knows no path.
"""

from __future__ import annotations

import re

_TEST = re.compile(r"(?:^|\.)(?:tests?|test_[^.]*|[^.]*_test|conftest)(?:\.|$)")
_ASSERTS = re.compile(r"\bassert|\.assert|\bpytest\b|\bunittest\b")
"""A script that evaluates is called `test_model`, too; it asserts nothing."""


def is_test(name: str, text: str) -> bool:
    """Whether a file has the name of a test, and asserts something."""
    return bool(_TEST.search(name) and _ASSERTS.search(text))
