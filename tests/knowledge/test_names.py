"""The names of one thing are names of one thing, in the installed torch."""

from __future__ import annotations

import pkgutil

import pytest

from torchlint.knowledge import names

SETS = {name: value for name, value in vars(names).items() if isinstance(value, frozenset)}


@pytest.mark.parametrize("name", SETS)
def test_all_names_of_a_set_are_one_object(name: str) -> None:
    assert len(SETS[name]) > 1, "one name alone needs no set"
    assert len({id(pkgutil.resolve_name(spelling)) for spelling in SETS[name]}) == 1


def test_no_name_is_in_two_sets() -> None:
    assert len(frozenset().union(*SETS.values())) == sum(map(len, SETS.values()))
