"""
Layers of `torch.nn`: making one, calling one.

What a layer computes is the word of `torchlint.knowledge.modules`; a layer that it does not know keeps the dependence
of its result on its input. Containers are followed in `model/python`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.knowledge.modules import find as modules
from torchlint.model.autograd.edges import new_node
from torchlint.model.autograd.record import edges_into, recorded_grad, save_tensor, value_grad
from torchlint.model.autograd.tensors import fresh, possible_options
from torchlint.model.autograd.writes import escape, leave_place
from torchlint.model.events import Shape
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import ALWAYS, Guard, Truth
from torchlint.model.state.machine import records
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    NONE,
    NOT_RECORDED,
    Choice,
    Constant,
    Grad,
    GraphNode,
    Instance,
    Mapping,
    Module,
    Saved,
    Sequence,
    Tensor,
    Unknown,
    Use,
    Value,
    alternatives,
    made_of,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.alike import one_for_all
from torchlint.model.torch.arguments import as_argument, cst_of, python_value, shape_of
from torchlint.model.torch.inplace import in_place_function
from torchlint.model.torch.operations import apply
from torchlint.model.torch.torch import Torch
from torchlint.syntax.spelling import dotted


@dataclass(slots=True, eq=False)
class _Opaque:
    """A call of a layer that is not followed: the tensors it is given, those it owns, requires_grad of its results."""

    module: Module
    site: CallSite
    given: list[tuple[Guard, Tensor]]
    owned: list[Tensor]
    own: Grad
    core: GraphNode | None = None
    kept: bool = False
    """The first of its results is noted as saved, if it is."""


UNSEEN = "(unseen)"
"""The name under which a layer holds what parameters it may have beside those that are known."""
MOST_COPIES = 48
"""Copies of a layer whose parameters are made."""
_RECURRENT = ("LSTM", "GRU", "RNN")


def new_layer(torch: Torch, kind: modules.ModuleKind, site: CallSite) -> Module:
    """Make a layer of `torch.nn`."""
    config = kind.bind(
        [as_argument(value) for value in site.placed()],
        {key: as_argument(value) for key, value in site.keywords.items()},
        complete=site.complete,
    )
    module = Module(kind, dict(config), site.node)
    for name, shape in kind.parameters(config):
        precise = torch.default_dtype if "dtype" not in site.keywords else ""
        parameter = fresh(
            torch.autograd, site.node, "Parameter", own=GRAD_YES, shape=shape, dtype="float", precise=precise
        )
        parameter.is_parameter = Truth.YES
        parameter.name = name
        module.parameters[name] = parameter
    for name, shape in kind.buffers(config):
        module.parameters[name] = fresh(torch.autograd, site.node, "buffer", shape=shape)
    if (not kind.copies or not _copies(torch, module, site)) and kind.may_be_trained(config):
        module.parameters[UNSEEN] = Unknown(part_of=module)
        torch.machine.trail.made.append(module)
    if kind.container:
        leave_place(torch.autograd, [each for value in site.values() for each in reachable_tensors(value)])
        module.children, module.names = _children(kind.container, site)
        module.tail = site.tail if kind.container == "sequential" and module.children is None else None
        if kind.container == "list" and module.children is None and len(site.positional) == 1:
            given = site.positional[0]
            options = alternatives(given.element) if isinstance(given, Sequence) and given.element is not None else ()
            element = one_for_all([each for _, each in options])
            if element is not None:
                module.element = element
    return module


def _copies(torch: Torch, module: Module, site: CallSite) -> bool:
    """Make the parameters of the layers that are copies of one that is given; False if nobody knows that one's."""
    given, number = site.get(0, module.kind.copies), site.get(1, "num_layers")
    if not isinstance(given, Module) or given.kind.container or not site.complete:
        return False
    held = [(name, each) for name, each in given.parameters.items() if isinstance(each, Tensor)]
    if UNSEEN in given.parameters:
        return False
    count = number.value if isinstance(number, Constant) else None
    known = isinstance(count, int) and count > 0
    for index in range(min(count, MOST_COPIES) if isinstance(count, int) and known else 1):
        for name, each in held:
            own = each.own if known else GRAD_MAYBE  # of an unknown number there may be none
            copy = fresh(torch.autograd, site.node, "copy", own=own, shape=each.shape, dtype=each.dtype)
            copy.precise, copy.is_parameter = each.precise, each.is_parameter
            copy.name = f"layers.{index}.{name}"
            module.parameters[copy.name] = copy
    return True


