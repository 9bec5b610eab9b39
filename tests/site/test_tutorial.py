"""
The tutorial: its programs are flagged at their markers, print under torch what stands below them, and its pictures
show the nodes of the graphs that torch has built.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import expectations
import pytest

from .pages import DOCS, Block, blocks, written

PAGE = DOCS / "tutorial.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = list(blocks(TEXT))
PROGRAMS = [block for block in BLOCKS if block.kind == "python"]
GRAPH = re.compile(r"^<!-- graph (?P<name>[\w-]+): (?P<roots>[\w, ]+?)(?:, before (?P<before>[^\n]+))? -->", re.M)
SVG = "{http://www.w3.org/2000/svg}"


def _output(block: Block) -> Block | None:
    """What the page says that a program prints."""
    after = next((each for each in BLOCKS if each.start > block.start), None)
    return after if after is not None and after.kind == "text" else None


def _run(program: str) -> tuple[dict[str, Any], str]:
    """The names that a program leaves, and what it prints; of an error its type and the beginning of its text."""
    names: dict[str, Any] = {"__name__": "__main__"}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(program, "tutorial", "exec"), names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return names, out.getvalue()


def _agrees(shown: str, printed: str) -> bool:
    """A line of an error may be shown shortened, at the end of a sentence or of a word."""
    lines, real = shown.splitlines(), printed.splitlines()
    return len(lines) <= len(real) and all(
        line == other
        or (re.match(r"\w+(Error|Exception): ", line) is not None and other.startswith(line.rstrip(" ….")))
        for line, other in zip(lines, real, strict=False)
    )


@pytest.mark.parametrize("block", [pytest.param(each, id=f"program-{n}") for n, each in enumerate(PROGRAMS, 1)])
def test_a_program_is_flagged_at_its_markers(block: Block) -> None:
    assert expectations.check(block.text) is None


@pytest.mark.parametrize(
    "block", [pytest.param(each, id=f"program-{n}") for n, each in enumerate(PROGRAMS, 1) if _output(each) is not None]
)
def test_a_program_prints_what_stands_below_it(block: Block, request: pytest.FixtureRequest) -> None:
    output = _output(block)
    assert output is not None
    _, printed = _run(block.text)
    if request.config.getoption("--bless") and not _agrees(output.text, printed):
        page = PAGE.read_text(encoding="utf-8")
        place = next(each.start for each in blocks(page) if each.text == output.text and each.start >= output.start)
        PAGE.write_text(written(page, {place: printed}), encoding="utf-8")
    assert _agrees(output.text, printed), printed


def _nodes(roots: list[Any]) -> Counter[str]:
    """The operations below some tensors, by the names of torch's nodes; a leaf counts as itself."""
    found: Counter[str] = Counter()
    pending, seen = [root.grad_fn for root in roots], set()
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        name = type(node).__name__
        found["leaf" if name == "AccumulateGrad" else re.sub(r"Backward\d*$", "", name)] += 1
        pending += [each for each, _ in node.next_functions]
    return found


@pytest.mark.parametrize("graph", [pytest.param(each, id=each["name"]) for each in GRAPH.finditer(TEXT)])
def test_a_picture_shows_the_graph_that_torch_has_built(graph: re.Match[str]) -> None:
    program = [block.text for block in PROGRAMS if block.start < graph.start()][-1]
    if graph["before"]:
        lines = program.splitlines(keepends=True)
        program = "".join(lines[: next(n for n, line in enumerate(lines) if line.startswith(graph["before"]))])
    names, _ = _run(program)
    roots = [names[name.strip()] for name in graph["roots"].split(",")]
    picture = ElementTree.fromstring((DOCS / "graphs" / f"{graph['name']}.svg").read_text(encoding="utf-8"))
    kinds = Counter(box.get("class") for box in picture.iter(f"{SVG}rect"))
    labels = Counter(text.text for text in picture.iter(f"{SVG}text"))
    expected = _nodes(roots)
    assert kinds["leaf"] == expected.pop("leaf")
    assert kinds["result"] == len(roots)
    assert kinds["operation"] == sum(expected.values())
    assert not expected - labels


def test_there_are_pictures_and_outputs() -> None:
    assert len(list(GRAPH.finditer(TEXT))) >= 4
    assert sum(_output(each) is not None for each in PROGRAMS) >= 12
