"""
Parameters of torch's Python functions, in the notation of the operation table.

Native functions bring theirs from the yaml; functions written in Python are asked by `inspect`, with what their
annotations leave open (`*args`, `boolean_dispatch`) written down here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torchlint.runtime.op_derivatives import Record

# Parameters that `inspect` cannot see: `*args`, methods bound by hand in C, attributes.
WRITTEN: Mapping[str, str] = {
    "torch.einsum": "equation:str *operands:tensors",
    "torch.unique": "input:tensor sorted:bool= return_inverse:bool= return_counts:bool= dim:int|none=",
    "torch.unique_consecutive": "input:tensor return_inverse:bool= return_counts:bool= dim:int|none=",
    "torch.Tensor.unique_consecutive": "self:tensor return_inverse:bool= return_counts:bool= dim:int|none=",
    "torch.Tensor.real": "self:tensor",
    "torch.Tensor.imag": "self:tensor",
    **{
        f"torch.Tensor.{name}": "self:tensor * memory_format:other="
        for name in (
            *("float", "double", "half", "bfloat16", "cfloat", "cdouble", "chalf"),
            *("bool", "byte", "char", "short", "int", "long", "cpu"),
        )
    },
}
OVERLOADED: Mapping[str, tuple[str, ...]] = {
    "torch.Tensor.to": (
        "self:tensor dtype:dtype non_blocking:bool= copy:bool= * memory_format:other|none=",
        "self:tensor device:str|none= dtype:dtype|none= non_blocking:bool= copy:bool= * memory_format:other|none=",
        "self:tensor device:other dtype:dtype|none= non_blocking:bool= copy:bool= * memory_format:other|none=",
        "self:tensor other:tensor non_blocking:bool= copy:bool= * memory_format:other|none=",
    ),
    "torch.Tensor.type": (
        "self:tensor dtype:dtype non_blocking:bool=",
        "self:tensor dtype:str non_blocking:bool=",
    ),
}
DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "torch.Tensor.to": {"copy": False, "dtype": None},
    "torch.unique": {"return_inverse": False, "return_counts": False},
    "torch.unique_consecutive": {"return_inverse": False, "return_counts": False},
    "torch.Tensor.unique_consecutive": {"return_inverse": False, "return_counts": False},
}

FITS: Mapping[str, frozenset[str]] = {
    "bool": frozenset({"bool"}),
    "int": frozenset({"int"}),
    "number": frozenset({"int", "float"}),
    "str": frozenset({"str"}),
    "dtype": frozenset({"dtype"}),
}


def python_records(spelling: str, function: Callable[..., Any], observed: Iterable[Mapping[str, str]]) -> list[Record]:
    """
    Records with parameters and no facts for a function that is not bound by torch's generator; empty if its
    parameters cannot be found.

    Parameters
    ----------
    spelling, function
        What is called.
    observed
        Per call that is known to work, the kinds of its arguments by parameter.
    """
    name = spelling.rpartition(".")[2]
    written = OVERLOADED.get(spelling, (WRITTEN[spelling],) if spelling in WRITTEN else ())
    if written:
        return [_record(name, text, dict(DEFAULTS.get(spelling, {}))) for text in written]
    signature = signature_of(function)
    if signature is None:
        return []
    kinds: dict[str, set[str]] = {}
    for call in observed:
        for parameter, kind in call.items():
            kinds.setdefault(parameter, set()).add(kind)
    words = []
    defaults: dict[str, object] = {}
    for position, taken in enumerate(signature.parameters.values()):
        if taken.name.startswith("_") or taken.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        if taken.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        first = position == 0 and spelling.startswith("torch.Tensor.")
        words.append(_word(taken, kinds.get(taken.name, set()) | ({"tensor"} if first else set())))
        if isinstance(taken.default, (bool, int, float, str, type(None))):
            defaults[taken.name] = taken.default
    return [_record(name, " ".join(words), defaults)]


def _record(name: str, parameters: str, defaults: dict[str, object]) -> Record:
    return Record(name=name.removesuffix("_"), parameters=parameters, composite=True, defaults=defaults)


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature, also through `torch._jit_internal.boolean_dispatch`; None if there is none to see."""
    if inspect.isfunction(function) and function.__name__ == "fn" and function.__closure__:
        function = inspect.getclosurevars(function).nonlocals.get("if_false", function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    loose = [p for p in signature.parameters.values() if p.kind is inspect.Parameter.VAR_POSITIONAL]
    return None if any(p.name == "args" for p in loose) else signature


def _word(parameter: inspect.Parameter, observed: set[str]) -> str:
    annotation = "" if parameter.annotation is inspect.Parameter.empty else str(parameter.annotation)
    kind = _kind(annotation, parameter, observed)
    nullable = "None" in annotation or "Optional" in annotation or parameter.default is None or "none" in observed
    variadic = parameter.kind is inspect.Parameter.VAR_POSITIONAL
    has_default = parameter.default is not inspect.Parameter.empty
    return f"{'*' if variadic else ''}{parameter.name}:{kind}{'|none' if nullable else ''}{'=' if has_default else ''}"


def _kind(annotation: str, parameter: inspect.Parameter, observed: set[str]) -> str:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return "ints" if observed & {"int", "ints"} or "int" in annotation else "tensors"
    if "tensors" in observed or re.search(r"(List|list|Tuple|tuple|Sequence)\[.*Tensor", annotation):
        return "tensors"
    if "tensor" in observed or "Tensor" in annotation:
        return "tensor"
    bare = re.sub(r"typing\.|Optional|Union|None|[\[\]|<>' ]|class", "", annotation)
    if (
        "BroadcastingList" in annotation
        or re.search(r"(List|list|Size|Tuple|tuple).*int", annotation)
        or "ints" in observed
    ):
        return "ints"
    for word, kind in (("bool", "bool"), ("int", "int"), ("float", "number"), ("str", "str"), ("dtype", "dtype")):
        if (bare == word or (word == "dtype" and "dtype" in annotation)) and observed <= {"none", *FITS[kind]}:
            return kind
    single = observed - {"none"}
    if single <= {"int", "float"} and single:
        return "int" if single == {"int"} and isinstance(parameter.default, int) else "number"
    return next(iter(single)) if len(single) == 1 and single <= {"bool", "str", "dtype"} else "other"