def _children(container: str, site: CallSite) -> tuple[tuple[Value, ...] | None, tuple[str, ...]]:
    if not site.complete:
        return None, ()
    values = site.positional
    if len(values) == 1 and isinstance(values[0], Sequence):
        items = values[0].items
        return (tuple(items), ()) if items is not None else (None, ())
    if len(values) == 1 and not isinstance(values[0], (Module, Instance, Unknown, Tensor, Mapping)):
        return None, ()
    if (container == "dict" and values) or (container == "sequential" and any(isinstance(v, Mapping) for v in values)):
        return _named_children(values)
    if container in ("list", "parameters") and values:
        return None, ()
    return tuple(values), ()


def _named_children(values: list[Value]) -> tuple[tuple[Value, ...] | None, tuple[str, ...]]:
    items = values[0].items if len(values) == 1 and isinstance(values[0], Mapping) else None
    names = tuple(name for name in items or () if isinstance(name, str))
    return (tuple(items.values()), names) if items is not None and len(names) == len(items) else (None, ())


def layer_call(torch: Torch, module: Module, site: CallSite) -> Value | None:
    """Call a layer of `torch.nn` (not a container)."""
    training = torch.default_training if module.training is None else module.training
    known = None if training is Truth.MAYBE else training is Truth.YES
    applications = module.kind.forward(module.config, known, _input_shapes(site))
    if applications is None or not site.complete:
        return _opaque_layer(torch, module, site)
    return _applications(torch, module, applications, site)


def _input_shapes(site: CallSite) -> list[Shape]:
    return [shape_of(value) for value in site.values() if not isinstance(value, Constant)]


def _applications(
    torch: Torch, module: Module, applications: tuple[modules.Application, ...], site: CallSite
) -> Value | None:
    results: dict[str, Value] = {}
    last: Value = site.positional[0] if site.positional else Unknown()
    argument = site.argument(0, "input")
    target = cst_of(argument.value) if argument is not None else None
    name = dotted(argument.value) if argument is not None else ""
    inplace = module.kind.inplace(module.config)
    for application in applications:
        keywords: dict[str, Value] = {}
        missing = False
        for key, source in (*application.arguments, *application.keywords):
            value = _layer_argument(module, source, site, results)
            if value is None:
                missing = missing or not isinstance(source, modules.Input)
            else:
                keywords[key] = value
        if missing:
            return _opaque_layer(torch, module, site)
        keywords.pop("inplace", None)
        display = application.spelling.rpartition(".")[2]
        result: Value | None = None
        if inplace is not False and inplace is not None and "input" in keywords:
            others = {key: value for key, value in keywords.items() if key != "input"}
            if "dropout" not in display:
                others.pop("training", None)
            result = in_place_function(
                torch, display, [keywords["input"]], others, site.node, target, name, Truth.of(inplace)
            )
        if result is None:
            result = apply(torch, application.spelling, [], keywords, site.node, display, target=target, name=name)
        if result is None:
            return _opaque_layer(torch, module, site)
        results[application.result] = last = result
    if inplace is None and site.positional and records(torch.machine) is not Truth.YES:
        # it may have written into its input, and given that back: a leaf, where nothing is recorded
        return Choice(((unknown_guard(), last), (unknown_guard(), site.positional[0])))
    return last


def _layer_argument(module: Module, source: object, site: CallSite, results: dict[str, Value]) -> Value | None:
    if isinstance(source, modules.Input):
        names = module.kind.inputs
        return site.get(source.index, names[source.index] if source.index < len(names) else "")
    if isinstance(source, modules.Own):
        return module.parameters.get(source.name, NONE)
    if isinstance(source, modules.Result):
        return results.get(source.name)
    assert isinstance(source, modules.Value)
    return python_value(source.value)


def _opaque_layer(torch: Torch, module: Module, site: CallSite) -> Value:
    autograd = torch.autograd
    escape(autograd, [tensor for value in site.values() for tensor in reachable_tensors(value)], site.node, saved=True)
    given = [option for value in site.values() for option in possible_options(autograd, value)]
    owned = [value for value in module.parameters.values() if isinstance(value, Tensor)]
    own = GRAD_NO
    for value in (*owned, *site.values()):
        own = own.either(value_grad(autograd, value))
    if UNSEEN in module.parameters:
        own = own.either(GRAD_MAYBE)
    opaque = module.kind.opaque(module.config)
    structure = opaque.structure if opaque is not None else None
    sizes = iter(module.kind.output_shape(module.config, _input_shapes(site)))
    layer = _Opaque(module, site, given, owned, recorded_grad(autograd, own))
    layer.core = _core(torch, layer, structure)
    if layer.core is not None:
        layer.core.saved = _saved(torch, layer, layer.core)
    return _structure(torch, layer, structure, sizes)


def _edges_into(torch: Torch, layer: _Opaque) -> list[tuple[Guard, GraphNode | Tensor]]:
    values: list[Value] = [*layer.site.values(), *layer.owned]
    return [edge for value in values for edge in edges_into(torch.autograd, value)]


