"""
Calls of what is imported: builtins, torch, NumPy, other files of the project, other packages.

What none of them knows is unknown code.
"""

from __future__ import annotations

import operator
from typing import Final

from torchlint.knowledge import foreign
from torchlint.knowledge.names import DISTRIBUTED_DATA_PARALLEL, PARAMETERS_TO_VECTOR
from torchlint.knowledge.ops import find as ops
from torchlint.model.autograd.writes import use
from torchlint.model.python.attributes import attribute
from torchlint.model.python.builtins import call_builtin, chain, dict_builtin, is_class, new_partial
from torchlint.model.python.callbacks import hand_on, havoc
from torchlint.model.python.containers import new_deque
from torchlint.model.python.copying import copied_value
from torchlint.model.python.flags import FLAGS, calls_unknown, unsettle
from torchlint.model.python.indirection import LOOKING_UP, is_unknown_code, note_function, note_run
from torchlint.model.python.making import new_named_tuple
from torchlint.model.python.members import set_raw, written_to_mapping
from torchlint.model.python.module_hooks import hooks_all
from torchlint.model.python.module_parts import all_modules
from torchlint.model.python.modules import inherit
from torchlint.model.python.recomputation import CHECKPOINT, checkpoint
from torchlint.model.python.run import Run
from torchlint.model.python.unknown_code import unknown_call
from torchlint.model.python.variables import NAMESPACES, PROPERTY, resolved
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.reachable import objects_among, some_of
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    GRAD_NO,
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    parts,
    reachable_tensors,
    sure_tensors,
)
from torchlint.model.torch.arguments import kind_of
from torchlint.model.torch.arrays import numpy_call
from torchlint.model.torch.distributions import hold_parameters
from torchlint.model.torch.foreach import foreach
from torchlint.model.torch.functions import torch_call
from torchlint.model.torch.named_axes import (
    EINSUMS,
    LAYERS,
    NAMES,
    PACKING,
    layer_of_axes,
    move_axes,
    multiply_axes,
    pack_axes,
)
from torchlint.model.torch.operations import apply
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_ORIGINALS = "parametrizations"
"""The child that holds what a parametrised attribute is computed from (torch/nn/utils/parametrize.py)."""


def _parametrised(run: Run, qualified: str, site: CallSite) -> Value:
    """A parameter of a Module is computed from now on, from others and by nobody knows what."""
    module = site.get(0, "module") or Unknown()
    name = site.get(1, "tensor_name") or site.get(1, "name") or site.get(1, "parameter_name") or Constant("weight")
    for _, each in alternatives(module):
        if isinstance(each, (Module, Instance)):
            held = each.parameters if isinstance(each, Module) else each.attributes
            named = isinstance(name, Constant) and isinstance(name.value, str)
            for key in [name.value] if named and isinstance(name, Constant) else list(held):
                if isinstance(key, str) and isinstance(held.get(key), Tensor):
                    computed = Unknown(reachable_tensors(held[key]))
                    run.machine.trail.set(held, key, computed)
                    if isinstance(each, Instance):  # what is assigned to the name later does not replace these
                        run.machine.trail.set(held, _ORIGINALS, computed)
    return module


_FUNCTIONAL: Final = frozenset({"torch.func.functional_call", "torch.nn.utils.stateless.functional_call"})


def _functional_call(run: Run, site: CallSite) -> Value | None:
    """
    `functional_call(module, tensors, args, kwargs)`: the Module is called with other tensors in the place of its
    parameters, which it has back afterwards (torch/_functorch/functional_call.py).
    """
    module, given = (
        site.get(0, "module"),
        site.get(1, "parameter_and_buffer_dicts") or site.get(1, "parameters_and_buffers"),
    )
    arguments, named = site.get(2, "args"), site.get(3, "kwargs")
    if not isinstance(module, (Module, Instance)) or not isinstance(given, Mapping) or given.items is None:
        return None
    if not set(site.keywords) <= {"module", "parameter_and_buffer_dicts", "parameters_and_buffers", "args", "kwargs"}:
        return None
    if isinstance(arguments, Sequence) and arguments.kind == "tuple":
        if arguments.items is None:
            return None
        positional = list(arguments.items)
    else:
        positional = [arguments] if arguments is not None and arguments != NONE else []
    if isinstance(arguments, (Unknown, Choice)) or not (named is None or named == NONE or isinstance(named, Mapping)):
        return None
    keywords = named.items if isinstance(named, Mapping) else {}
    if keywords is None or not all(isinstance(key, str) for key in keywords):
        return None
    places = _places(module, given.items)
    if places is None:
        return None
    trail = run.machine.trail
    before = [(record, name, record[name]) for record, name, _ in places]
    for record, name, value in places:
        trail.set(record, name, value)
    try:
        call = CallSite(site.node, positional, {str(key): value for key, value in keywords.items()})
        return run.invoke(module, call)
    finally:
        for record, name, value in before:
            trail.set(record, name, value)


