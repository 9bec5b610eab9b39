"""The seconds that a program has had do not depend on what else the machine does."""

from __future__ import annotations

import os
import time

import pytest

from torchlint.verify.execute import run_program
from torchlint.verify.spent import Spent, used


def test_what_computes_is_counted_by_the_processor() -> None:
    times = iter([0.0, 0.0, 0.3, 0.3])
    turns = iter([0.0, 0.0, 0.2])
    spent = Spent(lambda: next(times), lambda idle: next(turns))
    time.sleep(0.5)
    assert spent.look() >= 0.5  # it waited
    time.sleep(0.6)
    before = spent.seconds
    assert spent.look() == pytest.approx(before + 0.3)  # it computed for half of the time, as on a busy machine
    time.sleep(0.25)
    before = spent.seconds
    assert spent.look() < before + 0.2  # it waited for its turn for the most of it


def test_the_processor_time_of_what_it_starts_counts() -> None:
    before = used()
    process = os.fork()
    if process == 0:
        end = time.process_time() + 30
        while time.process_time() < end:
            pass
        os._exit(0)
    try:
        end = time.monotonic() + 60
        while used() - before < 0.2 and time.monotonic() < end:
            time.sleep(0.05)
        assert used() - before >= 0.2
        assert used(process) > 0
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)


def test_a_program_that_sleeps_is_stopped_by_the_clock() -> None:
    run_program("pass")  # the server
    begun = time.monotonic()
    assert run_program("import time\ntime.sleep(60)", timeout=2.0).ending == "time"
    assert time.monotonic() - begun < 30


def test_one_that_waits_for_a_worker_has_had_what_the_worker_computes() -> None:
    text = (
        "import multiprocessing, time\n"
        "def compute():\n"
        "    end = time.process_time() + 60\n"
        "    while time.process_time() < end: pass\n"
        "process = multiprocessing.get_context('fork').Process(target=compute)\n"
        "process.start()\n"
        "process.join()\n"
    )
    outcome = run_program(text, timeout=3.0)
    assert outcome.ending == "time"
