"""A rule that ends or holds the process in which it runs, and how tests wait for processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

RULE = '''
import ctypes
import os
import signal
import sys
import time

from torchlint.model import events
from torchlint.rule import Level, Rule


class Killing(Rule):
    """
    Ends the process in which it runs.

    ## What it does
    It ends the process.
    ## Why is this bad?
    It is not.
    ## Cure
    None.
    ## References
    None.
    """

    code, name, level = "KIL001", "killing", Level.ERROR

    def check(self, event: events.InplaceWrite):
        match os.environ["HOW"]:
            case "exit":
                os._exit(0)
            case "crash":
                ctypes.string_at(0)
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "leave":
                sys.exit(0)
            case "wait":
                with open(os.environ["PIDS"], "a") as file:
                    file.write(f"{os.getpid()}\\n")
                while True:
                    time.sleep(0.01)
        return []
'''


def lives(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def until(true: Callable[[], object]) -> None:
    """Wait until something is true; a minute and a half at most."""
    end = time.monotonic() + 90
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
