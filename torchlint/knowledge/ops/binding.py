"""
Which overload a call runs: argument kinds against parameters, conditions against what is known, and the merging of
several possible overloads. Follows torch/csrc/utils/python_arg_parser.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torchlint.knowledge.ops.description import (
    UNKNOWN,
    Binding,
    Known,
    Op,
    Overload,
    Parameter,
    Saved,
    may_differentiate,
)
from torchlint.truth import Truth

# What torch's argument parser takes for another name (`numpy_compatibility_arg_names` in python_arg_parser.cpp).
_ALSO: Mapping[str, tuple[str, ...]] = {
    "self": ("input", "x", "a", "x1"),
    "input": ("x", "a", "x1"),
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "other": ("x2",),
}

# Per kind of parameter, the kinds of argument it takes surely, and those it may take.
_TAKES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "tensor": (frozenset({"tensor"}), frozenset()),
    "tensors": (frozenset({"tensors"}), frozenset({"other", "tensor", "ints", "values"})),
    "number": (frozenset({"int", "float", "bool", "number", "complex"}), frozenset({"tensor"})),
    "int": (frozenset({"int"}), frozenset({"number", "tensor"})),
    "ints": (frozenset({"int", "ints"}), frozenset({"number", "tensor", "tensors", "other", "values"})),
    "bool": (frozenset({"bool"}), frozenset({"int", "number"})),
    "dtype": (frozenset({"dtype"}), frozenset()),
    "str": (frozenset({"str"}), frozenset()),
    "other": (
        frozenset({"other", "none"}),
        frozenset({"str", "int", "float", "number", "complex", "bool", "dtype", "ints", "tensors", "values"}),
    ),
}
_NUMBERS = frozenset({"int", "float", "bool", "number", "complex"})


def _match(parameter: Parameter, kind: str) -> bool | None:
    """True: takes it. None: may take it. False: does not."""
    if kind == "unknown":
        return None
    if kind == "none":
        return parameter.nullable or parameter.kind == "other"
    if parameter.wraps and kind in _NUMBERS:
        return True
    surely, perhaps = _TAKES[parameter.kind]
    if kind in surely:
        return True
    return None if kind in perhaps else False


def bind(
    parameters: Sequence[Parameter], positional: Sequence[str], keywords: Mapping[str, str]
) -> tuple[Binding, bool] | None:
    """
    What each parameter gets if arguments of these kinds are passed, and whether they are sure to fit; None if they
    do not.
    """
    binding: Binding = {}
    definite = True
    at = 0
    for parameter in parameters:
        if at >= len(positional):
            break
        if parameter.keyword_only:
            continue
        kind = positional[at]
        match = _match(parameter, kind)
        if parameter.variadic and kind not in ("ints", "tensors", "values"):
            element = "int" if parameter.kind == "ints" else "tensor"
            verdicts = [_element(element, k) for k in positional[at:]]
            if False in verdicts:
                return None
            definite = definite and None not in verdicts
            binding[parameter.name] = at
            at = len(positional)
            break
        if match is False:
            return None
        definite = definite and match is True
        binding[parameter.name] = at
        at += 1
    if at < len(positional):
        return None
    names = {parameter.name: parameter for parameter in parameters} if keywords else {}
    for keyword, kind in keywords.items():
        name = keyword if keyword in names else _known_as(keyword, names)
        if name is None or name in binding:
            return None
        match = _match(names[name], kind)
        if match is False:
            return None
        definite = definite and match is True
        binding[name] = keyword
    for parameter in parameters:  # of very many: a generator costs more than the question
        if parameter.required and parameter.name not in binding:
            return None
    return binding, definite


def _element(element: str, kind: str) -> bool | None:
    if kind == element:
        return True
    if kind == "unknown" or (element == "int" and kind in ("number", "tensor")):
        return None
    return False


def keywords_of(parameters: Sequence[Parameter]) -> frozenset[str]:
    """All names by which torch's argument parser takes some parameters."""
    names = {parameter.name for parameter in parameters}
    return frozenset(names.union(*(_ALSO[name] for name in names & _ALSO.keys())))


def _known_as(keyword: str, names: Mapping[str, Parameter]) -> str | None:
    for name, others in _ALSO.items():
        if keyword in others and name in names:
            return name
    return None


_NO_TEXT = frozenset({"int", "float", "bool", "number", "tensor"})


def applies(
    overload: Overload, binding: Binding, kinds: Mapping[str, str], known: Mapping[int | str, Known]
) -> bool | None:
    """Whether the overload's conditions hold for a call bound like this; None if that is not known."""
    verdict: bool | None = True
    for feature, holds, value in overload.when:
        actual: object
        name, _, aspect = feature.partition(".")
        if aspect == "given":
            kind = kinds.get(name, "none")
            actual = UNKNOWN if kind == "unknown" else kind != "none"
        elif name in binding:
            actual = None if kinds[name] == "none" else _aspect(known.get(binding[name], Known()), aspect)
        else:
            actual = overload.defaults.get(name, UNKNOWN)
            if aspect and actual is not None:
                actual = UNKNOWN
        if actual is UNKNOWN and not aspect and isinstance(value, str) and kinds.get(name) in _NO_TEXT:
            actual = None  # whatever number it is, it is not "nuc"
        if actual is UNKNOWN:
            verdict = None
        elif (actual == value and isinstance(actual, bool) == isinstance(value, bool)) != holds:
            return False
    return verdict


