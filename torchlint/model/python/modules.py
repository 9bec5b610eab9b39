"""
The interpreter's modules: `parameters()`, `train()`, `register_buffer()`, … of layers of torch and of Modules of the
file.

Only the methods that `nn.Module` and its containers bring
(https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html).
"""

from __future__ import annotations

from torchlint.knowledge.modules import find as modules
from torchlint.model.autograd.writes import drop_grad, escape, leave_place, require_grad, write
from torchlint.model.events import AutogradRefused, TensorFacts
from torchlint.model.python.attributes import is_module
from torchlint.model.python.builtins import dict_builtin
from torchlint.model.python.callbacks import hand_on
from torchlint.model.python.called_by_torch import (
    CONVERTING,
    call_train,
    is_overridden,
    listed_parameters,
    made_as_layer,
    run_overriding,
    set_training,
    shown_as_state,
)
from torchlint.model.python.containers import MOST_ITEMS
from torchlint.model.python.flags import changes_flags, given_to, unsettle, unsettle_grad
from torchlint.model.python.making import inherits_known, lists_all, lists_its_own
from torchlint.model.python.members import is_composed, patch, set_some_attribute
from torchlint.model.python.module_parts import (
    all_modules,
    direct_modules,
    parameter_paths,
    parameters_of,
    submodules,
    tensors_of,
    unseen_parameter,
)
from torchlint.model.python.process import patches
from torchlint.model.python.registries import DICTS
from torchlint.model.python.run import Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    MOST_DEPENDS,
    NONE,
    Bound,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    explore,
    reachable_tensors,
)
from torchlint.model.torch.alike import one_more
from torchlint.model.torch.arguments import CASTS, as_argument, class_of, cst_of, precise_dtype, truth_of
from torchlint.model.torch.layers import new_layer
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted


def inherit(run: Run, instance: Instance, site: CallSite) -> None:
    """Run the `__init__` that an object's class has from a class of `torch.nn`, if it derives from one."""
    machine = run.machine
    for base in instance.cls.outside():
        if isinstance(base, External) and base.qualified in DICTS:
            held = dict_builtin(run, site)
            machine.trail.set(instance, "contents", held if isinstance(held, Mapping) else None)
            return
        kind = modules.find(base.qualified) if isinstance(base, External) else None
        if kind is not None:
            machine.trail.set(instance, "layer", new_layer(run.torch, kind, site))
            made_as_layer(run, instance, site)
            return
    given = [tensor for value in site.values() for tensor in reachable_tensors(value)]
    if given and is_module(instance) is not Truth.YES:
        escape(run.autograd, given, site.node)
        machine.trail.set(instance, "given", (*instance.given, *given)[:MOST_DEPENDS])


