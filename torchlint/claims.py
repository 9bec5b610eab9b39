"""
What a rule says that torch will show: the part of a finding that a run of the program can confirm or refute.

Pure data, beside `condition`: rules put claims on their diagnostics and on their examples, the engine carries them to
the findings, the runtime cross-check judges them. Imports nothing of torchlint and runs nothing.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import Any, TypeAlias

from torchlint.record import record


@record(frozen=True)
class Raises:
    """
    Torch raises an exception whose "Class: message" contains `text`.

    Of an example: running it does. Of a finding: where `here` is true, the finding's own statement raises; otherwise
    a later statement of its proof does, or the backward of whoever calls the function. An exception about a tensor
    that was modified in place counts only if the finding's statement made that modification.
    """

    text: str
    here: bool = True


@record(frozen=True)
class Warns:
    """
    A warning whose "Class: message" contains `text` is given.

    Of an example: when it runs. Of a finding: while its statement runs; where `here` is false, after that.
    """

    text: str
    here: bool = True


@record(frozen=True)
class Holds:
    """
    A Python expression is true.

    Of an example: in its namespace, after it has run. Of a finding: in the frame of its statement, after that was
    executed, or before. The expression must have no effects. Beside the program's names it may use `torch`, and

    - `value_`: the value of the statement, where that is an expression or a `return`;
    - `bound_`: a tuple of the values that the statement has bound;
    - `tensors_(x)`: the tensors in a tensor, Module, optimizer, list, tuple or dictionary;
    - `optimized_(x)`: whether an optimizer of the program was given one of these tensors;
    - `optimized_()`: whether one was given a tensor that no Module has any more;
    - `nameless_(x)`: the leaves in the graph of `x` that no variable leads to, not counting optimizers;
    - `used_up_(x)`: whether the iterator `x` gives nothing any more; None where that cannot be seen.

    Of a finding, `words` is what a reader is told in its place: a clause that is so where the expression is true.
    """

    expression: str
    before: bool = False
    words: str = ""


@record(frozen=True)
class Observed:
    """
    A probe of the runtime cross-check (`torchlint.verify.probes.PROBES`) sees what it is there for.

    Attributes
    ----------
    probe
        Its name.
    subject
        What the finding is about, as the program spells it: a tensor, a container, an optimizer.
    other
        The second party, if there is one: the alias, the name that is read later, the function that is called.
    """

    probe: str
    subject: str = ""
    other: str = ""


Claim: TypeAlias = "Raises | Warns | Holds | Observed"
"""
The claims of one finding are alternatives: one that is shown confirms it, and all must fail for it to be refuted.
"""

_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Raises, Warns, Holds, Observed)}


def as_row(claim: Claim) -> list[Any]:
    """A claim as JSON can hold it."""
    return [type(claim).__name__, *astuple(claim)]


def from_row(row: list[Any]) -> Claim:
    """
    The claim of a row.

    Raises
    ------
    KeyError
        if there is no claim of that name.
    """
    kind, *fields = row
    claim: Claim = _KINDS[kind](*fields)
    return claim
