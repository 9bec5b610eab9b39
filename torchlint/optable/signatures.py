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

from torchlint.optable.derivatives import Record

# Parameters that `inspect` cannot see: `*args`, methods bound by hand in C, attributes. Conversions are left without
# `memory_format`: with it the table claims nothing of them.
WRITTEN: Mapping[str, str] = {
    "torch.einsum": "equation:str *operands:tensors",
    "torch.Tensor.__radd__": "self:tensor other:tensor|number",
    "torch.Tensor.__rmul__": "self:tensor other:tensor|number",
    "torch.nonzero": "input:tensor * out:tensor|none= as_tuple:bool=",
    "torch.Tensor.nonzero": "self:tensor * as_tuple:bool=",
    "torch.Tensor.real": "self:tensor",
    "torch.Tensor.imag": "self:tensor",
    **{
        f"torch.Tensor.{name}": "self:tensor"
        for name in (
            *("float", "double", "half", "bfloat16", "cfloat", "cdouble", "chalf"),
            *("bool", "byte", "char", "short", "int", "long", "cpu"),
        )
    },
}
OVERLOADED: Mapping[str, tuple[str, ...]] = {
    "torch.unique": (
        "input:tensor sorted:bool= * dim:int|none=",
        "input:tensor sorted:bool= return_inverse:bool= return_counts:bool= dim:int|none=",
    ),
    "torch.unique_consecutive": (
        "input:tensor * dim:int|none=",
        "input:tensor return_inverse:bool= return_counts:bool= dim:int|none=",
    ),
    "torch.Tensor.unique": (
        "self:tensor sorted:bool= * dim:int|none=",
        "self:tensor sorted:bool= return_inverse:bool= return_counts:bool= dim:int|none=",
    ),
    "torch.Tensor.unique_consecutive": (
        "self:tensor * dim:int|none=",
        "self:tensor return_inverse:bool= return_counts:bool= dim:int|none=",
    ),
    **{f"torch.atleast_{n}d": ("tensor:tensor", "*tensors:tensors") for n in (1, 2, 3)},
    "torch.Tensor.to": (
        "self:tensor dtype:dtype non_blocking:bool= copy:bool=",
        "self:tensor device:str|none= dtype:dtype|none= non_blocking:bool= copy:bool=",
        "self:tensor device:other dtype:dtype|none= non_blocking:bool= copy:bool=",
        "self:tensor other:tensor non_blocking:bool= copy:bool=",
    ),
    "torch.Tensor.type": (
        "self:tensor dtype:dtype non_blocking:bool=",
        "self:tensor dtype:str non_blocking:bool=",
    ),
}
DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "torch.Tensor.to": {"copy": False, "dtype": None},
    "torch.nonzero": {"as_tuple": False},
    "torch.Tensor.nonzero": {"as_tuple": False},
}

NUMBERS = frozenset({"int", "float", "bool"})


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
    base = name if name.endswith("__") else name.removesuffix("_")
    return Record(name=base, parameters=parameters, composite=True, defaults=defaults)


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature, also through `torch._jit_internal.boolean_dispatch`; None if there is none to see."""
    if inspect.isfunction(function) and function.__closure__:
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
    flags = ("|none" if nullable else "") + ("|number" if kind == "tensor" and observed & NUMBERS else "")
    return f"{'*' if variadic else ''}{parameter.name}:{kind}{flags}{'=' if has_default else ''}"


def _kind(annotation: str, parameter: inspect.Parameter, observed: set[str]) -> str:
    """Python checks no types, so beside tensors only what is sure to be a bool or a str gets a narrow kind."""
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return "ints" if observed & {"int", "ints"} or "int" in annotation else "tensors"
    if "tensors" in observed or re.search(r"(List|list|Tuple|tuple|Sequence)\[.*Tensor", annotation):
        return "tensors"
    if "tensor" in observed or "Tensor" in annotation:
        return "tensor"
    for python_type, kind in ((bool, "bool"), (str, "str")):
        if isinstance(parameter.default, python_type) and observed <= {kind}:
            return kind
    return "other"