def module_method(run: Run, module: Instance | Module, name: str, site: CallSite) -> Value | None:
    """A method that `nn.Module` or a container brings; None for anything else."""
    machine = run.machine
    if isinstance(module, Instance) and is_module(module) is Truth.NO:
        return None
    if name in ("parameters", "named_parameters"):
        return _parameters(module, name, site)
    if name == "zero_grad":
        for hook in machine.watch.zeroed:
            hook(module, site.node)
        to_none = truth_of(site.get(0, "set_to_none"), Truth.YES)
        known = parameters_of(module)[0]
        listed = listed_parameters(run, module, known, site.node)
        for tensor in known if listed is None else listed:
            drop_grad(run.autograd, tensor, to_none)
            if listed is None:
                unsettle_grad(run, tensor)
        return NONE
    if name in ("train", "eval"):
        mode = mode_argument(name, site)
        for hook in machine.watch.mode_set if not run.torch.switching else ():
            hook(module, None if mode is Truth.MAYBE else mode is Truth.YES, site.node)
        if (
            name == "eval"
            and isinstance(module, Instance)
            and (done := call_train(run, module, mode, site)) is not None
        ):
            return done
        set_training(run, module, mode, site)
        return module
    if name in ("to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type", "share_memory"):
        _cast_module(run, module, name, site)
        run_overriding(run, explore(module, submodules), "_apply", site)
        return module
    if name == "_apply" and site.positional == [CONVERTING]:
        return module
    if name in _TRAVERSALS:
        return _traversal(module, name)
    if name == "apply":
        return _applied(run, module, site)
    if name in ("get_parameter", "get_submodule"):
        return _named_part(module, name, site)
    if name == "load_state_dict" and (isinstance(module, Module) or inherits_known(module.cls)):
        _load_state(run, module, site)
        run_overriding(run, explore(module, submodules), "_load_from_state_dict", site)
        return Unknown()  # it keeps nothing of what it is given: copies, and the flags stay
    if name == "to_empty":
        run_overriding(run, explore(module, submodules), "_apply", site)
        return None
    if name == "state_dict":
        shown_as_state(run, module, site)
        return None
    if name == "backward" and isinstance(module, Module) and module.kind.name.endswith("Loss"):
        target = TensorFacts(name=module.kind.name)
        node = site.node.origin
        machine.emit(AutogradRefused(node=node, statement=machine.line(), kind="not-called", op=name, target=target))
        return None
    if name == "requires_grad_":
        known = parameters_of(module)[0]
        listed = listed_parameters(run, module, known, site.node)
        on = truth_of(site.get(0, "requires_grad"), Truth.YES)
        for tensor in known if listed is None else listed:
            require_grad(run.autograd, tensor, on if listed is not None else Truth.MAYBE)
        return module
    if name in ("register_buffer", "register_parameter") and isinstance(module, Instance):
        return _register(run, module, site)
    if name in ("register_buffer", "register_parameter", "__init__", "__setstate__") and isinstance(module, Module):
        unsettle(run, module)  # it has another one
        patch(run, module)
        return NONE
    if name == "set_submodule" and isinstance(module, Instance):
        return _register(run, module, CallSite(site.node, [Unknown(), *site.values()[1:2]], {}))
    if name in ("add_module", "register_module") and isinstance(module, Instance):
        if module.layer is not None and module.layer.kind.container:
            _container_method(run, module.layer, "append", CallSite(site.node, site.values()[1:2], {}))
        return _register(run, module, site)
    if name == "__call__":
        return run.invoke(module, site)
    if name == "forward" and isinstance(module, Module):
        return run.invoke(module, site)
    if isinstance(module, Instance) and module.layer is not None:
        module = module.layer
    if isinstance(module, Module):
        return _container_method(run, module, name, site)
    return None


def _cast_module(run: Run, module: Instance | Module, name: str, site: CallSite) -> None:
    """`module.double()`, `module.to(dtype)`: the floating point tensors of a Module in another dtype."""
    precise = CASTS.get(name, "")
    for value in tensors_of(module) if name in ("to", "cuda", "cpu") else ():
        run.machine.trail.set(value, "device", "")
    if name in ("to", "type", "cuda", "cpu"):
        dtypes = [as_argument(value) for value in site.values()]
        named = [precise_dtype(each) for each in dtypes if isinstance(each, str) and class_of(precise_dtype(each))]
        precise = named[0] if len(named) == 1 else ""
        if not named and (name in ("cuda", "cpu") or all(_is_device(value) for value in site.values())):
            return
    for value in tensors_of(module):
        if value.dtype in ("float", None) and value.precise != precise:
            run.machine.trail.set(value, "precise", precise)


def _parameters(module: Instance | Module, name: str, site: CallSite) -> Value:
    tensors, complete = parameters_of(module)
    receiver = site.node.function
    source = dotted(receiver.value) if isinstance(receiver, ir.Attribute) else ""
    items: list[Value] = list(tensors)
    if name == "named_parameters":
        paths = parameter_paths(module)
        items = [Sequence("tuple", (paths.get(id(each), Scalar("str")), each)) for each in items]
    if complete and not items and isinstance(module, Instance):
        complete = lists_all(module)
    if complete and len(items) <= MOST_ITEMS:
        return Sequence("generator", tuple(items), None, source)
    element: Value = unseen_parameter(source, module)
    if name == "named_parameters":
        element = Sequence("tuple", (Scalar("str"), element))
    listed = Sequence("generator", None, element, source)
    if isinstance(module, Module) or lists_its_own(module):
        listed.among = tuple(items[:MOST_ITEMS])
    return listed


