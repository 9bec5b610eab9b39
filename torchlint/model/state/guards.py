"""
The guards under which a fact holds. Three-valued `Truth` itself lies on the ground (`torchlint.truth`), handed on here.

This is the floor of the model: it knows nothing of tensors, of Python or of rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from torchlint.condition import Condition
from torchlint.truth import Truth as Truth

# One decision a fact rests on: (which branch, which arm). Three kinds of branch key:
#   int                    an `if`, a loop, a `try` of the program: implied where the path took that arm
#   ("requires_grad", n)   the input named n of the analysed function requires grad: makes a proof conditional
#   ("kernel", op)         a fused kernel computes the operation, not the composed one: makes a proof conditional
#   ("differentiated", n)  the caller differentiates the part n of what is returned: makes a proof conditional
#   ("reflection", c)      the context manager c, which nobody knows, keeps no copy of what is saved: conditional
#   ("unknown", n)         something nobody knows: never implied, so the fact is at most MAYBE
BranchKey: TypeAlias = (
    "int | tuple[Literal['requires_grad'], str] | tuple[Literal['kernel'], str] | tuple[Literal['unknown'], int]"
    " | tuple[Literal['differentiated'], str] | tuple[Literal['reflection'], str]"
)
GuardLiteral: TypeAlias = "tuple[BranchKey, int]"
Guard: TypeAlias = "frozenset[GuardLiteral]"

ALWAYS: Final[Guard] = frozenset()
_NAMED = ("requires_grad", "kernel", "differentiated", "reflection")
ALONE = frozenset({"kernel", "differentiated"})
"""Conditions beside which a proof may rest on no other: two things that the text leaves open need not go together."""


def conjoin(*guards: Guard) -> Guard | None:
    """All guards at once, or None if two of them take different arms of one branch."""
    literals: Guard | None = ALWAYS
    for guard in guards:
        if guard:
            if not literals or literals is guard:
                literals = guard
                continue
            literals = _both(literals, guard)
            if literals is None:
                return None
    return literals


def meet(one: Guard, other: Guard) -> Guard | None:
    """Two guards at once, as `conjoin`."""
    if not one or one is other:
        return other
    return _both(one, other) if other else one


MOST_LEFT = 4
"""Paths that are told apart of those on which none of several guards holds."""


def left_by(guards: Iterable[Guard]) -> list[Guard]:
    """
    The paths on which none of several guards holds: on each a part of every one of them fails. None where one always
    holds, or both arms of a branch are among them; and none are told where there are too many.
    """
    left: set[Guard] = {ALWAYS}
    for guard in guards:
        found = [_both(other, frozenset({(key, 1 - arm)})) for other in left for key, arm in guard]
        left = {each for each in found if each is not None}
        if len(left) > MOST_LEFT:
            return []
    return sorted(left, key=repr)


def agree(one: Guard, other: Guard) -> bool:
    """Whether two guards can hold at once: what `meet` says of them, without the guard that it makes."""
    return one <= other or not other or takes(one, arms_of(other))


def takes(guard: Guard, arms: Mapping[BranchKey, int]) -> bool:
    """Whether a guard can hold where branches have taken these arms."""
    for key, arm in guard:  # noqa: SIM110 - asked of very many: a generator costs more than the question
        if key in arms and arms[key] != arm:
            return False
    return True


def _both(one: Guard, other: Guard) -> Guard | None:
    if one >= other:
        return one
    if other >= one:
        return other
    most, least = len(one), len(other)
    if most < least:
        one, other, most = other, one, least
    new = other - one
    if most > _FEW:
        known = arms_of(one)
        for key, _ in new:
            if key in known:
                return None
        return one | new
    for key, _ in new:
        for branch, _ in one:
            if branch == key:
                return None
    return one | new


_FEW: Final = 8
"""Literals of a guard up to which it takes no longer to go through it than to look up what it says of a branch."""
_last: Final[list[tuple[Guard, dict[BranchKey, int]]]] = [(ALWAYS, {})]


def arms_of(guard: Guard) -> dict[BranchKey, int]:
    """The arm that each branch has taken; kept of the last guard that was asked for, which is the path, many times."""
    known, arms = _last[0]
    if known is not guard:
        arms = dict(guard)
        _last[0] = guard, arms
    return arms


def implied(guard: Guard, path: Guard) -> bool:
    """Whether every program path that satisfies `path` satisfies `guard`."""
    return guard <= path


def covered(guards: Sequence[Guard], path: Guard, depth: int = 6) -> bool:
    """
    Whether the guards together leave no way around: on each path that satisfies `path`, at least
    one of them holds. Branches are split case by case, at most `depth` of them; deeper is "no".
    """
    open_guards = []
    for guard in guards:
        rest = guard - path
        if not rest:
            return True
        if conjoin(rest, path) is not None and not any(_unknowable(key) for key, _ in rest):
            open_guards.append(rest)
    if not open_guards or depth == 0:
        return False
    key = min((key for guard in open_guards for key, _ in guard), key=repr)
    arms = {arm for guard in open_guards for k, arm in guard if k == key}
    if arms != {0, 1}:
        return False
    return all(covered(open_guards, path | {(key, arm)}, depth - 1) for arm in (0, 1))


def conditions(guards: Iterable[GuardLiteral]) -> tuple[Condition, ...]:
    """
    What a finding names to its reader of what a guard rests on: kernels, inputs, parts of what is returned; of nothing
    else, that a context manager which nobody knows keeps no copies.
    """
    named = {key for key, arm in guards if isinstance(key, tuple) and key[0] in _NAMED and arm}
    others = {key for key in named if key[0] != "reflection"}
    found = sorted(others) if others else sorted(named)[:1]
    return tuple(Condition(kind, str(name)) for kind, name in found if kind != "unknown")


def kept_by(context: str) -> Guard:
    """The guard under which a context manager that nobody knows keeps what is saved in it, and no copy of that."""
    return frozenset({(("reflection", context), 1)})


def whoever_keeps(guard: Guard) -> Guard:
    """A guard without what it says of contexts that may keep copies: what is saved is freed all the same."""
    return frozenset(literal for literal in guard if not _is_of_keeper(literal)) if guard else guard


def may_be_copy(guard: Guard) -> bool:
    """Whether what is saved under a guard may be a copy that a context manager keeps."""
    return any(map(_is_of_keeper, guard))


def _is_of_keeper(literal: GuardLiteral) -> bool:
    return isinstance(literal[0], tuple) and literal[0][0] == "reflection"


def _unknowable(key: BranchKey) -> bool:
    return isinstance(key, tuple) and key[0] == "unknown"


def unconditional(guard: Guard) -> Guard:
    """The guard without the conditions that a finding names to its reader (see `conditions`)."""
    if not guard:
        return guard
    return frozenset(literal for literal in guard if not (isinstance(literal[0], tuple) and literal[0][0] in _NAMED))
