"""
Other arguments than those that were refused, from the words of the refusal: for a function, and for a constructor.

Runs inside the child. Knows messages of torch and of Python; what a program's own refusals ask for, `refusals` reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from torchlint.verify import values
from torchlint.verify.anything import Anything
from torchlint.verify.evidence import METHODS_ALONE, MODULE_ATTRIBUTES, TENSOR_ATTRIBUTES
from torchlint.verify.inputs import SIZE, Inputs
from torchlint.verify.outputs import OF_OUTPUTS
from torchlint.verify.shapes import Shape, asked_for, said
from torchlint.verify.usage import Use, by_name


def repaired(
    inputs: Inputs, message: str, blamed: Sequence[str] = (), shapes: Mapping[str, Shape] | None = None
) -> list[Inputs]:
    """
    Inputs that the text of torch's refusal asks for; of tensors first of those that it is known to be about.

    Parameters
    ----------
    shapes
        Those that tensors had; `name/key` is in a dictionary.
    """
    found: list[Inputs] = list(_held_by_dictionaries(inputs, message, blamed, shapes or {}))
    tensors = _shaped(inputs, blamed)
    own = dict(inputs.shapes)
    if not tensors or any(name not in own for name in tensors):
        for several in asked_for(inputs.shape, message):
            found += [replace(inputs, shape=shape) for shape in several if shape != inputs.shape]
            found += _one_by_one(inputs, several, [name for name in tensors if name not in own])
    for name in tensors:
        for several in asked_for(own[name], message) if name in own else ():
            found += [_of_shape(inputs, name, shape) for shape in several if shape != own[name]]
    wanted = said(message)
    if wanted and wanted != inputs.shape:
        found += [replace(inputs, shape=wanted), *_one_by_one(inputs, [wanted], tensors)]
    if re.search(_OF_INTEGERS, message):
        for name, use in inputs.others:
            if use.kind in ("dict", "tensors", "batch") and not use.held:
                found.append(with_use(inputs, name, replace(use, held="all integers")))
        found += [
            with_use(inputs, name, Use("integers")) for name in sorted(inputs.names, key=lambda n: n not in blamed)
        ]
        found.append(replace(inputs, names=inputs.names[1:], integers=(*inputs.names[:1], *inputs.integers)))
        found.append(replace(inputs, names=(), integers=(*inputs.names, *inputs.integers)))
    if inputs.integers and re.search(r"class probabilities|multi-target not supported|0D or 1D target", message):
        one = {name: dict(inputs.shapes).get(name, inputs.shape)[:1] for name in inputs.integers}
        found.append(replace(inputs, shapes=tuple({**dict(inputs.shapes), **one}.items())))
    if inputs.integers and inputs.limit > 1 and re.search(r"out of range in self|is out of bounds", message):
        found.append(replace(inputs, limit=2 if inputs.limit > 2 else 1))
    if re.search(_OF_FLOATS, message):
        found += [
            with_use(inputs, name, Use("tensor")) for name in sorted(inputs.integers, key=lambda n: n not in blamed)
        ]
        found.append(replace(inputs, names=(*inputs.names, *inputs.integers), integers=()))
    if re.search(_OF_MASKS, message):
        masks = sorted((*inputs.names, *inputs.integers), key=lambda name: name not in blamed)
        found += [with_use(inputs, name, Use("mask")) for name in masks]
    lacking = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", message)
    if lacking is not None:  # what takes any keywords hands them on
        together = inputs
        for name in re.findall(r"'(\w+)'", lacking[1]):
            together = together if name in inputs.parameters else with_use(together, name, by_name(name))
        found.append(together)
    found = [*_said_of_arguments(inputs, message), *found, *_completed(inputs, message)]
    found += _of_several_sizes(inputs, message)
    if "ndarray" in message:
        for name in (*inputs.names, *(n for n, use in inputs.others if use.kind in ("mask", "config"))):
            found.append(with_use(inputs, name, Use("array")))
    if re.search(_NO_TENSOR, message):
        found += list(_otherwise(inputs, message))
    return found


def _held_by_dictionaries(
    inputs: Inputs, message: str, blamed: Sequence[str], shapes: Mapping[str, Shape]
) -> Iterator[Inputs]:
    """The same for tensors that dictionaries hold, by `name/key`."""
    for name, use in inputs.others:
        if use.kind == "config" and use.reads and re.search(_OF_TENSORS, message):
            yield with_use(inputs, name, Use("dict"))
        if use.kind != "dict" and (use.kind, use.held) != ("several", "dicts"):
            continue
        own = {key: (shape, kind) for key, shape, kind in use.value or ()}
        keys = [key for key in shapes if key.partition("/")[0] == name and "/" in key]
        for full in (key for key in keys if key in blamed) if any(key in blamed for key in keys) else keys:
            key = full.partition("/")[2]
            entries = [(each, "") for several in asked_for(shapes[full], message) for each in several]
            if re.search(_OF_INTEGERS, message):
                entries.append((shapes[full], "all integers"))
            for shape, kind in entries:
                changed = {**own, key: (shape, kind or own.get(key, ((), ""))[1])}
                yield with_use(inputs, name, replace(use, value=tuple((k, *held) for k, held in changed.items())))


_OF_TENSORS = r"(?i)dimension|subscripts|shape|expected \dD|sizes of tensors|size of tensor"
"""Refusals of the shape of a tensor."""
_OF_ARGUMENT = re.compile(
    r"argument '(\w+)' (?:\(position \d+\) )?must be (tuple of ints|bool|int|float|str|Tensor|Number)\b"
)
_ASKED = {
    "tuple of ints": "integer",
    "bool": "flag",
    "int": "integer",
    "float": "number",
    "Number": "number",
    "str": "string",
    "Tensor": "tensor",
}


def _said_of_arguments(inputs: Inputs, message: str) -> Iterator[Inputs]:
    """What torch says of an argument of its own, of the function's argument that is called so; and of a number."""
    said_of = _OF_ARGUMENT.search(message)
    if said_of is not None and said_of[1] in inputs.parameters:
        yield with_use(inputs, said_of[1], Use(_ASKED[said_of[2]]))
    axis = re.search(r"Dimension out of range \(expected to be in range of .*, but got (-?\d+)\)", message)
    size = re.search(r"negative dimensions? -?1\b|non-positive stride|must be positive", message)
    for name, use in inputs.others if axis or size else ():
        if use.kind not in ("integer", "value"):
            continue
        have = values.make(name, use, inputs.shape, SIZE, False, computes=True)
        if type(have) is int and axis is not None and have == int(axis[1]):
            yield from (with_use(inputs, name, Use("value", value=each)) for each in (1, 0, -1))
        elif have == -1 and size is not None:
            yield with_use(inputs, name, Use("value", value=SIZE))