def _load_state(run: Run, module: Instance | Module, site: CallSite) -> None:
    """
    `module.load_state_dict(state)`: all parameters are written where a key for each is asked for
    (torch/nn/modules/module.py).
    """
    machine = run.machine
    strict, assign = site.get(1, "strict") or Constant(True), site.get(2, "assign") or Constant(False)
    if strict != Constant(True) or assign != Constant(False) or not site.complete:
        return
    mode, machine.grad_mode = machine.grad_mode, Truth.NO
    for tensor in parameters_of(module)[0]:
        write(
            run.autograd,
            tensor,
            site.node,
            cst_of(site.node.function),
            "load_state_dict",
            "optimizer",
            name=tensor.name,
        )
    machine.grad_mode = mode


def _register(run: Run, module: Instance, site: CallSite) -> Value:
    name, value = site.get(0, "name"), site.get(1, "tensor") or site.get(1, "param") or site.get(1, "module")
    if isinstance(name, Constant) and isinstance(name.value, str) and value is not None:
        run.machine.trail.set(module.attributes, name.value, value)
        for _, each in alternatives(value):
            if isinstance(each, Tensor):
                each.name = each.name or name.value
                run.machine.trail.set(each, "device", "")  # it goes where its Module goes
    elif not isinstance(name, Constant) and (value is not None or not site.complete):  # `add_module(*found)`
        value = value or name or Unknown()
        set_some_attribute(run, module, value, anew=is_composed(name))
    return NONE


def _container_method(run: Run, module: Module, name: str, site: CallSite) -> Value | None:
    machine = run.machine
    if not module.kind.container:
        return None
    leave_place(run.autograd, [each for value in site.values() for each in reachable_tensors(value)])
    if name == "append" and module.children is not None and site.positional:
        held = (*module.children, site.positional[0])
        machine.trail.set(module, "children", held)
        if module.kind.container == "list":  # where a loop has appended nobody knows how many
            machine.trail.set(module, "element", one_more(module.element, held))
        return module
    if name == "insert" and (children := _with_inserted(module, site)) is not None:
        machine.trail.set(module, "children", children)
        machine.trail.set(module, "element", None)
        return module if module.kind.container == "sequential" else NONE
    if name in ("add_module", "register_module") and _is_new(module, site):
        (key, child), taken = site.positional, module.names or tuple(map(str, range(len(module.children or ()))))
        machine.trail.set(module, "names", (*taken, key.value if isinstance(key, Constant) else ""))
        machine.trail.set(module, "children", (*(module.children or ()), child))
        machine.trail.set(module, "element", None)
        return NONE
    if name in ("append", "extend", "insert", "add_module", "register_module", "set_submodule", "update"):
        machine.trail.set(module, "tail", site.positional[0] if name == "append" and site.positional else None)
        machine.trail.set(module, "children", None)
        machine.trail.set(module, "element", None)
        return module
    if name in ("pop", "clear", "popitem", "setdefault", "__setitem__", "__delitem__"):
        machine.trail.set(module, "children", None)
        machine.trail.set(module, "element", None)
        return None
    if module.names and module.children is not None and name in ("items", "keys"):
        names = [Constant(each) for each in module.names]
        if name == "keys":
            return Sequence("list", tuple(names))
        pairs = zip(names, module.children, strict=True)
        return Sequence("list", tuple(Sequence("tuple", pair) for pair in pairs))
    if name == "values" and module.children is not None:
        return Sequence("list", module.children)
    return None


