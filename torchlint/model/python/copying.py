"""
`copy.copy` and `copy.deepcopy`: what a copy holds.

A deep copy of a Module or of another object of the file is followed part by part, each once, as `copy` does it: a
tensor is another one with memory of its own, a function or a class is the same one. What has a way of its own to be
copied, or holds what nobody knows how to copy, gives something of which nothing is known.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.autograd.tensors import fresh
from torchlint.model.python.containers import copy_of
from torchlint.model.python.making import inherits_known
from torchlint.model.python.run import Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import objects_among
from torchlint.model.state.values import (
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Function,
    GradModeGuard,
    Instance,
    Mapping,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unbound,
    Unknown,
    Value,
    fits,
    reachable_tensors,
)
from torchlint.model.torch.tensor_methods import copied

MOST_COPIED: Final = 1_000
"""Values that are copied one by one; a larger object is not followed."""
_SAME = (Constant, Scalar, External, Class, Function, GradModeGuard, Unbound)
"""What a deep copy shares with what was copied: it does not change."""
_OWN_WAYS = (
    "__deepcopy__",
    "__copy__",
    "__getstate__",
    "__setstate__",
    "__reduce__",
    "__reduce_ex__",
    "__getnewargs__",
)


def copied_value(run: Run, qualified: str, site: CallSite) -> Value:
    """A call of `copy.copy` or `copy.deepcopy`."""
    value = site.positional[0]
    if isinstance(value, Mapping):
        return copy_of(value) if qualified == "copy.copy" else Mapping(None)
    if qualified == "copy.copy":
        if isinstance(value, Tensor):
            return value
        shallow = Unknown(reachable_tensors(value))
        shallow.may_be = objects_among([value])  # what it shares with what it holds
        return shallow
    if isinstance(value, Tensor):
        return copied(run.torch, value, site)
    if isinstance(value, (Module, Instance)) and len(site.values()) == 1:
        try:
            return _DeepCopy(run, site).value(value)
        except _NotFollowedError:
            pass
    return Unknown(source=site.node, layer=isinstance(value, (Module, Instance)))


class _NotFollowedError(Exception):
    """The object holds what is copied in a way that nobody knows."""


class _DeepCopy:
    """One deep copy: what is met twice is copied once."""

    def __init__(self, run: Run, site: CallSite) -> None:
        self._run = run
        self._site = site
        self._known: dict[int, Value] = {}
        self._parts = 0

    def value(self, old: Value) -> Value:
        """The copy of a value."""
        if isinstance(old, _SAME):
            return old
        known = self._known.get(id(old))
        if known is not None:
            return known
        self._parts += 1
        if self._parts > MOST_COPIED or not fits(old):
            raise _NotFollowedError
        if isinstance(old, Instance):
            return self._instance(old)
        if isinstance(old, Module):
            return self._module(old)
        if isinstance(old, Tensor):
            return self._tensor(old)
        if isinstance(old, Sequence) and old.kind != "generator":
            sequence = Sequence(old.kind, None, None)
            sequence.longest = old.longest
            self._known[id(old)] = sequence
            sequence.items = None if old.items is None else tuple([self.value(each) for each in old.items])
            sequence.element = None if old.element is None else self.value(old.element)
            return sequence
        if isinstance(old, Mapping):
            mapping = Mapping(None)
            self._known[id(old)] = mapping
            mapping.items = None if old.items is None else {key: self.value(each) for key, each in old.items.items()}
            mapping.element = None if old.element is None else self.value(old.element)
            mapping.keys = None if old.keys is None else self.value(old.keys)
            return mapping
        if isinstance(old, Choice):
            return Choice(tuple([(guard, self.value(each)) for guard, each in old.alternatives]))
        if isinstance(old, Bound):
            return Bound(self.value(old.receiver), old.name, old.function, old.start)
        if isinstance(old, Unknown) and old.part_of is None:
            unknown = Unknown(source=self._site.node, layer=old.layer, foreign=old.foreign)
            self._known[id(old)] = unknown
            return unknown
        raise _NotFollowedError

    def _instance(self, old: Instance) -> Instance:
        if (
            old.given
            or any(each.value is old for each in self._run.exposed)
            or not inherits_known(old.cls)
            or any(name in cls.attributes for cls in old.cls.ancestry() for name in _OWN_WAYS)
        ):
            raise _NotFollowedError
        instance = self._run.machine.trail.new_object(old.cls)
        self._known[id(old)] = instance
        instance.exact, instance.havocked, instance.initialised = old.exact, old.havocked, old.initialised
        instance.patched, instance.unseen = old.patched, old.unseen
        for name, value in old.attributes.items():
            instance.attributes[name] = self.value(value)
        if old.layer is not None:
            instance.layer = self._module(old.layer)
        if old.contents is not None:
            contents = self.value(old.contents)
            assert isinstance(contents, Mapping)
            instance.contents = contents
        return instance

    def _module(self, old: Module) -> Module:
        module = Module(old.kind, old.config, old.origin)
        self._run.machine.trail.made.append(module)
        module.patched = old.patched
        self._known[id(old)] = module
        for name, value in old.parameters.items():
            part = isinstance(value, Unknown) and value.part_of is old
            module.parameters[name] = Unknown(part_of=module) if part else self.value(value)
        if old.element is not None or old.tail is not None:
            raise _NotFollowedError  # of an unknown number of Modules
        module.children = None if old.children is None else tuple([self.value(each) for each in old.children])
        module.names, module.training = old.names, old.training
        return module

    def _tensor(self, old: Tensor) -> Tensor:
        """A leaf; a copy of another torch refuses. A Parameter leaves its gradient behind (torch/nn/parameter.py)."""
        if old.grad_fn or old.base is not None:
            raise _NotFollowedError
        tensor = fresh(
            self._run.autograd,
            self._site.node,
            "deepcopy",
            own=old.own,
            shape=old.shape,
            dtype=old.dtype,
            contiguous=old.contiguous,
            cut=old.cut,
            precise=old.precise,
        )
        self._known[id(old)] = tensor
        tensor.name, tensor.device, tensor.is_parameter = old.name, old.device, old.is_parameter
        tensor.storage.uses = old.storage.uses
        if old.is_parameter is not Truth.YES and old.grad is not NONE:
            tensor.grad = self.value(old.grad) if isinstance(old.grad, Tensor) else Unknown()
        return tensor
