"""
The abstract state of a script, line by line: what `torchlint check --show-state` prints.

Formats what `model.reveal` says, under the source lines that changed it. Not a report of findings.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.report.reveal import reveal
from torchlint.syntax.tree import Source


def lines(source: Source) -> Iterator[str]:
    """
    Each top-level statement with its line number, and under it the variables it changed.

    Raises
    ------
    torchlint.syntax.lowering_libcst.LoweringError
        if the file is nested too deeply to be followed.
    """
    number_width = len(str(len(source.lines)))
    for state in reveal(source):
        span = source.span(state.statement)
        if not state.changed:
            continue
        text = source.lines[span.line - 1].strip()
        yield f"{span.line:>{number_width}} | {text}"
        name_width = max(len(name) for name in state.changed)
        for name, described in state.changed.items():
            yield f"{'':>{number_width}} |     {name:<{name_width}}  {described}"