def _with_inserted(module: Module, site: CallSite) -> tuple[Value, ...] | None:
    """The children after `insert(0, child)`; None where the place, or what stands there, is not known."""
    children = module.children
    if children is None or module.names or len(site.positional) != 2 or site.keywords:
        return None
    place, child = site.positional
    index = place.value if isinstance(place, Constant) else None
    if type(index) is not int or not 0 <= index <= len(children) or not isinstance(child, (Module, Instance)):
        return None
    return (*children[:index], child, *children[index:])


def _is_new(module: Module, site: CallSite) -> bool:
    """Whether `add_module(name, child)` puts one more Module at the end of a container."""
    if module.kind.container != "sequential" or module.children is None or len(site.positional) != 2 or site.keywords:
        return False
    name, child = site.positional
    taken = module.names or tuple(map(str, range(len(module.children))))
    known = isinstance(name, Constant) and isinstance(name.value, str) and name.value not in taken
    return known and isinstance(child, (Module, Instance))


def mode_argument(name: str, site: CallSite) -> Truth:
    """The mode that `train(mode)` and `eval()` set."""
    return Truth.NO if name == "eval" else truth_of(site.get(0, "mode"), Truth.YES)


def _traversal(module: Instance | Module, name: str) -> Value:
    """`modules()`, `children()` and their kin."""
    found, complete = all_modules(module) if name.endswith("modules") else direct_modules(module)
    pairs = name.startswith("named_")
    if complete and len(found) <= MOST_ITEMS:
        if pairs:
            return Sequence("generator", tuple(Sequence("tuple", (Constant(path), each)) for path, each in found))
        return Sequence("generator", tuple(each for _, each in found))
    element: Value = Unknown(layer=True, part_of=module)
    return Sequence("generator", None, Sequence("tuple", (Scalar("str"), element)) if pairs else element)


def _applied(run: Run, module: Instance | Module, site: CallSite) -> Value:
    """`module.apply(fn)`: what it does to flags; what it writes without `init` or `.data` torch may refuse."""
    function = site.get(0, "fn")
    found, complete = all_modules(module)
    changing = isinstance(function, Function) and (
        changes_flags(run, function) or _writes_parameters(function) or is_overridden(each for _, each in found)
    )
    if changing and function is not None and complete and len(found) <= MOST_ITEMS:
        for _, each in reversed(found):
            run.call(function, [each], site.node)
    elif changing or not isinstance(function, Function):
        written = site.arguments.get(0)
        name = dotted(written.value) if written is not None else ""
        given_to(run, function, [module], name)
        if not isinstance(function, (Function, Bound)) and patches(function, name.rpartition(".")[2]):
            patch(run, module)
    else:
        hand_on(run, [function])
    return module


def _writes_parameters(function: Function) -> bool:
    """Whether a function calls an in-place method of an attribute, `m.weight.normal_()`, and not of its `.data`."""
    for node in ir.walk(function.definition):
        called = node.function if isinstance(node, ir.Call) else None
        if isinstance(called, ir.Attribute) and called.attr.endswith("_") and not called.attr.startswith("_"):
            owner = called.value
            if (
                isinstance(owner, ir.Attribute)
                and owner.attr not in ("data", "init")
                and called.attr != "requires_grad_"
            ):
                return True
    return False


def _named_part(module: Instance | Module, name: str, site: CallSite) -> Value:
    target = site.get(0, "target")
    if isinstance(target, Constant) and isinstance(target.value, str):
        found, _ = all_modules(module)
        path = target.value
        if name == "get_submodule":
            for known, each in found:
                if known == path:
                    return each
        else:
            for tensor in parameters_of(module)[0]:
                if parameter_paths(module).get(id(tensor)) == target:
                    return tensor
    if name == "get_parameter":
        return unseen_parameter("", module)
    return Unknown(layer=True, part_of=module)


_TRAVERSALS = frozenset({"modules", "named_modules", "children", "named_children"})


def _is_device(value: Value) -> bool:
    """Whether what a Module is moved to is a device, and no dtype."""
    return isinstance(value, Scalar) or (isinstance(value, Constant) and isinstance(value.value, (str, int)))