def _places(module: Instance | Module, given: dict[object, Value]) -> list[tuple[dict[str, Value], str, Value]] | None:
    """Where a Module keeps the tensors that are replaced; None where that is not known of each of them."""
    found: list[tuple[dict[str, Value], str, Value]] = []
    owners = dict(all_modules(module)[0])
    for path, value in given.items():
        before, _, name = str(path).rpartition(".")
        owner = owners.get(before)
        if isinstance(owner, Instance) and owner.layer is not None and name in owner.layer.parameters:
            owner = owner.layer
        held: dict[str, Value] = {}
        if isinstance(owner, Module):
            held = owner.parameters
        elif isinstance(owner, Instance):
            held = owner.attributes
        if not isinstance(path, str) or name not in held:
            return None
        found.append((held, name, value))
    return found


def _zeroed_together(run: Run, site: CallSite) -> None:
    """`torch._foreach_zero_(gradients)`."""
    machine = run.machine
    for value in site.values():
        for tensor in reachable_tensors(value):
            owner = tensor.grad_of
            if owner is not None:
                machine.trail.set(owner, "grad_reset", machine.tick())
                for hook in machine.watch.zeroed:
                    hook(owner, site.node)
        known = isinstance(value, Sequence) and value.items is not None
        for hook in machine.watch.zeroed if not known else ():
            hook(Unknown(), site.node)


def call_external(run: Run, qualified: str, site: CallSite) -> Value:
    """A call of what is imported, by its qualified name."""
    result = _run_external(run, qualified, site)
    for hook in run.machine.watch.called:
        hook(qualified, site.positional, site.keywords, result, site.node)
    return result


def _number(run: Run, qualified: str, site: CallSite) -> Value | None:
    """The number that a function outside torch computes; or what holds the limits of a dtype."""
    if qualified in ("torch.finfo", "torch.iinfo"):
        return External(qualified)  # its attributes are the limits
    kind = foreign.result(qualified)
    if kind is None and foreign.result_for_numbers(qualified) and site.complete:
        kinds = {kind_of(value) for value in site.values()}
        kind = "number" if kinds <= {"int", "float", "number", "bool"} else None
    if kind is None or (run.imports is not None and run.imports.offers(qualified)):
        return None
    for value in site.values():
        for tensor in sure_tensors(value):
            use(run.autograd, tensor, site.node)
    return Scalar(kind)


def _vector(run: Run, site: CallSite) -> Value | None:
    """`parameters_to_vector(parameters)`: they are flattened and joined, with a graph."""
    given = site.get(0, "parameters")
    if not isinstance(given, Sequence) or not given.items or not all(isinstance(each, Tensor) for each in given.items):
        return None
    flat = [
        apply(run.torch, "torch.Tensor.reshape", [each, Constant(-1)], {}, site.node, "view") for each in given.items
    ]
    known = tuple(each for each in flat if each is not None)
    return apply(run.torch, "torch.cat", [Sequence("list", known)], {}, site.node, "cat")


def _copied(run: Run, qualified: str, site: CallSite) -> Value:
    """`pack_padded_sequence(x, lengths)`: something that holds copies, which have a graph where what is copied has."""
    name = qualified.rpartition(".")[2]
    given = [each for value in site.values() for each in reachable_tensors(value) if each.requires_grad != GRAD_NO]
    held = [apply(run.torch, "torch.Tensor.clone", [each], {}, site.node, name) for each in given]
    return Unknown([each for each in held if isinstance(each, Tensor)], source=site.node)


