"""
Which torch there is: a comparison that every release answers alike which torchlint knows is answered.

Computes what is written with `torch.__version__`, release by release, where that is texts and numbers alone. What the
known releases answer differently stays open, and so does what a later one may.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

from torchlint.model.python.run import Run
from torchlint.model.python.variables import lookup
from torchlint.model.state.values import External
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted, identifier
from torchlint.target import PATCHES, Release

OLDEST: Release = (1, 13)
"""The oldest release whose API is known (`optable/api`)."""
_LATER = "99.0.0"
_RELEASES = tuple(
    text
    for known in sorted(PATCHES)
    if known >= OLDEST
    for text in (f"{known[0]}.{known[1]}.0", f"{known[0]}.{known[1]}.{PATCHES[known]}+cu118")
)
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_READERS = frozenset({"LooseVersion", "StrictVersion", "Version", "TorchVersion", "parse", "parse_version"})
"""What reads a text as a version, by its last name: of `distutils`, `packaging`, `pkg_resources`, torch."""
_NUMBERS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": int,
    "float": float,
    "str": str,
    "tuple": tuple,
    "list": list,
}
_DIGITS = re.compile(r"\d+(?:\.\d+)*")


class _UnknownError(Exception):
    """It is written with what is neither a text nor a number."""


class _Version:
    """A version, as far as releases differ: its numbers."""

    def __init__(self, text: str, of_torch: bool = False) -> None:
        self.text = text
        self.of_torch = of_torch
        """It is `torch.__version__`, which is a text as well (torch/torch_version.py)."""
        found = _DIGITS.match(text)
        if found is None:
            raise _UnknownError
        self.numbers = [int(each) for each in found[0].split(".")]

    def padded(self) -> tuple[int, ...]:
        """Its first three numbers."""
        return tuple((*self.numbers, 0, 0, 0)[:3])


def answered(run: Run, node: ir.Compare) -> bool | None:
    """What a comparison with `torch.__version__` gives under each release that is known; None if that is open."""
    if id(node) not in run.asked_release:
        run.asked_release[id(node)] = _answered(node)
    answer = run.asked_release[id(node)]
    if answer is None or lookup(run, "torch") != External("torch") or run.is_replaced("torch.__version__"):
        return None
    return answer


def _answered(node: ir.Compare) -> bool | None:
    if len(node.ops) != 1 or node.ops[0] not in _COMPARE:
        return None
    if not any(isinstance(each, ir.Attribute) and each.attr == "__version__" for each in ir.walk(node)):
        return None
    try:
        answers = {_compared(node, release) for release in (*_RELEASES, _LATER)}
    except (_UnknownError, TypeError, ValueError, IndexError):
        return None
    return answers.pop() if len(answers) == 1 else None


def _compared(node: ir.Compare, release: str) -> bool:
    left, right = _value(node.left, release), _value(node.rights[0], release)
    if isinstance(left, _Version) or isinstance(right, _Version):
        left, right = _version(left).padded(), _version(right).padded()
    return bool(_COMPARE[node.ops[0]](left, right))


def _version(value: Any) -> _Version:
    if isinstance(value, _Version):
        return value
    if isinstance(value, str):
        return _Version(value)
    raise _UnknownError


def _value(node: ir.Expression | None, release: str) -> Any:
    """What an expression gives under one release."""
    if node is None:
        return None
    if isinstance(node, ir.Constant) and isinstance(node.value, (str, int, float)):
        return node.value
    if isinstance(node, ir.Sequence) and node.kind in ("tuple", "list"):
        made = [_value(each, release) for each in node.elements]
        return tuple(made) if node.kind == "tuple" else made
    if isinstance(node, ir.Attribute):
        return _attribute(node, release)
    if isinstance(node, ir.Subscript):
        of = _text(_value(node.value, release))
        if isinstance(node.index, ir.Slice):
            bounds = (node.index.lower, node.index.upper, node.index.step)
            return of[slice(*(_value(each, release) for each in bounds))]
        return of[_value(node.index, release)]
    if isinstance(node, ir.Comprehension) and node.kind != "dict" and len(node.generators) == 1:
        return _each(node, release)
    if isinstance(node, ir.Call) and not any(each.keyword or each.star for each in node.arguments):
        return _call(node, release)
    raise _UnknownError


def _attribute(node: ir.Attribute, release: str) -> Any:
    if dotted(node) == "torch.__version__":
        return _Version(release, of_torch=True)
    of = _value(node.value, release)
    if isinstance(of, _Version) and node.attr in ("release", "major", "minor", "base_version"):
        parts = {"release": of.padded(), "major": of.padded()[0], "minor": of.padded()[1]}
        return parts.get(node.attr, ".".join(map(str, of.numbers)))
    raise _UnknownError


def _text(value: Any) -> Any:
    """What can be asked for its parts."""
    if isinstance(value, _Version):
        if not value.of_torch:
            raise _UnknownError
        return value.text
    return value


def _each(node: ir.Comprehension, release: str) -> Any:
    """`int(part) for part in …`."""
    loop, made = node.generators[0], node.element
    if loop.tests or not isinstance(loop.target, ir.Name) or not isinstance(made, ir.Call) or len(made.arguments) != 1:
        raise _UnknownError
    given = made.arguments[0].value
    if dotted(made.function) != "int" or not isinstance(given, ir.Name) or given.id != loop.target.id:
        raise _UnknownError
    return [int(each) for each in _text(_value(loop.iterable, release))]


def _call(node: ir.Call, release: str) -> Any:
    name = identifier(node.function)
    given = [_value(each.value, release) for each in node.arguments if dotted(each.value) != "int"]
    if name in _READERS and len(given) == 1:
        return _Version(_version(given[0]).text)
    if isinstance(node.function, ir.Name):
        if name == "map" and len(given) == 1 and dotted(node.arguments[0].value) == "int":
            return [int(each) for each in _text(given[0])]
        if name in _NUMBERS and len(given) == 1:
            return _NUMBERS[name](_text(given[0]))
    elif isinstance(node.function, ir.Attribute) and name == "split" and len(given) == 1:
        of = _text(_value(node.function.value, release))
        if isinstance(of, str):
            return of.split(given[0])
    raise _UnknownError
