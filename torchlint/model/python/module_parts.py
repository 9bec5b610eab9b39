"""
What a Module holds: its parameters, buffers and Modules, with their paths, and whether these are all.

Reads; the methods of Modules are in `modules`.
"""

from __future__ import annotations

from torchlint.model.python.attributes import is_module
from torchlint.model.state.guards import Truth
from torchlint.model.state.held import held_by, may_be_module
from torchlint.model.state.values import (
    MOST_PARTS,
    Choice,
    Constant,
    Instance,
    Module,
    Tensor,
    Unknown,
    Value,
    alternatives,
)


def submodules(value: Value) -> list[Value]:
    """The modules registered directly on a module."""
    if isinstance(value, Module):
        own = list(value.children or ([value.element] if value.element is not None else ()))
        return own + [each for each in value.parameters.values() if type(each) is Module or type(each) is Instance]
    if isinstance(value, Instance):
        modules = held_by(value).modules
        return [*modules] if value.layer is None else [value.layer, *modules]
    return []


def parameters_of(value: Value) -> tuple[list[Tensor], bool]:
    """The registered parameters of a module, and whether that is all of them."""
    found: dict[int, Tensor] = {}
    complete = True
    seen: set[int] = set()
    pending: list[Value] = [value]
    while pending and len(seen) < MOST_PARTS:  # as `explore`, but each object is gone through once
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if type(each) is Instance:
            own, inner, all_known = _held_by(each)
        elif type(each) is Module:
            (own, all_known), inner = _own_parameters(each), submodules(each)
        else:
            continue
        for parameter in own:
            found.setdefault(id(parameter), parameter)
        complete = complete and all_known
        inner.reverse()
        pending += inner
    return list(found.values()), complete and len(seen) < MOST_PARTS


def _held_by(instance: Instance) -> tuple[list[Tensor], list[Value], bool]:
    """The parameters that an object has registered itself, its `submodules`, and whether the first are all."""
    held = held_by(instance)
    complete = is_module(instance) is Truth.YES and not any(map(may_be_module, held.unknown))
    return held.parameters, submodules(instance), complete


def _own_parameters(module: Module) -> tuple[list[Tensor], bool]:
    """The parameters that a layer of torch has registered itself, and whether these are all."""
    found: list[Tensor] = []
    known = module.children is not None
    for each in module.parameters.values():
        if type(each) is Tensor:
            if each.is_parameter is Truth.YES:
                found.append(each)
        elif isinstance(each, Unknown):
            known = False
    if module.children:
        found += [each for each in module.children if type(each) is Tensor]
    return found, known


def tensors_of(module: Instance | Module) -> list[Tensor]:
    """The parameters of a Module, and what else it holds that may be a buffer."""
    found = parameters_of(module)[0]
    for each in [module, *submodules(module)]:
        if isinstance(each, Instance):
            held = [v for v in each.attributes.values() if type(v) is Tensor or type(v) is Choice]
            found += [t for v in held for _, t in alternatives(v) if isinstance(t, Tensor)]
        elif isinstance(each, Module):
            found += [t for t in each.parameters.values() if isinstance(t, Tensor)]
    return found


def unseen_parameter(source: str, module: Value | None = None) -> Unknown:
    """A parameter of a Module of which not all are known."""
    return Unknown(hint="", element_of_parameters=source or "model", part_of=module)


def direct_modules(module: Instance | Module) -> tuple[list[tuple[str, Value]], bool]:
    """The modules registered directly on a module, with their names, and whether these are all."""
    found: list[tuple[str, Value]] = []
    complete = True
    if isinstance(module, Instance):
        complete = is_module(module) is Truth.YES
        for name, option in module.attributes.items():
            for _, each in alternatives(option):
                if isinstance(each, (Module, Instance)) and (
                    isinstance(each, Module) or is_module(each) is not Truth.NO
                ):
                    found.append((name, each))
                elif isinstance(each, Unknown) and may_be_module(each):
                    complete = False
        if module.layer is not None:
            inner, known = direct_modules(module.layer)
            return [*inner, *(each for each in found if not any(each[1] is one for _, one in inner))], (
                complete and known
            )
        return found, complete
    children = module.children
    if children is None:
        return ([("", module.element)] if module.element is not None else []), False
    names = module.names or tuple(map(str, range(len(children))))
    for name, each in zip(names, children, strict=False):
        for _, option in alternatives(each):
            if isinstance(option, (Module, Instance)):
                found.append((name, option))
            elif not isinstance(option, Tensor):
                complete = False
    found += [(name, each) for name, each in module.parameters.items() if isinstance(each, (Module, Instance))]
    complete = complete and module.kind.name not in _COMPOSED
    return found, complete and not any(isinstance(each, Unknown) for each in module.parameters.values())


_COMPOSED = frozenset(
    """
    AdaptiveLogSoftmaxWithLoss LinearCrossEntropyLoss MultiheadAttention Transformer TransformerDecoder
    TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer TripletMarginWithDistanceLoss
    """.split()  # noqa: SIM905
)
"""Layers of torch that hold others, of which the model keeps the parameters alone."""


def all_modules(module: Instance | Module) -> tuple[list[tuple[str, Value]], bool]:
    """A module and all inside it, with their paths, each once; and whether these are all."""
    found: list[tuple[str, Value]] = []
    seen: set[int] = set()
    complete = True
    pending: list[tuple[str, Value]] = [("", module)]
    while pending:
        path, each = pending.pop(0)
        if id(each) in seen or not isinstance(each, (Module, Instance)):
            continue
        seen.add(id(each))
        found.append((path, each))
        inner, known = direct_modules(each)
        complete = complete and known
        pending = [*((f"{path}.{name}" if path else name, part) for name, part in inner), *pending]
    return found, complete


def parameter_paths(module: Instance | Module) -> dict[int, Value]:
    """The names of parameters, as `named_parameters` gives them, where they are known."""
    found: dict[int, Value] = {}
    for path, each in all_modules(module)[0]:
        if not f".{path}.".count("..") or each is module:  # an element of an unknown number has no name
            before = f"{path}." if path else ""
            own = dict(each.attributes) if isinstance(each, Instance) else {}
            layer = each.layer if isinstance(each, Instance) else each
            if isinstance(layer, Module):
                own.update(layer.parameters)
            for name, value in own.items():
                if isinstance(value, Tensor):
                    found.setdefault(id(value), Constant(f"{before}{name}"))
    return found


def keeps_place(module: Module) -> bool:
    """Whether a layer only keeps the place of one that is built later: `nn.Sequential()`, `nn.Identity()`."""
    return module.kind.name == "Identity" or (bool(module.kind.container) and module.children == ())
