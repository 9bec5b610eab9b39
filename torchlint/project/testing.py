"""
Whether a file is one of tests: what a test builds, it throws away, and what it loads, its project has made.

The one place that says so. Asks the file's place in its project and its text; opens no file.
"""

from __future__ import annotations

import re

from torchlint.project.roots import location

_FOLDER = re.compile(r"(?:^|\.)tests\.|(?:^|\.)conftest$")
_TEST = re.compile(r"(?:^|\.)(?:test|test_[^.]*|[^.]*_test)(?:\.|$)")
_ASSERTS = re.compile(r"\bassert|\.assert|\bpytest\b|\bunittest\b")
"""A script that evaluates is called `test_model`, too; it asserts nothing."""


def is_test(path: str, text: str) -> bool:
    """Whether a file lies in a folder `tests`, or has the name of a test, and asserts something."""
    name = location(path)
    return bool(_FOLDER.search(name) or (_TEST.search(name) and _ASSERTS.search(text)))