def _core(torch: Torch, layer: _Opaque, structure: object) -> GraphNode | None:
    """
    Of a recurrent layer, what all its results lead through: whichever is differentiated, it frees what the others
    need.
    """
    name = layer.module.kind.name
    if not isinstance(structure, tuple) or not layer.owned or not name.startswith(_RECURRENT):
        return None
    if layer.own == GRAD_NO:
        return None
    node = new_node(
        torch.autograd, f"{name}Backward", name, layer.site.node, layer.own, _edges_into(torch, layer), Truth.YES
    )
    node.composed = True  # kernels differ: the last of its nodes may be cuDNN's one, or one that only stacks the steps
    return node


def _saved(torch: Torch, layer: _Opaque, node: GraphNode) -> tuple[Saved, ...]:
    """
    What a layer surely saves: its arguments, for the gradients of its weights, and weights, for those of its arguments.
    """
    module, site = layer.module, layer.site
    found: list[tuple[str, Tensor, Guard]] = []
    given = [site.get(place, name) for place, name in enumerate(module.kind.inputs)]
    opaque = module.kind.opaque(module.config)
    trained = all(each.requires_grad == GRAD_YES for each in layer.owned) and torch.machine.grad_mode is Truth.YES
    for place in opaque.saves if opaque is not None and trained else ():
        for tensor in _parts(given[place] if place < len(given) else None):
            if tensor.contiguous is Truth.YES:
                found.append(("input", tensor, ALWAYS))
    for name, places in module.kind.saved_weights(module.config, _input_shapes(site)).items():
        weight = module.parameters.get(name)
        grad = GRAD_NO if places else GRAD_YES
        for place in places:
            for state in _parts(given[place] if place < len(given) else None)[:1]:
                grad = grad.either(state.requires_grad)
        guard = grad.guard()
        if isinstance(weight, Tensor) and guard is not None:
            found.append((name, weight, guard))
    time = node.time
    return tuple([save_tensor(torch.autograd, node, what, each, time, guard) for what, each, guard in found])


def _parts(value: Value | None) -> list[Tensor]:
    """An argument, or a pair of states."""
    if isinstance(value, Sequence) and value.kind == "tuple" and value.items is not None:
        return [each for each in value.items if isinstance(each, Tensor)]
    return [value] if isinstance(value, Tensor) else []


def _structure(torch: Torch, layer: _Opaque, structure: object, sizes: Iterator[Shape]) -> Value:
    autograd = torch.autograd
    origin = layer.site.node
    if isinstance(structure, tuple):
        return Sequence("tuple", tuple([_structure(torch, layer, each, sizes) for each in structure]))
    if structure != "tensor":
        if torch.machine.grad_mode is Truth.NO:
            return Unknown(source=origin, layer=True)
        return made_of([*layer.site.values(), *layer.owned], source=origin, layer=True)
    node = None
    display = layer.module.kind.name
    if layer.core is not None:
        node = new_node(autograd, layer.core.name, display, origin, layer.own, [(ALWAYS, layer.core)], Truth.NO)
        node.output_of = layer.core
    elif layer.own != GRAD_NO:
        holds = Truth.YES if layer.owned else Truth.MAYBE
        node = new_node(autograd, f"{display}Backward", display, origin, layer.own, _edges_into(torch, layer), holds)
        node.composed = True
    result = fresh(
        autograd,
        origin,
        display,
        own=layer.own,
        node=node,
        shape=next(sizes, None),
        dtype=layer.given[0][1].dtype if layer.given else None,
        contiguous=Truth.MAYBE,
        cut=NOT_RECORDED,
    )
    # Which tensors such a layer saves is not known: its result may be one of them.
    result.storage.uses = (Use(torch.machine.tick(), origin, saved=True),)
    if layer.core is not None and _keeps_output(layer) and torch.machine.grad_mode is not Truth.NO:
        guard: Guard = frozenset({(("kernel", display), 1)})
        saved = save_tensor(autograd, layer.core, "result", result, torch.machine.tick(), guard)
        layer.core.saved = (*layer.core.saved, saved)
        layer.kept = True
    return result


def _keeps_output(layer: _Opaque) -> bool:
    """
    Whether the fused kernel of a recurrent layer saves what it returns first, and not a copy of it: oneDNN's on the
    CPU and cuDNN's do (`RNN.cpp`, `mkldnn_rnn_layer` and `_cudnn_rnn` in derivatives.yaml), of two directions cuDNN's
    alone, and of a GRU the CPU has no fused one.
    """
    config = layer.module.config
    plain = config.get("bidirectional") is False and config.get("proj_size") == 0
    return layer.module.kind.name == "LSTM" and plain and not layer.kept
