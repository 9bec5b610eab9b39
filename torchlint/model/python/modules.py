"""
The interpreter's modules: `parameters()`, `train()`, `register_buffer()`, … of layers of torch and of Modules of the
file.

Only the methods that `nn.Module` and its containers bring
(https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html).
"""

from __future__ import annotations

from torchlint.knowledge.modules import find as modules
from torchlint.model.python.builtins import BuiltinMachine
from torchlint.model.python.expressions import MOST_ITEMS, is_module
from torchlint.model.python.making import lists_all
from torchlint.model.python.registries import DICTS
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    MOST_DEPENDS,
    MOST_PARTS,
    NONE,
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
from torchlint.model.torch.functions import CallSite, truth_of
from torchlint.model.torch.operations import CASTS, class_of, precise_dtype
from torchlint.syntax import ir


class LayerMachine(BuiltinMachine):
    """A machine that knows `nn.Module`."""

    def submodules(self, value: Value) -> list[Value]:
        """The modules registered directly on a module."""
        if isinstance(value, Module):
            own = list(value.children or ([value.element] if value.element is not None else ()))
            return own + [each for each in value.parameters.values() if isinstance(each, (Module, Instance))]
        if isinstance(value, Instance):
            found: list[Value] = [
                each
                for option in value.attributes.values()
                for _, each in alternatives(option)
                if isinstance(each, (Module, Instance))
            ]
            return found if value.layer is None else [value.layer, *found]
        return []

    def inherit(self, instance: Instance, site: CallSite) -> None:
        """Run the `__init__` that an object's class has from a class of `torch.nn`, if it derives from one."""
        for base in instance.cls.outside():
            if isinstance(base, External) and base.qualified in DICTS:
                held = self._dict_builtin(site)
                self.trail.set(instance, "contents", held if isinstance(held, Mapping) else None)
                return
            kind = modules.find(base.qualified) if isinstance(base, External) else None
            if kind is not None and (site.complete or kind.container):
                self.trail.set(instance, "layer", self.new_layer(kind, site))
                return
        given = [tensor for value in site.values() for tensor in reachable_tensors(value)]
        if given and is_module(instance) is not Truth.YES:
            self.escape(given, site.node)
            self.trail.set(instance, "given", (*instance.given, *given)[:MOST_DEPENDS])

    def parameters_of(self, value: Value) -> tuple[list[Tensor], bool]:
        """The registered parameters of a module, and whether that is all of them."""
        found: dict[int, Tensor] = {}
        complete = True
        count = 0
        for module in explore(value, self.submodules):
            own, all_known = self._own_parameters(module)
            for each in own:
                found.setdefault(id(each), each)
            complete = complete and all_known
            count += 1
        return list(found.values()), complete and count < MOST_PARTS

    def _own_parameters(self, value: Value) -> tuple[list[Tensor], bool]:
        """The parameters that a module has registered itself, and whether these are all."""
        complete = True
        if isinstance(value, Instance):
            found: list[Tensor] = []
            complete = is_module(value) is Truth.YES
            for option in value.attributes.values():
                for _, each in alternatives(option):
                    if isinstance(each, Tensor) and each.is_parameter is Truth.YES:
                        found.append(each)
                    elif isinstance(each, Unknown) and (each.layer or each.tensor is None):
                        complete = False
            return found, complete
        if not isinstance(value, Module):
            return [], True
        registered = [each for each in value.parameters.values() if isinstance(each, Tensor)]
        held = [each for each in value.children or () if isinstance(each, Tensor)]
        found = [each for each in registered if each.is_parameter is Truth.YES]
        known = not any(isinstance(each, Unknown) for each in value.parameters.values())
        return found + held, known and value.children is not None

    def module_method(self, module: Instance | Module, name: str, site: CallSite) -> Value | None:
        if isinstance(module, Instance) and is_module(module) is Truth.NO:
            return None
        if name in ("parameters", "named_parameters"):
            return self._parameters(module, name, site)
        if name == "zero_grad":
            for hook in self.watch.zeroed:
                hook(module, site.node)
            for tensor in self.parameters_of(module)[0]:
                if tensor.grad is not NONE:
                    self.trail.set(tensor, "grad", NONE)
            return NONE
        if name in ("train", "eval"):
            mode = self.mode_argument(name, site)
            for hook in self.watch.mode_set:
                hook(module, None if mode is Truth.MAYBE else mode is Truth.YES, site.node)
            self._set_training(module, mode)
            return module
        if name in ("to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type", "share_memory"):
            self._cast_module(module, name, site)
            return module
        if name in _TRAVERSALS:
            return self._traversal(module, name)
        if name == "apply":
            return self._applied(module, site)
        if name in ("get_parameter", "get_submodule"):
            return self._named_part(module, name, site)
        if name == "requires_grad_":
            for tensor in self.parameters_of(module)[0]:
                self.require_grad(tensor, truth_of(site.get(0, "requires_grad"), Truth.YES))
            return module
        if name in ("register_buffer", "register_parameter") and isinstance(module, Instance):
            return self._register(module, site)
        if name in ("add_module", "register_module") and isinstance(module, Instance):
            if module.layer is not None and module.layer.kind.container:
                self._container_method(module.layer, "append", CallSite(site.node, site.values()[1:2], {}))
            return self._register(module, site)
        if name == "__call__":
            return self.invoke(module, site)
        if name == "forward" and isinstance(module, Module):
            return self.invoke(module, site)
        if isinstance(module, Instance) and module.layer is not None:
            module = module.layer
        if isinstance(module, Module):
            return self._container_method(module, name, site)
        return None

    def _cast_module(self, module: Instance | Module, name: str, site: CallSite) -> None:
        """`module.double()`, `module.to(dtype)`: the floating point tensors of a Module in another dtype."""
        precise = CASTS.get(name, "")
        if name in ("to", "type", "cuda", "cpu"):
            dtypes = [self.argument(value) for value in site.values()]
            named = [precise_dtype(each) for each in dtypes if isinstance(each, str) and class_of(precise_dtype(each))]
            precise = named[0] if len(named) == 1 else ""
            if not named and (name in ("cuda", "cpu") or all(_is_device(value) for value in site.values())):
                return
        for value in self._tensors_of(module):
            if value.dtype in ("float", None) and value.precise != precise:
                self.trail.set(value, "precise", precise)

    def _tensors_of(self, module: Instance | Module) -> list[Tensor]:
        """The parameters of a Module, and what else it holds that may be a buffer."""
        found = self.parameters_of(module)[0]
        for each in [module, *self.submodules(module)]:
            if isinstance(each, Instance):
                found += [t for v in each.attributes.values() for _, t in alternatives(v) if isinstance(t, Tensor)]
            elif isinstance(each, Module):
                found += [t for t in each.parameters.values() if isinstance(t, Tensor)]
        return found

    def _parameters(self, module: Instance | Module, name: str, site: CallSite) -> Value:
        tensors, complete = self.parameters_of(module)
        receiver = site.node.function
        source = self.text(receiver.value) if isinstance(receiver, ir.Attribute) else ""
        items: list[Value] = list(tensors)
        if name == "named_parameters":
            paths = self._paths(module)
            items = [Sequence("tuple", (paths.get(id(each), Scalar("str")), each)) for each in items]
        if complete and not items and isinstance(module, Instance):
            complete = lists_all(module)
        if complete and len(items) <= MOST_ITEMS:
            return Sequence("generator", tuple(items), None, source)
        element: Value = self.unseen_parameter(source, module)
        if name == "named_parameters":
            element = Sequence("tuple", (Scalar("str"), element))
        return Sequence("generator", None, element, source)

    def _set_training(self, value: Value, mode: Truth) -> None:
        for module in explore(value, self.submodules):
            if isinstance(module, Module):
                self.trail.set(module, "training", mode)
                self.switched.append(module)
            elif isinstance(module, Instance):
                known = Scalar("bool") if mode is Truth.MAYBE else Constant(mode is Truth.YES)
                self.trail.set(module.attributes, "training", known)
                self.switched.append(module)

    def _register(self, module: Instance, site: CallSite) -> Value:
        name, value = site.get(0, "name"), site.get(1, "tensor") or site.get(1, "param") or site.get(1, "module")
        if isinstance(name, Constant) and isinstance(name.value, str) and value is not None:
            self.trail.set(module.attributes, name.value, value)
            for _, each in alternatives(value):
                if isinstance(each, Tensor) and not each.name:
                    each.name = name.value
        return NONE

    def _container_method(self, module: Module, name: str, site: CallSite) -> Value | None:
        if not module.kind.container:
            return None
        if name == "append" and module.children is not None and site.positional:
            self.trail.set(module, "children", (*module.children, site.positional[0]))
            return module
        if name in ("append", "extend", "insert", "add_module", "update"):
            self.trail.set(module, "tail", site.positional[0] if name == "append" and site.positional else None)
            self.trail.set(module, "children", None)
            self.trail.set(module, "element", None)
            return module
        if name in ("pop", "clear", "popitem", "setdefault", "__setitem__", "__delitem__"):
            self.trail.set(module, "children", None)
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

    def mode_argument(self, name: str, site: CallSite) -> Truth:
        return Truth.NO if name == "eval" else truth_of(site.get(0, "mode"), Truth.YES)

    def unseen_parameter(self, source: str, module: Value | None = None) -> Unknown:
        return Unknown(hint="", element_of_parameters=source or "model", part_of=module)

    # -- the modules inside

    def _direct(self, module: Instance | Module) -> tuple[list[tuple[str, Value]], bool]:
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
                    elif isinstance(each, Unknown) and (each.layer or each.tensor is None) and not each.foreign:
                        complete = False
            if module.layer is not None:
                inner, known = self._direct(module.layer)
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
        return found, complete and not any(isinstance(each, Unknown) for each in module.parameters.values())

    def _modules(self, module: Instance | Module) -> tuple[list[tuple[str, Value]], bool]:
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
            inner, known = self._direct(each)
            complete = complete and known
            pending = [*((f"{path}.{name}" if path else name, part) for name, part in inner), *pending]
        return found, complete

    def _traversal(self, module: Instance | Module, name: str) -> Value:
        """`modules()`, `children()` and their kin."""
        found, complete = self._modules(module) if name.endswith("modules") else self._direct(module)
        pairs = name.startswith("named_")
        if complete and len(found) <= MOST_ITEMS:
            if pairs:
                return Sequence("generator", tuple(Sequence("tuple", (Constant(path), each)) for path, each in found))
            return Sequence("generator", tuple(each for _, each in found))
        element: Value = Unknown(layer=True, part_of=module)
        return Sequence("generator", None, Sequence("tuple", (Scalar("str"), element)) if pairs else element)

    def _applied(self, module: Instance | Module, site: CallSite) -> Value:
        """`module.apply(fn)`: what it does to flags; what it writes is an initialisation."""
        function = site.get(0, "fn")
        found, complete = self._modules(module)
        changing = isinstance(function, Function) and self.changes_flags(function)
        if changing and function is not None and complete and len(found) <= MOST_ITEMS:
            for _, each in reversed(found):
                self.call_value(function, [each], site.node)
        elif changing or not isinstance(function, Function):
            written = site.arguments.get(0)
            self.given_to(function, [module], self.text(written.value) if written is not None else "")
        else:
            self.hand_on([function])
        return module

    def hand_on(self, values: list[Value]) -> None:
        """Unknown code is given functions, which may run."""
        raise AssertionError("the layer above knows unknown code")

    def changes_flags(self, function: Function) -> bool:
        """Whether a function may change flags, by what is written in it."""
        raise AssertionError("the layer above knows")

    def given_to(self, function: Value | None, values: list[Value], name: str) -> None:
        """Unknown code of a certain name is run on values."""
        raise AssertionError("the layer above knows unknown code")

    def _paths(self, module: Instance | Module) -> dict[int, Value]:
        """The names of parameters, as `named_parameters` gives them, where they are known."""
        found: dict[int, Value] = {}
        for path, each in self._modules(module)[0]:
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

    def _named_part(self, module: Instance | Module, name: str, site: CallSite) -> Value:
        target = site.get(0, "target")
        if isinstance(target, Constant) and isinstance(target.value, str):
            found, _ = self._modules(module)
            path = target.value
            if name == "get_submodule":
                for known, each in found:
                    if known == path:
                        return each
            else:
                for tensor in self.parameters_of(module)[0]:
                    if self._paths(module).get(id(tensor)) == target:
                        return tensor
        if name == "get_parameter":
            return self.unseen_parameter("", module)
        return Unknown(layer=True, part_of=module)


_TRAVERSALS = frozenset({"modules", "named_modules", "children", "named_children"})


def _is_device(value: Value) -> bool:
    """Whether what a Module is moved to is a device, and no dtype."""
    return isinstance(value, Scalar) or (isinstance(value, Constant) and isinstance(value.value, (str, int)))
