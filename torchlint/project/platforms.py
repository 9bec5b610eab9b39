"""
Where the workers of a project's loaders are spawned, or come from a fork server: by the platforms and the Pythons that
its metadata speak of.

Texts in, words out. Which files those are is the business of who asks; knows nothing of torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from torchlint.project.pythons import pythons
from torchlint.project.stated import python

FILES = ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO")
"""Of a project's own directory, beside the `METADATA` of an unpacked wheel."""
_FORK_SERVER = 14
"""The minor number of Python 3 from which on processes on Linux come from a fork server."""
_VERSION = re.compile(r"Programming Language :: Python :: 3\.(\d+)")
_SYSTEM = re.compile(r"Operating System :: ([^\"',\]\n]+)")
_MACOS, _WINDOWS, _LINUX = "macOS", "Windows", "Linux from Python 3.14"


def spawning(stated: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """
    The platforms on which processes are not forked.

    Parameters
    ----------
    stated
        The names of the files of metadata, each with what is in it. Where none says anything, all are meant.
    """
    ends, systems = False, set[str]()
    for name, text in stated:
        try:
            allowed = pythons(python(name, text))
        except (ValueError, TypeError, AttributeError):
            allowed = ()
        listed = [int(each) for each in _VERSION.findall(text)]
        ends = ends or any(each and max(each) < _FORK_SERVER for each in (allowed, listed))
        systems |= {each.strip() for each in _SYSTEM.findall(text)}
    linux_alone = bool(systems) and all(each.endswith("Linux") for each in systems)
    others = () if linux_alone else (_MACOS, _WINDOWS)
    return others if ends else (*others, _LINUX)
