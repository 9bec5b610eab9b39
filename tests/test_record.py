"""A record is what `dataclasses.dataclass(frozen=True)` makes of the same class."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from torchlint.record import _MANY, record


@record(frozen=True, kw_only=True)
class Happened:
    node: str
    moment: int = 0


@record(frozen=True, kw_only=True)
class Written(Happened):
    op: str
    moment: int = 1

    @property
    def is_late(self) -> bool:
        return self.moment > 1


@record(frozen=True)
class Pair:
    left: int
    right: int = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Happened:
    node: str
    moment: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Written(_Happened):
    op: str
    moment: int = 1

    @property
    def is_late(self) -> bool:
        return self.moment > 1


@dataclasses.dataclass(frozen=True)
class _Pair:
    left: int
    right: int = 2


TWINS = [(Happened, _Happened), (Written, _Written), (Pair, _Pair)]
GIVEN: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    *[((), {"node": "a"}), ((), {"node": "a", "moment": 5}), ((), {"node": "a", "op": "+="}), ((), {})],
    *[((1,), {}), ((1, 3), {}), ((1,), {"right": 4}), ((), {"left": 1}), ((1,), {"left": 1}), ((1, 2, 3), {})],
    *[((), {"node": "a", "op": "+=", "more": 1}), ((), {"op": "+="}), (("a",), {}), (("a",), {"op": "+="})],
]


def _made(kind: type[Any], positional: tuple[Any, ...], named: dict[str, Any]) -> object:
    try:
        made = kind(*positional, **named)
    except TypeError:
        return TypeError
    return repr(made).lstrip("_"), dataclasses.asdict(made)


@pytest.mark.parametrize(("kind", "twin"), TWINS)
def test_takes_and_keeps_what_a_dataclass_does(kind: type[Any], twin: type[Any]) -> None:
    outcomes = [(_made(kind, *given), _made(twin, *given)) for given in GIVEN]
    assert [ours for ours, _ in outcomes] == [theirs for _, theirs in outcomes]
    assert {ours is TypeError for ours, _ in outcomes} == {True, False}


@pytest.mark.parametrize(("kind", "twin"), TWINS)
def test_of_many_the_next_are_made_alike(kind: type[Any], twin: type[Any]) -> None:
    first = [_made(kind, *given) for given in GIVEN]
    before = kind.__init__
    for _ in range(_MANY):
        for given in GIVEN:
            _made(kind, *given)
    assert kind.__init__ is not before
    assert [_made(kind, *given) for given in GIVEN] == first == [_made(twin, *given) for given in GIVEN]


def test_fields_without_a_default_come_first() -> None:
    with pytest.raises(TypeError, match="a field without a default follows"):

        @record(frozen=True)
        class Broken(Pair):
            more: int


@pytest.mark.parametrize(("kind", "twin"), TWINS)
def test_has_the_fields_of_a_dataclass(kind: type[Any], twin: type[Any]) -> None:
    def told(each: type[Any]) -> list[tuple[object, ...]]:
        return [(item.name, item.type, item.default, item.kw_only, item.init) for item in dataclasses.fields(each)]

    assert told(kind) == told(twin)
    assert kind.__match_args__ == twin.__match_args__
    assert dataclasses.is_dataclass(kind)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_equals_what_has_the_same_values(again: Callable[[object], object]) -> None:
    one = Written(node="a", op="+=", moment=2)
    assert again(one) == one
    assert len({one, Written(node="a", op="+=", moment=2), Written(node="b", op="+=")}) == 2
    assert one != Happened(node="a", moment=2)
    assert one.is_late
    assert dataclasses.replace(one, moment=1) == Written(node="a", op="+=")


def test_is_frozen() -> None:
    one = Pair(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.left = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.left
    assert one.left == 1


def test_somebody_may_derive_a_dataclass_from_it() -> None:
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Mine(Written):
        why: str

    made = Mine(node="a", op="+=", why="so")
    assert (made.node, made.moment, made.why) == ("a", 1, "so")
    assert [each.name for each in dataclasses.fields(Mine)] == ["node", "moment", "op", "why"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.node = "b"  # type: ignore[misc]


def test_a_plain_class_that_derives_from_it_has_its_fields() -> None:
    class Plain(Written):
        pass

    assert [each.name for each in dataclasses.fields(Plain)] == ["node", "moment", "op"]
    assert Plain(node="a", op="+=").moment == 1


def test_refuses_what_only_a_dataclass_has() -> None:
    with pytest.raises(TypeError, match="plain fields"):

        @record(frozen=True)
        class Kept:
            found: list[int] = dataclasses.field(default_factory=list)
