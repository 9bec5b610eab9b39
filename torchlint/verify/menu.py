"""
All that an argument may be, where no refusal says what it would have to be: one after the other, the likeliest first.

Runs inside the child. Makes no values; what an annotation leaves no doubt of is not tried otherwise.
"""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from torchlint.verify.inputs import OF_INSTANCE, Inputs, parameters, uses_of
from torchlint.verify.repairs import with_use
from torchlint.verify.shapes import Shape
from torchlint.verify.usage import Use

_FLOATS: tuple[Shape, ...] = (
    *((2, 8), (8,), (2, 5, 8), (2, 3, 16, 16), (), (8, 8), (2, 4), (2, 3), (3,), (4,), (2,), (2, 2), (4, 4), (3, 3)),
    *((2, 5, 3), (2, 5, 4), (1, 8), (8, 1), (2, 4, 4), (2, 3, 3), (2, 8, 8), (3, 16, 16), (2, 1, 16, 16), (16, 16)),
    *((2, 2, 5, 8), (1,), (6,), (2, 6), (1, 3, 16, 16), (64,), (2, 64), (2, 3, 4, 8, 8)),
)
"""Shapes of tensors of floats."""
_INTEGERS: tuple[Shape, ...] = ((8,), (2,), (2, 8), (), (2, 5), (2, 2), (8, 2), (2, 5, 8), (2, 16, 16), (1, 8), (1,))
_MASKS: tuple[Shape, ...] = ((2, 8), (8,), (2, 5), (2, 5, 8), (8, 8), (2, 16, 16), ())
_ARRAYS: tuple[Shape, ...] = ((8,), (2, 8), (16, 16, 3), (8, 2), (8, 8), (2, 3, 16, 16), (16, 16), (3, 3), (4,), ())
_LISTS: tuple[Shape, ...] = ((2, 8), (8,), (2, 3, 16, 16), (5, 4), (), (3, 16, 16), (2, 5, 8))
"""Shapes of the tensors of lists."""
_WORDS = ("mean", "sum", "none", "abcdefghijklmnopqrstuvwxyz", "cpu", "train", "", "relu", "2d", "float32")
_Entry = tuple[str, Use, Shape | None]
"""A family, what it is, and its shape."""


def _value(family: str, *values: Any) -> list[_Entry]:
    return [(family, Use("value", value=each), None) for each in values]


def _shaped(family: str, use: Use, shapes: Sequence[Shape]) -> list[_Entry]:
    return [(family, use, shape) for shape in shapes]


_COURSES: tuple[list[_Entry], ...] = (
    _shaped("tensor", Use("tensor"), _FLOATS),
    _shaped("tensor", Use("integers"), _INTEGERS),
    _value("number", 2, 0.5, 1, 0, 8, 3, 4, 16, -1, 1.0),
    _value("flag", True, False),
    _value("nothing", None),
    _value("string", *_WORDS),
    _shaped("list", Use("tensors", held="tensor"), _LISTS),
    _shaped("list", Use("tensors", held="all integers"), ((8,), (2, 8), ())),
    [
        *(
            ("list", Use("several", held=held), (2, 8))
            for held in ("numbers", "fractions", "strings", "dicts", "pairs", "lists", "arrays", "anything", "dict of")
        ),
        *(("list", Use("several", held="number pairs", rank=rank), None) for rank in (2, 4)),
        *(("list", Use("several", held="numbers", rank=rank), None) for rank in (1, 3, 4)),
        *(("list", Use("row", rank=rank), None) for rank in (2, 3, 4)),
        ("list", Use("several", held="nothing"), None),
    ],
    [
        *(("dict", Use("dict", held=held), shape) for shape in ((2, 8), (8,)) for held in ("", "all integers")),
        *(
            ("dict", Use("table", held=held), (2, 8))
            for held in ("weights", "by number", "numbers", "strings", "lists", "anything", "nothing")
        ),
    ],
    [("callable", Use(kind), None) for kind in ("callable", "gives", "criterion", "identity", "constant", "module")],
    [
        ("object", Use(kind, rank=1 if kind == "anything" else 0), None)
        for kind in ("anything", "config", "module", "optimizer", "loader", "distribution")
    ],
    [("batch", Use("batch", rank=rank), (2, 8)) for rank in (2, 3, 1)],
    _shaped("array", Use("array"), _ARRAYS),
    _shaped("array", Use("array", held="all integers"), ((8,), (2, 8), (16, 16))),
    _shaped("tensor", Use("mask"), _MASKS),
    _shaped("tensor", Use("complex"), ((2, 8), (8,), (2, 8, 8))),
    [("other", Use(kind), None) for kind in ("device", "dtype", "path", "generator", "slice", "range")],
)
"""What may be tried, by turns."""
_ENTRIES: tuple[_Entry, ...] = tuple(
    each for several in itertools.zip_longest(*_COURSES) for each in several if each is not None
)
_FAMILIES: tuple[tuple[str, frozenset[str]], ...] = (
    (r"(torch\.)?(Float|Double)?Tensor", frozenset({"tensor"})),
    (r"(torch\.)?LongTensor|(torch\.)?IntTensor|(torch\.)?BoolTensor", frozenset({"tensor"})),
    (r"int", frozenset({"number"})),
    (r"float", frozenset({"number"})),
    (r"bool", frozenset({"flag"})),
    (r"str", frozenset({"string"})),
    (r"(np\.|numpy\.)?ndarray", frozenset({"array"})),
    (r"(typing\.)?(List|list|Sequence|Iterable|Tuple|tuple)\b(\[.*)?", frozenset({"list", "batch", "object"})),
    (r"(typing\.)?(Dict|dict|Mapping)\b(\[.*)?", frozenset({"dict", "object"})),
    (r"(typing\.)?Callable\b(\[.*)?", frozenset({"callable", "object"})),
    (r"(nn\.|torch\.nn\.)?Module", frozenset({"callable", "object"})),
)
"""Annotations that leave no doubt, and the families that they allow."""