def _aspect(known: Known, aspect: str) -> object:
    if not aspect:
        return plain(known.value)
    fact: object = {
        "rank": known.rank,
        "contiguous": known.contiguous,
        "dtype": known.dtype,
        "floating": known.floating,
    }[aspect]
    if aspect == "floating" and fact is None:
        dtype = known.value if isinstance(known.value, str) else known.dtype
        fact = floating(dtype) if dtype is not None else None
    return UNKNOWN if fact is None else fact


def plain(value: object) -> object:
    """A literal as conditions compare it: `(2, 2)` for a size of two dimensions is 2."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, int) and item == value[0] for item in value):
        return value[0]
    return value


def floating(dtype: str) -> bool:
    """Whether a dtype, by its name, is one that can require grad: floating point or complex."""
    name = dtype.rpartition(".")[2]
    return name.startswith(("float", "bfloat", "complex")) or name in ("double", "half", "cfloat", "cdouble", "chalf")


def merge(possible: Sequence[tuple[Op, Binding]]) -> tuple[Op, Binding] | None:
    """
    One operation for several that a call may run: what they do not share is not certain. None if they do not even
    agree on which outputs there are, what is written or whether the result requires grad.
    """
    first, binding = possible[0][0], dict(possible[0][1])
    for op, other in possible[1:]:
        alike = (len(op.outputs), op.sequence, op.cuts, op.returns_self) == (
            len(first.outputs),
            first.sequence,
            first.cuts,
            first.returns_self,
        )
        # of numbers alone (`torch.where(mask, 1.0, 0.0)`) nothing is recorded; of one that is, each output counts
        alike = alike and (op.outputs == first.outputs or not (_is_recorded(op) and _is_recorded(first)))
        if (
            not alike
            or (op.view and first.view and op.view != first.view)
            or set(op.writes) & set(other) != set(first.writes) & set(binding)
        ):
            return None
        if any(binding.get(name, place) != place for name, place in other.items()):
            return None
        first = _join(first, op)
        binding.update(other)
    return first, binding


def _is_recorded(op: Op) -> bool:
    return bool(op.differentiable or op.may_differentiate)


def _join(a: Op, b: Op) -> Op:
    parameters = _join_parameters(a.parameters, b.parameters)
    both = set(a.differentiable) & set(b.differentiable)
    either = {*a.differentiable, *b.differentiable, *a.perhaps_differentiable, *b.perhaps_differentiable}
    differentiable = tuple(name for name in a.differentiable if name in b.differentiable)
    perhaps = tuple(sorted(either - both))
    return replace(
        a,
        node=a.node if a.node == b.node else "",
        view=a.view or b.view,
        outputs=tuple(one or other for one, other in zip(a.outputs, b.outputs, strict=True)),
        parameters=parameters,
        differentiable=differentiable,
        perhaps_differentiable=perhaps,
        may_differentiate=may_differentiate(parameters, differentiable, perhaps, a.probed or b.probed),
        saves=_join_saves(a.saves, b.saves),
        holds_saved=a.holds_saved.join(b.holds_saved),
        writes=tuple(dict.fromkeys(a.writes + b.writes)),
        aliases=_join_aliases(a.aliases, b.aliases),
        probed=a.probed or b.probed,
    )


def _join_parameters(a: tuple[Parameter, ...], b: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """What one takes for a tensor and the other for a number may be either; what only one of them takes, nothing."""
    shared = {parameter.name for parameter in a} & {parameter.name for parameter in b}
    joined = {each.name: each if each.name in shared else replace(each, required=False) for each in b}
    for one in a:
        if one.name not in shared:
            one = replace(one, required=False)
        two = joined.get(one.name, one)
        if one.kind != two.kind:
            one = replace(one, kind="other", variadic=False)
        elif two.wraps and not one.wraps:
            one = two
        joined[one.name] = one
    return tuple(joined.values())


def _join_saves(a: tuple[Saved, ...], b: tuple[Saved, ...]) -> tuple[Saved, ...]:
    shared = set(a) & set(b)
    loose = {replace(saved, certain=False) for saved in (set(a) | set(b)) - shared}
    # Saved always in one and, in the other, if x requires grad: in both if x requires grad.
    both = {
        narrow
        for one, other in ((a, b), (b, a))
        for wide in one
        for narrow in other
        if wide.what == narrow.what and wide.certain and narrow.certain and set(narrow.guard) > set(wide.guard) == set()
    }
    both |= {
        narrow
        for one, other in ((a, b), (b, a))
        for narrow in one
        for wide in other
        if wide.what == narrow.what and wide.certain and narrow.certain and set() < set(narrow.guard) < set(wide.guard)
    }
    return tuple(sorted(shared | loose | both, key=lambda saved: (saved.what, saved.guard, saved.certain)))


def _join_aliases(a: tuple[tuple[str, Truth], ...], b: tuple[tuple[str, Truth], ...]) -> tuple[tuple[str, Truth], ...]:
    one, two = dict(a), dict(b)
    names = dict.fromkeys([*one, *two])
    return tuple((name, one.get(name, Truth.NO).join(two.get(name, Truth.NO))) for name in names)