def _of_several_sizes(inputs: Inputs, message: str) -> Iterator[Inputs]:
    """Tensors of a list that are each half as large as the one before, or twice."""
    if re.search(r"same number of dimensions|must match the size|subscripts", message):
        for name, use in inputs.others:
            if use.kind == "batch" and not use.held:
                yield with_use(inputs, name, replace(use, held="tensor"))
    if re.search(r"tensor a \(\d+\) must match the size|[Ss]izes of tensors must match", message):
        for name, use in inputs.others:
            if (
                use.kind in ("tensors", "batch")
                and not use.held
                and len(dict(inputs.shapes).get(name, inputs.shape)) > 2
            ):
                yield from (with_use(inputs, name, replace(use, held=held)) for held in ("smaller", "larger"))
    if re.search(
        r"expected (\d)D input \(got \dD|or \dD \(batched\) input", message
    ):  # parts of one that is gone through
        yield from (with_use(inputs, name, Use("tensors")) for name in inputs.names)
    if re.search(r"non-complex dtypes|[Ee]xpected .*complex|only .*complex tensors", message):
        yield from (with_use(inputs, name, Use("complex")) for name in inputs.names)
    if re.search(_OF_SIZES, message):
        yield from (with_use(inputs, name, Use("integer")) for name, use in inputs.others if use.kind == "number")
        yield from (with_use(inputs, name, Use("integer")) for name in (*inputs.names, *inputs.integers))
    if re.search(r"with a bool tensor is not supported|output type Bool|not implemented for 'Bool'", message):
        yield from (with_use(inputs, name, Use("tensor")) for name, use in inputs.others if use.kind == "mask")


