"""The pages under `docs/` as the tests of the site take them apart: blocks in order, and pages written anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"(?:^<!-- (?P<note>[^\n]*) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the comment right above it, and where its text begins in the page."""

    kind: str
    text: str
    note: str
    start: int


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for found in _BLOCK.finditer(page):
        yield Block(found["kind"], found["text"], found["note"] or "", found.start("text"))


def written(page: str, changed: dict[int, str]) -> str:
    """The page with other texts in the blocks that begin at these places."""
    for block in reversed(list(blocks(page))):
        if block.start in changed:
            page = page[: block.start] + changed[block.start] + page[block.start + len(block.text) :]
    return page
