"""Room for frames: what is called below it maps no memory at every turn."""

from __future__ import annotations

import sys

import pytest

from torchlint.stack import with_room

resource = pytest.importorskip("resource")
DEPTH, TURNS = 400, 50


def test_gives_what_the_function_returns() -> None:
    assert with_room(lambda: 7) == 7


def test_lets_errors_through() -> None:
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 // 0)


@pytest.mark.skipif(sys.version_info < (3, 11) or sys.platform != "linux", reason="frames are elsewhere")
def test_calls_at_the_end_of_a_chunk_map_no_memory() -> None:
    with_room(_calls_at_every_depth)  # what is called for the first time needs memory in any case
    assert _faults(lambda: with_room(_calls_at_every_depth)) < DEPTH / 2
    assert _faults(_calls_at_every_depth) > TURNS  # at some depth each turn begins a chunk


def _faults(function: object) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert callable(function)
    function()
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt) - before


def _calls_at_every_depth(depth: int = DEPTH) -> None:
    for _ in range(TURNS):
        _leaf()
    if depth:
        _calls_at_every_depth(depth - 1)


def _leaf() -> None:
    pass
