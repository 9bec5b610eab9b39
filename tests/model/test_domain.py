"""
The laws of the model's small domains, by enumeration: joins are commutative, associative, idempotent; guards imply.
"""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

import torchlint.model
from torchlint.condition import Condition
from torchlint.model.state.guards import (
    ALWAYS,
    Guard,
    Truth,
    agree,
    conditions,
    conjoin,
    covered,
    implied,
    meet,
    unconditional,
)
from torchlint.model.state.trail import JOINED, Trail, join_field
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    NONE,
    Choice,
    Constant,
    External,
    Grad,
    Scalar,
    Sequence,
    Unknown,
    Value,
    choose,
)

GRADS = [GRAD_NO, GRAD_MAYBE, GRAD_YES, *(Grad(t, frozenset(n)) for t in (Truth.NO, Truth.MAYBE) for n in ("x", "xy"))]


def guard(*literals: tuple[int, int]) -> Guard:
    return frozenset(literals)


@pytest.mark.parametrize("length", [0, 9])
def test_guards_agree_where_they_can_be_met(length: int) -> None:
    """Also where one is so long that its branches are looked up."""
    beside = guard(*((key, 0) for key in range(10, 10 + length)))
    arms = [None, 0, 1]
    few = [
        guard(*((key, arm) for key, arm in enumerate(taken) if arm is not None))
        for taken in itertools.product(arms, repeat=3)
    ]
    for one, other in itertools.product(few, [each | beside for each in few]):
        together = one | other
        expected = together if len(dict(together)) == len(together) else None
        assert meet(one, other) == meet(other, one) == conjoin(one, other) == expected
        assert agree(one, other) == agree(other, one) == (expected is not None)


@pytest.mark.parametrize("domain", [list(Truth), GRADS], ids=["Truth", "Grad"])
def test_join_is_a_semilattice(domain: list[Truth] | list[Grad]) -> None:
    for a, b, c in itertools.product(domain, repeat=3):
        assert a.join(a) == a
        assert a.join(b) == b.join(a)
        assert a.join(b).join(c) == a.join(b.join(c))


def test_either_is_commutative_and_yes_wins() -> None:
    for a, b in itertools.product(GRADS, repeat=2):
        assert a.either(b) == b.either(a)
        assert a.either(GRAD_YES) == GRAD_YES
        assert a.either(GRAD_NO) == a


def test_join_never_claims_what_one_side_denies() -> None:
    for a, b in itertools.product(GRADS, repeat=2):
        joined = a.join(b)
        if joined.truth() is not Truth.MAYBE:
            assert a.truth() is b.truth() is joined.truth()
        for given in (frozenset(), frozenset("x"), frozenset("y"), frozenset("xy")):
            if _under(joined, given) is not Truth.MAYBE:
                assert _under(a, given) is _under(b, given) is _under(joined, given)


def _under(grad: Grad, inputs: frozenset[str]) -> Truth:
    """What `requires_grad` is if exactly these inputs require grad."""
    return Truth.YES if grad.inputs & inputs else grad.otherwise


def test_truth_has_no_bool() -> None:
    with pytest.raises(TypeError, match="three values"):
        bool(Truth.MAYBE)


def test_guards_on_different_arms_exclude_each_other() -> None:
    assert conjoin(guard((1, 0)), guard((1, 1))) is None
    assert conjoin(guard((1, 0)), guard((2, 1))) == guard((1, 0), (2, 1))
    assert implied(ALWAYS, guard((1, 0)))
    assert not implied(guard((1, 0)), ALWAYS)


@pytest.mark.parametrize("size", [3, 40])
def test_guards_meet_however_long_they_are(size: int) -> None:
    path = guard(*((key, key % 3) for key in range(size)))
    assert conjoin(path, guard((1, 1))) == path
    assert conjoin(guard((1, 1), (2, 2)), path) == path
    assert conjoin(path, guard((1, 0))) is None
    assert conjoin(guard((size, 0), (1, 2)), path) is None
    assert conjoin(path, guard((size, 0))) == guard(*path, (size, 0))
    assert conjoin(guard((size, 1)), path, guard((size, 0))) is None


def test_covered_leaves_no_way_around() -> None:
    assert covered([guard((1, 0)), guard((1, 1))], ALWAYS)
    assert not covered([guard((1, 0))], ALWAYS)
    assert covered([guard((1, 0), (2, 0)), guard((1, 0), (2, 1)), guard((1, 1))], ALWAYS)
    assert not covered([guard((1, 0), (2, 0)), guard((1, 1))], ALWAYS)
    assert covered([guard((1, 0), (2, 0)), guard((1, 1))], guard((2, 0)))
    unknown = frozenset({(("unknown", 7), 1)})
    assert not covered([unknown], ALWAYS)


