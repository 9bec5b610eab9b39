"""Questions that rest on each other in circles."""

from __future__ import annotations

import itertools

import pytest

from torchlint.syntax.fixpoint import Fixpoint

RESTS: dict[str, tuple[str, ...]] = {
    "first": ("second", "truth"),
    "second": ("third",),
    "third": ("first", "second"),
    "fourth": ("third",),
    "truth": (),
    "alone": ("alone", "other"),
    "other": ("alone",),
}


@pytest.mark.parametrize("asked", list(itertools.permutations(["first", "second", "third", "fourth"])))
def test_the_order_of_questions_decides_nothing(asked: tuple[str, ...]) -> None:
    answers: Fixpoint[str] = Fixpoint()

    def ask(name: str) -> bool:
        return answers.ask(name, lambda: name == "truth" or any(ask(each) for each in RESTS[name]))

    assert all(map(ask, asked))
    assert not ask("alone")
    assert not ask("other")


def test_each_is_found_once() -> None:
    answers: Fixpoint[str] = Fixpoint()
    found: list[str] = []

    def ask(name: str) -> bool:
        def find() -> bool:
            found.append(name)
            return any(ask(each) for each in RESTS[name])

        return answers.ask(name, find)

    assert not ask("alone")
    assert not ask("alone")
    assert not ask("other")
    assert found == ["alone", "other"]
