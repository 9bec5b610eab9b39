"""
The graph of a backward as an SVG: what each node has saved, and where a write hit it.

Knows nothing of torch; draws boxes and lines, each node below all that lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, LINE, GAP_X, GAP_Y = 260, 15, 24, 36
MOST = 400
"""At most so many nodes are drawn."""


@dataclass(frozen=True)
class Box:
    """A node: what it is called, where it was recorded, what it saved, what was overwritten, and where it leads."""

    key: int
    name: str
    node: str
    where: str
    saved: tuple[str, ...]
    hit: tuple[str, ...]
    following: tuple[int, ...]


def svg(boxes: Sequence[Box], gradients: Mapping[int, str]) -> str:
    """
    The picture.

    Parameters
    ----------
    boxes
        Nodes of the graph.
    gradients
        What is said of the gradient that came to a node, by key.
    """
    drawn = list(boxes[:MOST])
    lines = {box.key: _lines(box, gradients.get(box.key, "")) for box in drawn}
    rows: dict[int, list[Box]] = {}
    for key, rank in _ranks(drawn).items():
        rows.setdefault(rank, []).append(next(box for box in drawn if box.key == key))
    place: dict[int, tuple[int, int, int]] = {}
    top = GAP_Y
    for rank in sorted(rows):
        heights = [len(lines[box.key]) * LINE + 10 for box in rows[rank]]
        for column, (box, height) in enumerate(zip(rows[rank], heights, strict=True)):
            place[box.key] = (GAP_X + column * (WIDTH + GAP_X), top, height)
        top += max(heights) + GAP_Y
    width = GAP_X + max((len(row) for row in rows.values()), default=1) * (WIDTH + GAP_X)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" '
        'font-family="monospace" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for box in drawn:
        x, y, height = place[box.key]
        for following in box.following:
            if following in place:
                to_x, to_y, _ = place[following]
                ends = f'x1="{x + WIDTH // 2}" y1="{y + height}" x2="{to_x + WIDTH // 2}" y2="{to_y}"'
                out.append(f'<line {ends} stroke="#888"/>')
    for box in drawn:
        x, y, height = place[box.key]
        stroke, fill = ("#c00", "#fee") if box.hit else ("#246", "#eef")
        out.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{height}" rx="4" stroke="{stroke}" fill="{fill}"/>')
        for number, (text, colour) in enumerate(lines[box.key]):
            short = text if len(text) <= 38 else text[:37] + "…"
            out.append(
                f'<text x="{x + 6}" y="{y + 4 + LINE * (number + 1) - 4}" fill="{colour}">{escape(short)}'
                f"<title>{escape(text)}</title></text>"
            )
    out.append("</svg>")
    return "\n".join(out) + "\n"


def _lines(box: Box, gradient: str) -> list[tuple[str, str]]:
    found = [(f"{box.name}: {box.node}" if box.name else box.node, "black")]
    found += [(box.where, "#555")] if box.where else []
    found += [(f"saved {each}", "#246") for each in box.saved]
    found += [(each, "#c00") for each in box.hit]
    found += [(gradient.strip(), "#060")] if gradient else []
    return found


def _ranks(boxes: Sequence[Box]) -> dict[int, int]:
    """A node stands below all that lead to it."""
    known = {box.key: box for box in boxes}
    leading = dict.fromkeys(known, 0)
    for box in boxes:
        for following in box.following:
            if following in leading:
                leading[following] += 1
    ranks = dict.fromkeys(known, 0)
    waiting = [key for key, count in leading.items() if count == 0]
    while waiting:
        key = waiting.pop()
        for following in known[key].following:
            if following in leading:
                ranks[following] = max(ranks[following], ranks[key] + 1)
                leading[following] -= 1
                if leading[following] == 0:
                    waiting.append(following)
    return ranks