def _run_given(run: Run, qualified: str, site: CallSite) -> None:
    """`max(found, key=unknown)`, `Thread(target=unknown, args=(x,))`: Python runs code that nobody knows."""
    given = site.values()
    # one of several, too: `map(f if flag else unknown, [w])`
    unknown = [[one for _, one in alternatives(each) if is_unknown_code(one)] for each in given]
    own = [each for value in given for each in _functions_of(value) if _tells_flags(each) or calls_unknown(run, each)]
    if own:
        hand_on(run, [*own])
        for value in given:
            unsettle(run, value)
    if not any(unknown):
        return
    others: list[Value] = []
    for value, functions in zip(given, unknown, strict=True):
        if not functions:
            others += parts(value) if isinstance(value, (Sequence, Mapping)) else [value]
    note_run(run, qualified, site)
    place = site.node.origin
    reads = foreign.only_reads(dotted(site.node.function).rpartition(".")[2])
    call = ir.Call(place, ir.Name(place, ""), []) if reads else site.node  # it is not what is called here
    for each in (one for functions in unknown for one in functions):
        unknown_call(run, each, CallSite(call, others, {}))


def _functions_of(value: Value) -> list[Function]:
    """The functions of the file that a call of a value runs."""
    found: list[Function] = []
    for _, option in alternatives(value):
        each: Value | None = option
        while isinstance(each, Partial):
            each = each.function
        function: Value | None = each.function if type(each) is Bound else each
        if isinstance(each, Instance):
            function = next((one for cls in each.cls.ancestry() if (one := cls.attributes.get("__call__"))), None)
        found += [function] if isinstance(function, Function) else []
    return found


def _tells_flags(function: Function) -> bool:
    """Whether a function calls what sets a flag, or hands it on (`run(w.requires_grad_)`); to ask is no change."""
    nodes = list(ir.walk(function.definition.body))
    called = [node.function for node in nodes if isinstance(node, ir.Call)]
    setting = (each for each in nodes if isinstance(each, ir.Attribute) and each.attr.endswith("_"))
    return any(isinstance(each, ir.Attribute) and each.attr in FLAGS for each in (*called, *setting))


def _method_of_class(run: Run, qualified: str, site: CallSite) -> Value | None:
    """`torch.Tensor.requires_grad_(w)`, `nn.Module.requires_grad_(net)`: a method, called as its class has it."""
    owner, _, name = qualified.rpartition(".")
    first = site.positional[0] if site.placed() else None
    options = [each for _, each in alternatives(first)] if first is not None else []
    of_tensor = owner == "torch.Tensor" and any(isinstance(each, Tensor) for each in options) and name not in _BY_HAND
    of_tensor = of_tensor and (name in _OF_TENSORS or (name[:2] == "__" and not ops.find(qualified)))
    of_module = owner.startswith("torch.nn.") and isinstance(first, (Module, Instance)) and name not in _BY_HAND
    if not (of_tensor or (of_module and owner.rpartition(".")[2][:1].isupper())):
        return None
    assert first is not None
    rest = CallSite(site.node, site.positional[1:], site.keywords, complete=site.complete)
    return run.invoke(Bound(first, name) if len(options) == 1 else attribute(run, first, name, site.node), rest)


_OF_TENSORS: Final = FLAGS | {
    "apply_", "map2_", "map_", "numpy", "register_hook", "register_post_accumulate_grad_hook", "resize_",
    "resize_as_", "retain_grad", "set_", "tolist",
}  # fmt: skip
"""Methods of tensors that are no operations of the table, and change or show what is known of one."""
_BY_HAND = frozenset({"__init__", "__setattr__", "backward", "forward"})
"""Methods of Modules that a class calls of its base with its own object: they are read for themselves."""


def _writes(qualified: str) -> bool:
    """Whether a function of `operator` writes into the first that it is given: `setitem`, `iadd`."""
    name = qualified.rpartition(".")[2]
    return name in ("setitem", "delitem") or (name[:1] == "i" and hasattr(operator, f"__{name}__") and name[:2] != "in")


_RUNNING_FIRST = frozenset({"builtins.map", "builtins.filter", "functools.partial", "functools.reduce"})
_SETTING = frozenset({"builtins.setattr", "builtins.delattr", "builtins.type.__setattr__"})


def _note_unknown_list(run: Run, qualified: str, site: CallSite) -> None:
    """`map(*found)`, `partial(setattr, net, *found)`: what is run, or set, stands in a list that nobody knows."""
    placed = site.placed()
    sets = qualified in _SETTING and not placed
    if qualified in _RUNNING_FIRST:
        runs = [each for _, each in alternatives(placed[0])] if placed else []
        sets = not placed or any(isinstance(each, External) and each.qualified in _SETTING for each in runs)
    if sets:
        note_reflection(run.machine, f"{dotted(site.node.function) or qualified}(*…)")


