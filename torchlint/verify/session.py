"""
What passes between the linter and a program of the user's that is run under observation: what to run and to watch, and
what was seen, scene by scene.

Plain data in the frames of `protocol`. A scene is what is judged by itself: a script from its beginning to its end, a
test of a suite. Imports neither torch nor the linter: both sides load it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

from torchlint.verify.protocol import Outcome, WatchedStatement

STRIDE = 1 << 24
"""The lines of the files of a session are counted through: those of one begin at a multiple of this."""
SCENES = 12
"""A watched statement is reported of so many scenes; more add nothing but time."""


class Stopped(BaseException):
    """The program is to go on no further; not an `Exception`, so that `except Exception` lets it pass."""


@dataclass(frozen=True, slots=True)
class Command:
    """
    A program of the user's.

    Attributes
    ----------
    kind
        A script, a module (`-m`), or pytest.
    target
        The script's path, or the module's name.
    arguments
        What comes after it.
    """

    kind: Literal["script", "module", "pytest"]
    target: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """
    A file with statements to observe: its real path, what its bytes hash to (SHA-256), the statements, and the text
    that is loaded in its stead, if one is.
    """

    path: str
    digest: str
    watches: tuple[WatchedStatement, ...]
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """
    A run under observation.

    Attributes
    ----------
    files
        What is watched.
    observe, calls, functions
        As in `protocol.Request`.
    steps
        Steps of optimizers after which a scene is not watched any further.
    told
        Names of scenes that are told of even where no watched statement ran.
    copies
        As in `protocol.Request`.
    """

    files: tuple[WatchedFile, ...]
    observe: bool
    calls: tuple[str, ...]
    functions: tuple[str, ...]
    steps: int
    told: tuple[str, ...] = ()
    copies: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """What the process that runs the user's program is given."""

    command: Command
    session: Session


@dataclass(frozen=True, slots=True)
class Told:
    """
    What the process tells, one after the other.

    Attributes
    ----------
    file
        Index of the file that `outcome` is about; -1: about the run.
    scene
        Name of the test; "" for a script.
    outcome
        What was seen of the file in this scene; None at the end of the run.
    skipped
        At the end, for a file: how many more scenes it was in.
    note
        About a file: why it was not watched. About the run: how it ended.
    """

    file: int
    scene: str = ""
    outcome: Outcome | None = None
    skipped: int = 0
    note: str = ""


def parsed(text: str) -> tuple[dict[str, str], str, Command]:
    """
    The words of a command as somebody types it in a shell.

    Returns
    -------
    tuple
        Variables that are set in front of it, the Python that is named ("" if none is), and the command.

    Raises
    ------
    ValueError
        if it is none that can be run under observation: says what can.
    """
    words = shlex.split(text)
    variables: dict[str, str] = {}
    while words and "=" in words[0] and words[0].partition("=")[0].isidentifier():
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    python = ""
    if words and words[0].rpartition("/")[2].startswith("python"):
        python = words.pop(0)
    elif words and words[0] in ("pytest", "py.test"):
        return variables, "", Command("pytest", "", tuple(words[1:]))
    if len(words) > 1 and words[0] == "-m":
        kind: Literal["module", "pytest"] = "pytest" if words[1] == "pytest" else "module"
        return variables, python, Command(kind, words[1], tuple(words[2:]))
    if words and not words[0].startswith("-") and (python or words[0].endswith(".py")):
        return variables, python, Command("script", words[0], tuple(words[1:]))
    raise ValueError(
        f"`{text}` cannot be run under observation: it must be `pytest …`, a script (`train.py …`), a module "
        "(`-m package.train …`), or one of them after `python`"
    )