_OF_FLOATS = (
    r"scalar types?:? Float|expected .*Float|must be .*floating|[Ee]xpected an? .*floating|floating point .*\bgot Long"
    r"|found Long|'Long'|same dtype"
)
"""Refusals of tensors of integers."""
_NO_TENSOR = (
    r"not '?Tensor|'Tensor' object|Tensor cannot|single element can be converted|only one element tensors"
    r"|Tensor.__format__|ambiguous|'Tensor' and 'str'"
)
"""Refusals of tensors."""
_OF_INTEGERS = (
    r"scalar types?:? Long|expected .*Long|must be .*integer|Long, Int|Expected dtype int|must be long"
    r"|tensors used as indices must be long"
    r"|can't be cast to the desired output type Long|Long or Byte|index tensor of type LongTensor"
    r"|dtype of long|only integer tensors|should be .*int64|expects .*int64|must be .*int64|one_hot is only applicable"
)
"""Refusals of tensors of floats."""


_OF_MASKS = (
    r"to be a boolean tensor|boolean masks?\b.*supports?|supports? boolean masks?|mask .*to be Bool|must be .*bool"
    r"|operator.invert\) is only implemented|expected BoolTensor|dtype of bool"
)
"""Refusals of what are no truth values."""


def with_use(inputs: Inputs, name: str, use: Use) -> Inputs:
    """The same with one argument as something else."""
    if use.kind == "integers":
        known = with_use(inputs, name, Use("tensor"))
        plain = tuple(n for n in known.names if n != name)
        return replace(known, names=plain, integers=(*(n for n in inputs.integers if n != name), name))
    if use.kind == "tensor":
        others = tuple(each for each in inputs.others if each[0] != name)
        rest, integers = (tuple(n for n in known if n != name) for known in (inputs.names, inputs.integers))
        return replace(inputs, names=(*rest, name), integers=integers, others=others)
    others = tuple((known, use if known == name else old) for known, old in inputs.others)
    others = others if name in dict(others) else (*others, (name, use))
    names, integers = (tuple(n for n in known if n != name) for known in (inputs.names, inputs.integers))
    return replace(inputs, names=names, integers=integers, others=others)


_TYPES = {"list": "list", "tuple": "batch", "int": "integer", "float": "number", "str": "string", "bool": "flag"}


