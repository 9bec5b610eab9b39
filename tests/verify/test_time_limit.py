"""Where a program is stopped whose time is over: between its statements, not in the middle of what it has called."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from torchlint.verify.attempt import TooLong, limited
from torchlint.verify.waiting import Effort

STOPPED = """
import sys, time, traceback
from torchlint.verify import sandbox

def torch_does_something(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

program = compile({program!r}, "<program>", "exec")
try:
    with sandbox.time_limit(0.05, {{"<program>"}}):
        exec(program, {{"call": torch_does_something, "between": sandbox.stop_if_over}})
except sandbox.TimeLimit as stopped:
    frames = traceback.extract_tb(stopped.__traceback__)
    print(next(f.name for f in reversed(frames) if f.filename != sandbox.__file__))
"""


def where(program: str) -> str:
    """The function in which `TimeLimit` came to a program."""
    command = [sys.executable, "-c", STOPPED.format(program=program)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_nothing_is_stopped_in_the_middle_of_a_call() -> None:
    assert where("while True:\n    call(0.005)\n    for _ in range(50_000): pass") == "<module>"


def test_between_two_statements_a_program_is_stopped_at_once() -> None:
    assert where("while True:\n    between()\n    call(0.005)") == "<module>"


def test_a_call_without_an_end_is_stopped_all_the_same() -> None:
    assert where("call(600)") == "torch_does_something"


def test_what_the_system_computes_counts_for_an_attempt_too() -> None:
    """The search around it counts user and system; an attempt that counts less takes the time of all others."""

    def read_on() -> None:
        zeros = bytearray(1 << 24)
        with open("/dev/zero", "rb", buffering=0) as source, limited(0.3):
            while time.process_time() - began < 5:
                source.readinto(zeros)

    began = time.process_time()
    with pytest.raises(TooLong):
        read_on()
    assert time.process_time() - began < 2


def test_what_cannot_be_stopped_costs_a_search_no_more_than_it_was_allowed() -> None:
    """The first touch of a large tensor is one operation, which may take all that a search has."""
    effort, taken = Effort(8.0), []

    def work() -> None:
        with effort.at_most(0.2) as no_more:
            try:
                sum(range(100_000_000))  # one call from C: no signal is handled in it
            finally:
                taken.append(8.0 - effort.left)
                no_more(True)

    with pytest.raises(TooLong, match=r"longer than 0\.2 seconds"):
        work()
    assert taken[0] > 0.5
    assert effort.left > 7.6