_HINTS: tuple[tuple[str, frozenset[str]], ...] = (
    (r"\bstr(ing)?\b|startswith|endswith", frozenset({"string", "strings"})),
    (r"callable", frozenset({"callable"})),
    (r"'Tensor' object has no attribute", frozenset({"gives", "anything", "config", "distribution"})),
    (r"(?i)ndarray|numpy|for array|'np", frozenset({"array"})),
    (
        r"must be Tensor|Expected a .*[Tt]ensor|has no attribute '(dim|shape|size|device|dtype|ndim)'",
        frozenset({"tensor"}),
    ),
    (
        r"be interpreted as an integer|must be (int|float|real|tuple of ints)|to Scalar|single element|ambiguous"
        r"|__round__",
        frozenset({"number", "numbers"}),
    ),
    (r"not iterable|not subscriptable|has no len|to unpack|not a sequence", frozenset({"list", "batch", "numbers"})),
    (r"(?i)mapping|dict|'(keys|items|values)'|invalid data type 'str'", frozenset({"dict"})),
    (r"(?i)mask|bool", frozenset({"tensor", "flag"})),
)
"""Words of refusals, and the families that they ask for."""


_AS_TENSORS = frozenset({"tensor", "array", "list", "number", "nothing", "dict"})
"""Families of what may be used as a tensor is."""


def others(known: Inputs, function: Callable[..., Any], blamed: Sequence[str], message: str) -> Iterator[Inputs]:
    """
    Inputs in each of which one argument is something else.

    Parameters
    ----------
    blamed
        The arguments that are changed; all, where there are none.
    message
        Of the refusal: what it speaks of comes first.
    """
    names = [*blamed] or known.parameters
    allowed = {name: _allowed(function, name) for name in names}
    words = uses_of(function, computes=True)
    for name in names:
        if allowed[name] is None or "string" in (allowed[name] or ()):
            for word in words.get(name, Use("")).choices:
                yield with_use(known, name, Use("value", value=word))
    if len(known.names) + len(known.integers) > 1:  # of all tensors together, for they often go with each other
        yield from (replace(known, shape=shape, shapes=()) for shape in _FLOATS)
    hinted = {family for pattern, families in _HINTS if re.search(pattern, message) for family in families}
    beside = [("tensor", use, shape) for shape in _beside(known) for use in (Use("tensor"), Use("integers"))]
    entries = sorted((*beside, *_ENTRIES), key=lambda entry: not hinted & {entry[0], entry[1].held, entry[1].kind})
    tensors = {name for name in names if words.get(name, Use("")).kind in ("tensor", "integers", "mask")}
    for unlikely in (False, True):
        for family, use, shape in entries:
            asked = bool(hinted & {family, use.held, use.kind})
            for name in names:
                only = allowed[name]
                if use.kind == "optimizer" and "torch._dynamo" not in sys.modules:
                    continue  # the first one would import that, for seconds
                doubtful = name in tensors and family not in _AS_TENSORS and not asked
                if doubtful is unlikely and (only is None or family in only):
                    yield of_shape(known, name, use, shape)


def of_shape(known: Inputs, name: str, use: Use, shape: Shape | None) -> Inputs:
    """The same with one argument as something else, of a shape of its own."""
    found = with_use(known, name, use)
    own = {each: size for each, size in found.shapes if each != name}
    return replace(found, shapes=tuple((own if shape is None else {**own, name: shape}).items()))


def _beside(known: Inputs) -> list[Shape]:
    """Shapes that go with those of the other tensors."""
    own = dict(known.shapes)
    have = dict.fromkeys(own.get(name, known.shape) for name in (*known.names, *known.integers))
    found = [each for shape in have for each in (shape, shape[:1], shape[:-1], shape[-1:], shape[:2], (*shape, 1))]
    return list(dict.fromkeys(found))


def _allowed(function: Callable[..., Any], name: str) -> frozenset[str] | None:
    """The families that an annotation allows; None: all of them."""
    if name.startswith(OF_INSTANCE):
        return None
    parameter = next((p for p in parameters(function) if p.name == name), None)
    if parameter is None or parameter.annotation is inspect.Parameter.empty:
        return None
    kind = parameter.annotation
    text = kind if isinstance(kind, str) else kind.__name__ if isinstance(kind, type) else str(kind)
    return next((families for pattern, families in _FAMILIES if re.fullmatch(pattern, text.strip("'\" "))), None)


def of(target: Any, method: str) -> Callable[[Inputs, Sequence[str], str], Iterator[Inputs]]:
    """The same for a function, or a method of a class; "" for `forward`."""
    function = getattr(target, method or "forward", target) if isinstance(target, type) else target
    return lambda known, blamed, message: others(known, function, blamed, message)