def _run_external(run: Run, qualified: str, site: CallSite) -> Value:
    if not site.complete:
        _note_unknown_list(run, qualified, site)
    if not site.complete or qualified in LOOKING_UP:
        note_function(run, qualified, site)
    if foreign.runs_given(qualified):
        _run_given(run, qualified, site)
    if qualified.startswith("builtins."):
        result = call_builtin(run, qualified[9:], site)
        if result is None:
            result = unknown_call(run, External(qualified), site)
            if isinstance(result, Unknown) and qualified in NAMESPACES:
                result.made_by, result.may_be = qualified, objects_among(run.machine.frame.variables.values())
            elif isinstance(result, Unknown) and qualified == PROPERTY:
                result.made_by = PROPERTY
        return result
    if qualified in NAMES and (moved := move_axes(run.torch, qualified, site)) is not None:
        return moved
    if qualified in PACKING and (packed := pack_axes(run.torch, qualified, site)) is not None:
        return packed
    if qualified in EINSUMS and (product := multiply_axes(run.torch, site)) is not None:
        return product
    if qualified in LAYERS and (layer := layer_of_axes(qualified, site)) is not None:
        return layer
    if foreign.copies(qualified):
        return _copied(run, qualified, site)
    if qualified == CHECKPOINT and (called := checkpoint(run, site)) is not None:
        return called
    if qualified in _FUNCTIONAL and (called := _functional_call(run, site)) is not None:
        return called
    if qualified.startswith("torch."):
        if (called := _method_of_class(run, qualified, site)) is not None:
            return called
        result = torch_call(run.torch, qualified, site)
        if result is not None:
            return result
        if qualified == "torch._foreach_zero_":
            _zeroed_together(run, site)
        each = foreach(run.torch, qualified, site)
        if each is not None or qualified == "torch._foreach_zero_":
            return each or NONE
        if hooks_all(qualified.rpartition(".")[2]):
            run.machine.trail.set(run, "hooked_by_all", True)
        if foreign.replaces_parameters(qualified):
            return _parametrised(run, qualified, site)
        if qualified in PARAMETERS_TO_VECTOR and (vector := _vector(run, site)) is not None:
            return vector
        if qualified.startswith(("torch.nn.utils.", "torch.cuda.", "torch.distributed.", "torch.backends.")):
            return Unknown([t for value in site.values() for t in reachable_tensors(value)])
    if qualified.startswith("numpy."):
        numpy_call(run.torch, qualified, site)
    first = site.positional[0] if site.positional else None
    if qualified.startswith("operator.") and first is not None and _writes(qualified):
        given = some_of(site.positional[1:])
        unsettle(run, first)
        havoc(run, first)
        if isinstance(first, Mapping):
            written_to_mapping(run, first, given)
    if qualified.endswith(".__setattr__") and isinstance(first, (Instance, Class, Tensor)):
        return set_raw(run, site)
    if qualified.endswith(".__init__") and isinstance(first, Instance):
        inherit(run, first, CallSite(site.node, site.positional[1:], site.keywords, complete=site.complete))
    found = resolved(run, External(qualified))
    if found != External(qualified):
        return run.invoke(found, site)
    if (number := _number(run, qualified, site)) is not None:
        return number
    if qualified == "itertools.chain" and (chained := chain(run, site)) is not None:
        return chained
    if qualified == "collections.deque" and (queue := new_deque(run, site)) is not None:
        return queue
    if qualified in ("collections.OrderedDict", "typing.OrderedDict"):
        return dict_builtin(run, site)
    if qualified == "collections.namedtuple" and (made := new_named_tuple(site)) is not None:
        return made
    if qualified == "inspect.isclass":
        return is_class(site)
    if qualified == "functools.partial" and site.positional:
        return new_partial(site)
    if qualified in ("copy.deepcopy", "copy.copy") and site.positional:
        return copied_value(run, qualified, site)
    last = qualified.rpartition(".")[2]
    result = unknown_call(run, External(qualified), site)
    if isinstance(result, Unknown):
        result.layer = last[:1].isupper()
        result.made_by = qualified if qualified.startswith("torch.distributions.") and last[:1].isupper() else ""
        if result.made_by:
            hold_parameters(run.torch, result, site)
        if qualified in DISTRIBUTED_DATA_PARALLEL:
            wrapped = site.get(0, "module")
            result.wraps = wrapped if isinstance(wrapped, (Instance, Module)) else None
    return result