def _completed(inputs: Inputs, message: str) -> Iterator[Inputs]:
    """What was made up has not what is read of it: it gets that, or is a configuration, which has everything."""
    refused = re.search(_NOT_THAT, message)
    if refused is not None:
        kinds = [kind for kind in refused.groups() if kind]
        for name, use in inputs.others:
            if any(use.kind in _MADE.get(kind, ()) for kind in kinds):
                if use.kind == "config" and "operand" in message:
                    yield with_use(inputs, name, Use("tensor"))
                yield with_use(inputs, name, Use("anything"))
            elif use.kind == "anything" and "Anything" in kinds:
                yield with_use(inputs, name, Use("string"))
    if "Tensor is not a Module subclass" in message:  # what is called with sizes makes a layer
        calls = [name for name, use in inputs.others if use.kind in ("callable", "module")]
        yield from (with_use(inputs, name, Use("value", value=_any_layer)) for name in calls)
    tensor = re.search(r"must be Tensor, not (\w+)|expected Tensor as element \d+ .* got (\w+)", message)
    if tensor is not None:
        for name, use in inputs.others:
            if use.kind == "list":
                yield with_use(inputs, name, Use("tensors"))
            elif use.kind in _MADE.get(tensor[1] or tensor[2], ()):
                yield with_use(inputs, name, Use("tensor"))
    if "but got Anything" in message or "not Anything" in message:
        for name, use in inputs.others:
            if use.kind == "anything" and not use.rank:
                yield with_use(inputs, name, replace(use, rank=1))
    if "tuple indices must be integers or slices, not str" in message:
        yield from (
            with_use(inputs, name, replace(use, held="dict")) for name, use in inputs.others if use.kind == "loader"
        )
    if re.search(r"must be Tensor, not Anything|expected Tensor as element .* got Anything", message):
        yield from (with_use(inputs, name, Use("dict")) for name, use in inputs.others if use.kind == "config")
    yield from _another_word(inputs, message)
    match = re.search(r"'(\w+)' object has no attribute '(\w+)'", message)
    if match is None:
        return
    kind, attribute = match[1], match[2]
    for name, use in inputs.others:
        if (use.kind, use.held, kind) == ("loader", "", "tuple"):
            yield with_use(inputs, name, replace(use, held="dict"))
        if (use.kind, kind) in (("optimizer", "SGD"), ("scheduler", "_Scheduler"), ("loader", "list")) or (
            use.of is not None and use.of.__name__ == kind
        ):
            yield with_use(inputs, name, Use("config", reads=use.reads))
        elif kind == "AnyModule" and use.kind in ("module", "callable"):
            for held in ("list", "tensor", "called"):
                yield with_use(inputs, name, replace(use, reads=((attribute, held), *use.reads)))
        elif kind == "Tensor" and use.kind in ("module", "callable") and attribute not in MODULE_ATTRIBUTES:
            yield with_use(inputs, name, replace(use, held="outputs"))
        elif kind in ("int", "float") and use.kind == "config" and attribute in TENSOR_ATTRIBUTES:
            yield with_use(inputs, name, Use("module", reads=use.reads))
        elif kind == "Tensor" and use.kind in ("tensors", "batch"):
            yield with_use(inputs, name, Use("modules" if attribute in MODULE_ATTRIBUTES else "anything"))
        elif kind == "int" and use.kind == "list":
            yield with_use(inputs, name, Use("tensors" if attribute in TENSOR_ATTRIBUTES else "anything"))
        elif _TYPES.get(kind) == use.kind:
            yield with_use(inputs, name, Use("tensor" if attribute in TENSOR_ATTRIBUTES else "config"))


def _any_layer(*sizes: Any, **more: Any) -> values.AnyModule:
    return values.AnyModule()


def _another_word(inputs: Inputs, message: str) -> Iterator[Inputs]:
    """Where a refusal quotes the word that was given, and others: one of those."""
    quoted = list(dict.fromkeys(re.findall(r"['\"`]([A-Za-z][\w.+-]*)['\"`]", message)))
    for name, use in inputs.others if len(quoted) > 1 else ():
        if use.kind not in ("string", "value"):
            continue
        have = values.make(name, use, inputs.shape, SIZE, False, computes=True)
        if isinstance(have, str) and have in quoted:
            yield from (with_use(inputs, name, Use("value", value=word)) for word in quoted if word != have)


