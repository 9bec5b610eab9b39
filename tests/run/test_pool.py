"""Jobs over workers: every job comes back once, whatever happens to who does it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from torchlint.run import pool, watched


def _nothing() -> None:
    """Nothing is to be made ready."""


def _square(number: int) -> int:
    if number == 13:
        os._exit(1)
    if number == 7:
        raise LookupError("seven\nis not liked")
    return number * number


def _all(workers: int, numbers: range) -> dict[int, int | str]:
    found = list(pool.local(_square, ((number, -number) for number in numbers), workers, 2, _nothing))
    assert all(tag == -number for number, tag, _ in found)
    assert sorted(number for number, _, _ in found) == list(numbers)
    return {number: result for number, _, result in found}


def test_every_job_comes_back_once() -> None:
    assert _all(2, range(6)) == {number: number * number for number in range(6)}
    assert _all(3, range(0)) == {}


def test_a_job_that_kills_its_worker_is_lost_alone() -> None:
    found = _all(2, range(8, 30))
    assert found.pop(13) == f"{watched.DIED} (it ended with status 1)"
    assert found == {number: number * number for number in range(8, 30) if number != 13}


def test_a_job_that_fails_says_so() -> None:
    assert _all(2, range(5, 9))[7] == "the worker that checked this file failed: LookupError: seven"


def test_processes_are_started_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process has piled up is gone with it."""
    monkeypatch.setattr(pool, "RENEWED_AFTER", 2)
    found = list(pool.local(_pid, ((number, None) for number in range(8)), 1, 2, _nothing))
    pids = [result for _, _, result in found]
    assert len(pids) == 8
    assert len(set(pids)) == 4


def _pid(_: int) -> int:
    return os.getpid()


def test_jobs_are_streamed() -> None:
    """No more are read than are handed out."""
    read: list[int] = []
    done = 0

    def jobs() -> Any:
        for number in range(100):
            read.append(number)
            yield number, None

    with ThreadPoolExecutor(2) as executor:
        for _ in pool.remote(abs, jobs(), executor, 5):
            done += 1
            assert len(read) <= done + 5
    assert done == 100


class _Breaking(Executor):
    """Breaks down at the third job."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        self.submitted += 1
        if self.submitted > 2:
            raise BrokenExecutor("gone")
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **named))
        return future


def test_an_executor_that_breaks_down_loses_no_job() -> None:
    found = {
        job: result for job, _, result in pool.remote(abs, ((number, None) for number in range(6)), _Breaking(), 4)
    }
    assert [found[0], found[1]] == [0, 1]
    assert found[2] == "the worker that checked this file failed: BrokenExecutor: gone"
    assert all(found[number] == "the executor broke down before this file's turn" for number in (3, 4, 5))