def test_conditions_name_the_inputs() -> None:
    literal = frozenset({(("requires_grad", "x"), 1), (3, 0)})
    assert conditions(literal) == (Condition("requires_grad", "x"),)
    assert unconditional(literal) == guard((3, 0))


class Record:
    """Something with one field of each kind that a join knows."""

    def __init__(self) -> None:
        self.shape: tuple[int | None, ...] | None = (2, 3)
        self.own = GRAD_NO
        self.items: dict[str, object] = {}


def test_trail_undoes_and_joins() -> None:
    trail, record, variables = Trail(), Record(), {"a": Constant(1)}
    mark = trail.mark()
    trail.set(record, "shape", (2, 4))
    trail.set(record, "own", GRAD_YES)
    trail.set(variables, "a", Constant(2))
    first = trail.changes(mark)
    trail.undo(mark)
    assert record.shape == (2, 3)
    assert variables == {"a": Constant(1)}
    trail.set(variables, "b", Constant(5))
    second = trail.changes(mark)
    trail.undo(mark)
    assert "b" not in variables
    trail.join([(guard((1, 1)), first), (guard((1, 0)), second)])
    assert record.shape == (2, None)
    assert record.own == GRAD_YES.join(GRAD_NO)
    joined = variables["a"]
    assert isinstance(joined, Choice)
    assert dict(joined.alternatives) == {guard((1, 1)): Constant(2), guard((1, 0)): Constant(1)}


def test_what_nobody_sees_any_more_is_no_change() -> None:
    trail, own, others = Trail(), {"a": Constant(1)}, {"a": Constant(1)}
    mark = trail.mark()
    trail.set(own, "a", Constant(2))
    trail.set(others, "a", Constant(2))
    assert [record for record, _, _ in trail.changes(mark, own).values()] == [others]
    trail.forget(mark, own)
    assert [record for record, _, _ in trail.changes(mark).values()] == [others]
    trail.undo(mark)
    assert others == {"a": Constant(1)}


def test_lists_of_different_length_lose_their_length_alone() -> None:
    trail, values = Trail(), Sequence("list", (Constant(1),))
    mark = trail.mark()
    trail.set(values, "items", (Constant(1), Constant(2)))
    longer = trail.changes(mark)
    trail.undo(mark)
    trail.join([(guard((1, 1)), longer), (guard((1, 0)), {})])
    assert values.items is None
    assert isinstance(values.element, Choice)
    assert {each for _, each in values.element.alternatives} == {Constant(1), Constant(2)}


def test_too_many_alternatives_widen() -> None:
    few = choose([(guard((n, 1)), Constant(n)) for n in range(3)])
    assert isinstance(few, Choice)
    assert isinstance(_chosen([Constant(n) if n else NONE for n in range(20)]), Unknown)
    assert isinstance(_chosen([Constant(n) if n else Constant("0") for n in range(20)]), Unknown)
    assert choose([(guard((n, 1)), Constant(0)) for n in range(20)]) == Constant(0)


def test_too_many_alternatives_of_one_type_keep_that() -> None:
    assert _chosen([Constant(n) for n in range(20)]) == Scalar("int")
    assert _chosen([Constant(n if n % 2 else float(n)) for n in range(20)]) == Scalar("number")
    floating = [External(f"torch.{name}") for name in _FLOATING]
    assert _chosen(floating) == Scalar("dtype")
    # one of these would cut a graph
    assert isinstance(_chosen([*floating, External("torch.int64")]), Unknown)


_FLOATING = ("float16", "half", "float32", "float", "float64", "double", "bfloat16")


def _chosen(values: list[Value]) -> Value:
    return choose([(guard((number, 1)), each) for number, each in enumerate(values)])


def test_every_field_that_is_set_has_a_join() -> None:
    """A field without one would make what paths disagree on unknown in silence."""
    set_somewhere = set()
    for path in Path(torchlint.model.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("trail.set"):
                field = node.args[1]
                if isinstance(field, ast.Constant) and isinstance(field.value, str):
                    set_somewhere.add(field.value)
    assert set_somewhere == JOINED
    with pytest.raises(AssertionError, match="nothing_known"):
        join_field(Trail(), Record(), "nothing_known", [(guard((1, 1)), (1,)), (guard((1, 0)), (2,))])


def test_what_is_counted_on_one_path_alone_is_not_known() -> None:
    for field in ("trues", "strides", "children"):
        for one, other in ((3, None), (None, 3), (3, 4)):
            assert join_field(Trail(), Record(), field, [(guard((1, 1)), one), (guard((1, 0)), other)]) is None