_NOT_THAT = (
    r"'(\w+)' object (?:is not (?:iterable|subscriptable|callable|a mapping)|cannot be interpreted)"
    r"|(\w+) indices must be integers|type\(s\) for \S+ '(\w+)' and '(\w+)'|object of type '(\w+)' has no len"
)
_MADE = {
    "list": ("list", "tensors", "loader"),
    "tuple": ("batch",),
    "int": ("integer", "list", ""),
    "float": ("number", ""),
    "str": ("string", ""),
    "bool": ("flag", ""),
    "AnyModule": ("module", "callable"),
    "Config": ("config",),
    "Batch": ("dict",),
    "Settings": ("dict",),
}
"""Refusals of what a value is no kind of, and what was made up where it is of that class."""


def instead(arguments: Mapping[str, Any], refusal: str) -> Iterator[tuple[str, Any]]:
    """What a constructor that refuses its arguments may want instead, from the words of its refusal."""
    attribute = re.search(r"'(\w+)' object has no attribute '(\w+)'", refusal)
    if attribute is not None:
        name = attribute[2]
        of_kind = [key for key, value in arguments.items() if type(value).__name__ == attribute[1]]
        for key in of_kind[:8]:
            if isinstance(arguments[key], values.AnyModule):
                known = arguments[key].reads
                yield from ((key, values.AnyModule(((name, held), *known))) for held in ("object", "called", "list"))
            elif name in MODULE_ATTRIBUTES:
                yield key, values.AnyModule()
            elif name in TENSOR_ATTRIBUTES | METHODS_ALONE:
                yield from ((key, torch.rand(SIZE)), (key, torch.rand(2, SIZE)))
            else:
                yield key, values.Config(SIZE)
    axis = re.search(r"Dimension out of range \(.*, but got (\d+)\)", refusal)
    if axis is not None:
        yield from ((key, -1) for key, value in arguments.items() if type(value) is int and value == int(axis[1]))
        several = ((key, value) for key, value in arguments.items() if type(value) in (list, tuple))
        yield from ((key, type(value)(range(len(value)))) for key, value in several if int(axis[1]) in value)
    if re.search(OF_OUTPUTS, refusal):  # of what a network gives that is asked for its parts by name
        networks = [key for key, value in arguments.items() if isinstance(value, values.AnyModule)]
        yield from ((key, values.AnyModule(arguments[key].reads, outputs=True)) for key in networks)
    for pattern in _SIZES:
        match = re.search(pattern, refusal)
        have, want = (0, 0) if match is None else sorted(map(int, match.groups()), reverse=True)
        for old, new in ((want, have), (have, want)) if have != want else ():
            yield from ((key, new) for key, value in arguments.items() if type(value) is int and value == old)
    missing = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", refusal)
    if missing is not None:
        yield from ((name, values.scalar(name, SIZE, computes=False)) for name in re.findall(r"'(\w+)'", missing[1]))
    tensor = re.search(r"must be Tensor, not (\w+)", refusal)
    if tensor is not None:
        of_kind = [key for key, value in arguments.items() if type(value).__name__ == tensor[1]]
        yield from ((key, torch.rand(2, SIZE)) for key in of_kind[:8])
    if attribute is not None and attribute[1] == "int":
        lists = [key for key, value in arguments.items() if isinstance(value, list)]
        yield from ((key, [values.AnyModule(), values.AnyModule()]) for key in lists)
        yield from ((key, [Anything(SIZE), Anything(SIZE)]) for key in lists)
    if re.search(r"(?i)\bmatri(x|ces)\b|\b2-?D\b|two-dimensional", refusal):
        tensors = [key for key, value in arguments.items() if isinstance(value, torch.Tensor) and value.ndim != 2]
        yield from ((key, torch.rand(SIZE, SIZE)) for key in tensors)
    if re.search(_OF_SIZES, refusal):
        yield from ((key, SIZE) for key, value in arguments.items() if type(value) is float)
    found = re.search(r"must be tuple of ints, ?but (?:found element of type|got) (\w+)", refusal)
    if found is not None:
        of_kind = [key for key, value in arguments.items() if type(value).__name__ == found[1]]
        yield from ((key, wanted) for key in of_kind for wanted in (SIZE, [SIZE, SIZE]))
    if "object of type 'Config' has no len" in refusal:
        of_kind = [key for key, value in arguments.items() if type(value) is values.Config]
        yield from ((key, values.Vocabulary(SIZE)) for key in of_kind)
    for pattern, wanted in _INSTEAD:
        if re.search(pattern, refusal):
            numbers = [key for key, value in arguments.items() if isinstance(value, _REFUSED)]
            yield from ((key, make()) for key in numbers[:8] for make in wanted)


