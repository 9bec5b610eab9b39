"""
The abstract state of a script, line by line: what `torchlint check --show-state` prints.

Formats what `model.reveal` says, under the source lines that changed it. Not a report of findings.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.report.reveal import reveal
from torchlint.syntax.text import NEWLINE


def lines(text: str) -> Iterator[str]:
    """
    Each top-level statement with its line number, and under it the variables it changed.

    Raises
    ------
    torchlint.syntax.text.SourceError
        if it is not valid Python, or nested too deeply to be followed.
    """
    source = NEWLINE.split(text)
    number_width = len(str(len(source)))
    for state in reveal(text):
        if not state.changed:
            continue
        yield f"{state.line:>{number_width}} | {source[state.line - 1].strip()}"
        name_width = max(len(name) for name in state.changed)
        for name, described in state.changed.items():
            yield f"{'':>{number_width}} |     {name:<{name_width}}  {described}"
