"""
The programs of `programs.md`, and what stands below their names.

A program begins with its name (`### A10_0`) and a line of three parts: whether torch `raises` or `runs`; the codes of
which one is right, `none` where no rule of the catalogue is about the mistake, or `correct` where there is none; and
what became of it when it was written: `missed`, `found`, or `silent` where it is correct.

Nothing here imports torch or torchlint, and nothing runs a program.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
_PROGRAM = re.compile(
    r"^## (?P<capability>[^\n]+)$"
    r"|^### (?P<name>\S+)\n(?P<torch>raises|runs); (?P<codes>[^;\n]+); (?P<was>missed|found|silent)\n\n"
    r"```python\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Program:
    """One program: its text, and what is expected of it."""

    capability: str
    name: str
    raises: bool
    codes: tuple[str, ...]
    was: str
    text: str

    @property
    def correct(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.was == "silent"

    @property
    def file(self) -> str:
        """The name of the file that it is linted as."""
        return self.name.replace("/", "_") + ".py"


def programs() -> list[Program]:
    """
    All programs, in the order of the file.

    Raises:
        ValueError: the file has a program of another form.

    """
    text = (FOLDER / "programs.md").read_text(encoding="utf-8")
    capability, found = "", []
    for match in _PROGRAM.finditer(text):
        if match["capability"] is not None:
            capability = match["capability"]
            continue
        ast.parse(match["text"])
        codes = tuple(re.findall(r"TLN\d{3}", match["codes"]))
        found.append(Program(capability, match["name"], match["torch"] == "raises", codes, match["was"], match["text"]))
    if len(found) != text.count("\n### "):
        raise ValueError("programs.md: a program has not the form that this module describes")
    return found
