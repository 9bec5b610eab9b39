"""
A value that somebody may have put another in the place of, nobody knows which.

Makes values; changes none.
"""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.model.state.values import (
    MOST_ALTERNATIVES,
    Choice,
    Tensor,
    Unknown,
    Value,
    is_open,
    reachable_tensors,
    unknown_guard,
)


def or_another(value: Value, depends: Iterable[Tensor] = ()) -> Value:
    """
    A value, or one that nobody knows in its place. It is the `choose` of the two, each under a guard of its own: what
    nobody has named yet disagrees with no guard, so that none need be looked at.
    """
    if type(value) is Choice and _may_be_another(value, depends):
        return value
    kept, another = unknown_guard(), Unknown(depends)
    if type(value) is not Choice:
        return Choice(((kept, value), (unknown_guard(), another)))
    options = [(inner | kept, each) for inner, each in value.alternatives]
    if len(options) >= MOST_ALTERNATIVES:
        return Unknown(tensor for each in (value, another) for tensor in reachable_tensors(each))
    return Choice((*options, (unknown_guard(), another)))


def _may_be_another(value: Choice, depends: Iterable[Tensor]) -> bool:
    """Whether a value that nobody knows is among its alternatives already, and none of the others is certain."""
    if value.is_open is None:
        value.is_open = all(is_open(each) for each, _ in value.alternatives)
    if not value.is_open:
        return False
    guard, last = value.alternatives[-1]
    if type(last) is not Unknown or len(guard) != 1 or last.source is not None or last.tensor is not None:
        return False
    if last.guess is not None or last.part_of is not None or last.may_be or last.hint:
        return False
    if not depends:
        return True
    known = {id(each) for each in last.depends}
    return all(id(each) in known for each in depends)