_SIZES = (
    r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
    r"shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)",
    r"to have (\d+) channels, but got (\d+) channels",
    r"\((\d+)\) must be divisible by \w+ \((\d+)\)",
    r"normalized_shape=\[(\d+)\].* size\[(?:\d+, )*(\d+)\]",
    r"input_size\. Expected (\d+), got (\d+)",
)
"""Refusals of two sizes, one of which an argument of the constructor may be."""
_OF_SIZES = (
    r"failed to unpack the object|must be tuple of ints|torch\.\w*Tensor is not a Module subclass"
    r"|'float' object cannot be interpreted as an integer"
    r"|(?:zeros|ones|rand|randn|empty|arange|eye|randperm|range)\(\) received an invalid combination"
)
"""Refusals of what is no whole number."""
_REFUSED = (int, float, list, values.Config, values.AnyModule)
_INSTEAD: tuple[tuple[str, tuple[Callable[[], Any], ...]], ...] = (
    (
        r"'(int|float)' object is not (subscriptable|iterable)|has no len|index out of range",
        (lambda: [2, 2, 2, 2], lambda: [SIZE, SIZE], lambda: [(SIZE, SIZE), (SIZE, SIZE)]),
    ),
    (
        r"(int|Config|Anything) is not a Module subclass|object is not callable|object of type 'AnyModule' has no len"
        r"|called with an iterable, but got AnyModule",
        (lambda: [values.AnyModule(), values.AnyModule()], values.AnyModule, lambda: nn.ReLU),
    ),
)
"""Parts of refusals, and what may be wanted."""


_SHAPED = ("mask", "complex", "batch", "tensors", "array")


def _shaped(inputs: Inputs, first: Sequence[str]) -> list[str]:
    """The arguments that have a shape, some of them first."""
    tensors = [*inputs.names, *inputs.integers, *(n for n, use in inputs.others if use.kind in _SHAPED)]
    return [*(name for name in first if name in tensors), *(name for name in tensors if name not in first)]


def _of_shape(inputs: Inputs, name: str, shape: tuple[int, ...]) -> Inputs:
    return replace(inputs, shapes=tuple({**dict(inputs.shapes), name: shape}.items()))


def _one_by_one(inputs: Inputs, shapes: Sequence[tuple[int, ...]], tensors: Sequence[str]) -> list[Inputs]:
    """The same with the new shape for one of several tensors alone."""
    if len(_shaped(inputs, ())) < 2:
        return []
    own = dict(inputs.shapes)
    return [
        _of_shape(inputs, name, shape) for name in tensors for shape in shapes if own.get(name, inputs.shape) != shape
    ]


def _otherwise(inputs: Inputs, message: str) -> Iterator[Inputs]:
    """One of the tensors is something else: what, the message hints at."""
    kinds: tuple[str, ...] = ("callable",) if "not callable" in message else ("integer", "list", "callable")
    kinds = ("anything",) if "has no attribute" in message else kinds
    kinds = ("flag", *kinds) if "ambiguous" in message else kinds
    kinds = ("string", "path") if re.search(r"PathLike|'str'", message) else kinds
    found = re.search(r"has no attribute '(\w+)'", message)
    kinds = ("module", *kinds) if found is not None and found[1] in MODULE_ATTRIBUTES else kinds
    yield from (with_use(inputs, name, Use(kind)) for name in (*inputs.names, *inputs.integers) for kind in kinds)
