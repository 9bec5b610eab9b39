"""The small part of the net is as it was kept, and the net tells what differs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from . import net, programs

KEPT = Path(__file__).with_name("kept.json")
Bless = Callable[[Path, str, str], None]


@cache
def _said() -> dict[str, Any]:
    return dict(net.said(programs.small(), programs.ROOT))


def test_the_same_is_said_to_the_byte(bless: Bless) -> None:
    before = KEPT.read_text(encoding="utf-8") if KEPT.exists() else ""
    found = net.written(_said())
    if found != before:
        print("\n".join(net.differences(json.loads(before or "{}"), json.loads(found)).values()))
    bless(KEPT, before, found)


def test_a_difference_is_told_by_its_lines() -> None:
    (name, one), *_ = ((n, o) for n, o in _said().items() if o["findings"])
    other: Any = json.loads(json.dumps(one))
    other["findings"][0]["column"] += 1
    other["findings"][0]["trace"] = []
    finding = one["findings"][0]
    difference = net.differences({name: one, "same": one}, {name: other, "same": one})
    assert list(difference) == [name]
    lines = difference[name].splitlines()
    assert f"-{finding['line']}:{finding['column']}:" in lines[1]
    assert [line for line in lines if line.startswith("+") and finding["message"] in line]
    assert sum(line.startswith("-    step") for line in lines) == len(finding["trace"])


def test_every_kind_of_program_is_in_it() -> None:
    names = [program.name for program in programs.own()]
    assert len(names) == len(set(names))
    for prefix in ("TLN201 bad", "tests/cases/", "tests/scripts/", "tests/projects/", "docs/examples/", "mnist: "):
        assert any(name.startswith(prefix) for name in names), prefix
