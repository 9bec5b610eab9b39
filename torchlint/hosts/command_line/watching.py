"""
`torchlint check --watch`: a run now, and another whenever a file changes.

Each run is a process of its own, so that a changed configuration, plugin or torchlint counts as well. watchfiles, an
optional extra, tells what changes; what was found of the other files comes from the cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from torchlint.cache.replay import CACHE
from torchlint.config import NAMES, ConfigError
from torchlint.hosts.command_line.options import Options
from torchlint.hosts.command_line.output import complain
from torchlint.project.files import SUFFIXES, USUAL_EXCLUDES

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def watch(options: Options) -> int:
    """
    Run until Ctrl-C.

    Raises
    ------
    ConfigError
        if watchfiles is not installed or a path does not exist.
    """
    try:
        from watchfiles import watch as changes
    except ImportError as error:
        raise ConfigError("--watch: needs watchfiles: pip install 'torchlint[watch]'") from error
    for path in options.paths:
        if not os.path.exists(path):
            raise ConfigError(f"--watch: no such file or directory: {path}")
    arguments = [argument for argument in sys.argv[1:] if argument != "--watch"]
    watched = {path if os.path.isdir(path) else os.path.dirname(path) or os.curdir for path in options.paths}
    _run(arguments)
    for _ in changes(*sorted(watched), watch_filter=lambda change, path: concerns(path), raise_interrupt=True):
        _run(arguments)
    return 0


def concerns(path: str) -> bool:
    """Whether a change of a file may change what is found."""
    parts = Path(path).parts
    if any(part in USUAL_EXCLUDES or part == CACHE for part in parts[:-1]):
        return False
    return path.endswith(SUFFIXES) or parts[-1] in (*NAMES, ".gitignore")


def _run(arguments: Sequence[str]) -> None:
    if sys.stdout.isatty():
        sys.stdout.write(_CLEAR)
        sys.stdout.flush()
    subprocess.run([sys.executable, "-m", "torchlint", *arguments], check=False)
    complain("watching for changes; Ctrl-C ends it")
