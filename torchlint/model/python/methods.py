"""
Calls of methods: `x.name(...)`, by what `x` is.

A method of an unknown object is unknown code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from torchlint.knowledge.ops.find import is_tensor_method
from torchlint.model.autograd.tensors import fresh, materialise
from torchlint.model.python.attributes import attribute, misses_gradient, owner_of_dict
from torchlint.model.python.builtins import builtin_setattr
from torchlint.model.python.callbacks import run_handed_on
from torchlint.model.python.called_by_torch import perhaps_called
from torchlint.model.python.class_hooks import hands_on_class
from torchlint.model.python.classes import dict_call, super_call
from torchlint.model.python.containers import mapping_method, sequence_method
from torchlint.model.python.custom_functions import APPLIED, apply_function, save_for_backward
from torchlint.model.python.exposure import expose, note_used
from torchlint.model.python.flags import give, unsettle_gradients, unsettle_origins
from torchlint.model.python.functions import call_method
from torchlint.model.python.indirection import is_unknown_code, is_unknown_context, shown
from torchlint.model.python.introspection import class_of, text_method
from torchlint.model.python.members import set_members, written_to_mapping
from torchlint.model.python.module_hooks import register_hook, remove_hook
from torchlint.model.python.module_parts import unseen_parameter
from torchlint.model.python.modules import mode_argument, module_method
from torchlint.model.python.registries import DICTS
from torchlint.model.python.run import Run
from torchlint.model.python.unknown_code import UNKNOWN_LAYER, unknown_call
from torchlint.model.python.unseen_classes import note_put
from torchlint.model.python.variables import named_in_file, not_none, resolved
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import objects_among, some_of
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
    Optimizer,
    Partial,
    Scalar,
    Sequence,
    Super,
    Tensor,
    Unbound,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    is_open,
    reachable_tensors,
)
from torchlint.model.torch.arguments import comes_of_inputs
from torchlint.model.torch.distributions import distribution_method
from torchlint.model.torch.functions import set_grad_mode
from torchlint.model.torch.gradients import backward_on_number, grad_written, have_none
from torchlint.model.torch.optimizers import optimizer_method, update
from torchlint.model.torch.tensor_methods import tensor_method
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_READ: Final = frozenset({"items", "keys", "values", "copy"})
"""Methods of the dictionary of variables that read it: `get` may give a function of the file, see `named_in_file`."""
_PUTTING: Final = frozenset({"__setitem__", "setdefault", "update"})
"""Methods of dictionaries that put something in."""
_OF_DICTS: Final = frozenset({"get", "items", "keys", "values", "copy"})
_LIKE: Final = frozenset({"expand_as", "view_as", "reshape_as", "type_as"})
"""Methods of tensors that look at the shape or type of their argument, and keep nothing of it."""
_OF_TENSORS: Final = frozenset(
    """
    abs acos addbmm addcdiv addcmul addmm addmv addr amax amin angle argmax argmin argsort asin atan atan2 baddbmm
    bmm bool broadcast_to ceil chunk clamp clamp_max clamp_min contiguous cos cosh cross cummax cummin cumprod
    cumsum diag diag_embed diagonal diff div dot eq erf exp exp2 expand expand_as expm1 flatten flip float floor
    fmod frac gather ge gt index_add index_copy index_fill index_select inner isfinite isinf isnan kthvalue le lerp
    log10 log1p log2 log_softmax logcumsumexp logical_and logical_not logical_or logit logsumexp long lt
    masked_fill masked_scatter masked_select matmul max maximum mean median min minimum mm moveaxis movedim mul mv
    nan_to_num narrow ne neg new_empty new_full new_ones new_zeros norm outer permute pow prod reciprocal relu
    repeat repeat_interleave reshape reshape_as roll rot90 round rsqrt scatter scatter_add sigmoid sign sin sinh
    softmax split_with_sizes sqrt square squeeze std sum swapaxes tan tanh tensor_split tile topk transpose tril
    triu true_divide type_as unbind unflatten unfold unsqueeze var view view_as xlogy
    """.split()  # noqa: SIM905
)
"""
Methods that of all that a Module is handed only tensors have, and arrays: no Module (`inverse`), no text or list
(`split`, `sort`), no set (`add`), no logger (`log`), and no batch of tensors (`clone`, `to`).
"""
_CASTS: Final = frozenset({"bool", "float", "long", "type_as"})


def call_bound(run: Run, bound: Bound, site: CallSite) -> Value:
    """Call a method that was looked up before."""
    if bound.function is not None:
        return call_method(run, bound.receiver, bound.function, site)
    receiver = site.node.function
    written = isinstance(receiver, ir.Attribute) and receiver.attr == bound.name
    where = receiver.value if isinstance(receiver, ir.Attribute) and written else receiver
    return _named_method(run, bound.receiver, bound.name, site, where)


def method_call(run: Run, receiver: Value, node: ir.Attribute, site: CallSite) -> Value:
    """`receiver.name(...)`, as it is written."""
    if type(receiver) is Choice:
        receiver = receiver if hasattr(None, node.attr) else not_none(run, receiver)
        if isinstance(receiver, Choice):
            return run.machine.each(receiver, lambda each: method_call(run, each, node, site))
    _manual_zeroing(run, receiver, node, site)
    if misses_gradient(run, receiver, node):
        return Unknown()
    if type(receiver) is External and receiver.qualified in DICTS and site.placed():  # `dict.update(held, ...)`
        if node.attr in _PUTTING and (owner := owner_of_dict(run, site.node.arguments[0].value)) is not None:
            return _put_into_dict(run, owner, node.attr, _less_first(site))
        if type(site.positional[0]) is Mapping:
            return _named_method(run, site.positional[0], node.attr, _less_first(site), site.node.arguments[0].value)
    if type(receiver) is External:
        found = resolved(run, receiver) if node.attr in _OF_DICTS else receiver
        if isinstance(found, External):
            return run.invoke(attribute(run, receiver, node.attr, node), site)
        receiver = found
    first = site.positional[0] if node.attr == "get" and site.positional and isinstance(receiver, Unknown) else None
    if first is not None and first != NONE and (named := named_in_file(run, node.value, first)) is not None:
        return named
    if node.attr in _PUTTING and (owner := owner_of_dict(run, node.value)) is not None:
        return _put_into_dict(run, owner, node.attr, site)
    if node.attr in _READ and isinstance(receiver, Unknown) and owner_of_dict(run, node.value) == NONE:
        variables = run.machine.frame.variables.values()
        held = Unknown((each for value in variables for each in reachable_tensors(value)), source=site.node)
        held.may_be = objects_among(variables)
        return held  # `locals().items()` does nothing with them
    if type(receiver) is Instance or type(receiver) is Class or type(receiver) is Super:
        if save_for_backward(run, receiver, node.attr, site):
            return NONE
        found = attribute(run, receiver, node.attr, node)
        if not (isinstance(found, Bound) and found.function is None) or _is_kept(receiver, node.attr, found):
            if _is_method_from_elsewhere(run, receiver, node.attr, found):
                result = unknown_call(run, found, site, receiver)
            else:
                if isinstance(receiver, Class) and isinstance(found, Unknown) and not is_foreign(found):
                    give(run, [receiver], node.attr, site.node)  # a class method
                elif isinstance(receiver, Class) and isinstance(found, Function) and hands_on_class(run, found):
                    expose(run, receiver.ancestry(), site)
                result = run.invoke(found, site)
            for hook in run.machine.watch.method if isinstance(receiver, (Instance, Class)) else ():
                hook(receiver, node.attr, site.positional, site.keywords, result, site.node)
            return result
    return _named_method(run, receiver, node.attr, site, node.value)


def _less_first(site: CallSite) -> CallSite:
    """A call of a method that is taken from its class, as one of the object that it is given."""
    return CallSite(site.node, site.positional[1:], site.keywords, complete=site.complete)


def _put_into_dict(run: Run, owner: Value, name: str, site: CallSite) -> Value:
    """`x.__dict__.update(...)`, `x._modules.setdefault(...)`: attributes are set past all that a class has to say."""
    (given, *others) = site.values() or [Unknown()]
    if name == "update":
        known = given.items if isinstance(given, Mapping) and not others and site.complete else None
        if site.keywords and not site.positional and site.complete:
            known = dict(site.keywords.items())
        if known is None:
            note_put(run.machine, owner, site.values() if site.complete else [Unknown()])
        set_members(run, owner, known, given if known is not None else some_of([given, *others]))
        return NONE
    if is_unknown_code(given):
        note_put(run.machine, owner, others)
    value = some_of(others)
    set_members(run, owner, None, value, anew=False)
    return value


def _is_kept(receiver: Instance | Class | Super, name: str, found: Bound) -> bool:
    """Whether an attribute holds the method, which is one of another object's (`self.spike = Spike.apply`)."""
    return isinstance(receiver, Instance) and receiver.attributes.get(name) is found


def _is_method_from_elsewhere(run: Run, receiver: Value, name: str, found: Value) -> bool:
    """Whether a class holds a function that nobody knows under a name: what is written in Python gets the object."""
    if not isinstance(receiver, Instance) or not isinstance(found, External) or name in receiver.attributes:
        return False
    return not found.qualified.startswith(("torch.", "builtins.")) and resolved(run, found) is found


def _manual_zeroing(run: Run, receiver: Value, node: ir.Attribute, site: CallSite) -> None:
    """`x.grad.zero_()` on an `x` nobody knows: only a tensor has such a `grad`."""
    if node.attr != "zero_" or isinstance(receiver, Tensor):
        return
    inner = node.value
    if isinstance(inner, ir.Attribute) and inner.attr == "data":
        inner = inner.value
    if isinstance(inner, ir.Attribute) and inner.attr == "grad":
        owners = alternatives(run.evaluate(inner.value), run.machine.path)
        for _, owner in owners:
            if isinstance(owner, Unknown):
                tensor = materialise(run.autograd, owner)
                tensor.name = tensor.name or dotted(inner.value)
                grad_written(run.torch, tensor, "zero_", site.node, tensor)
            elif isinstance(owner, Tensor):
                missing = have_none(run.torch, owners)
                missing = missing & Truth.MAYBE if is_open(run.machine.assumed) else missing
                grad_written(run.torch, None, "zero_", site.node, owner, missing)


def _named_method(run: Run, receiver: Value, name: str, site: CallSite, where: ir.Expression) -> Value:
    if (isinstance(receiver, Unknown) and not is_foreign(receiver)) and (
        (name.endswith("_") and not name.startswith("_")) or (name == "forward" and receiver.layer)
    ):
        run.machine.open_write = True
    result = _run_method(run, receiver, name, site, where)
    for hook in run.machine.watch.method:
        hook(receiver, name, site.positional, site.keywords, result, site.node)
    return result


def _run_method(run: Run, receiver: Value, name: str, site: CallSite, where: ir.Expression) -> Value:
    if name in ("enter_context", "__enter__", "__exit__"):
        _entered_by_hand(run, receiver, name, site)
    if name.startswith("register_") and name.endswith("hook"):
        handle = register_hook(run, receiver, name, site)
        if handle is not None:
            return handle
    if name == "backward" and run.handed_on:
        run_handed_on(run, with_calls=False)
    if run.exposed:
        note_used(run, receiver)
    method = RECEIVERS.get(type(receiver))
    result = method(run, receiver, name, site, where) if method is not None else None
    if result is not None:
        return result
    if isinstance(receiver, Unknown):
        return _unknown_method(run, receiver, name, site, where)
    return unknown_call(run, receiver, site, receiver)


def _of_scalar(run: Run, receiver: Scalar, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    return backward_on_number(run.torch, receiver, site, where) if name == "backward" else None


def _of_constant(run: Run, receiver: Constant, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    if not isinstance(receiver.value, str) or site.keywords:
        return None
    return text_method(receiver.value, name, site.positional)


def _of_tensor(run: Run, receiver: Tensor, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    if run.is_replaced(f"torch.Tensor.{name}"):
        return unknown_call(run, Unknown([receiver], source=site.node), site, receiver)
    return tensor_method(run.torch, receiver, name, site, where)


def _of_unknown(run: Run, receiver: Unknown, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    """A method of what may be a tensor; None where nothing says that it is one."""
    if name == "backward" and receiver.tensor is None:  # it may be an engine, which is given a loss
        unsettle_gradients(run, [tensor for value in site.values() for tensor in reachable_tensors(value)])
    # An input of a `forward`, or what operators make of one, and a method that nothing else has which one hands to a
    # Module; or what an unknown layer makes of one. That may be indices, which a cast would show.
    input_of_forward = comes_of_inputs(receiver) and name in _OF_TENSORS
    made_by_layer = receiver.made_by == UNKNOWN_LAYER or receiver.result_of
    result_of_layer = made_by_layer and name in _OF_TENSORS - _CASTS
    # What a custom Function returns, and a method of tensors: its `forward` returns no two values.
    result_of_function = receiver.made_by == APPLIED and is_tensor_method(name)
    if input_of_forward or result_of_layer or result_of_function or (receiver.tensor is None and name == "backward"):
        return tensor_method(run.torch, materialise(run.autograd, receiver), name, site, where)
    if receiver.made_by.startswith("torch.distributions.") and name == "sample":
        # computed under `no_grad`, or by what has no derivative, in every class of it
        cut = "`sample()` draws without a graph (`rsample()` has one)"
        return fresh(run.autograd, site.node, "sample", contiguous=Truth.MAYBE, cut=cut)
    if receiver.made_by and not run.is_replaced(f"{receiver.made_by}.{name}"):
        computed = distribution_method(run.torch, receiver, name, site)
        if computed is not None:
            return computed
    if receiver.tensor is None and name == "requires_grad_" and _is_detached(receiver):
        # only a tensor has both methods: whatever it was, a leaf is left of it
        cut = "`detach()` cuts it from the graph"
        receiver.tensor = fresh(run.autograd, site.node, "detach", contiguous=Truth.MAYBE, cut=cut)
        receiver.tensor.storage.given = True
        return tensor_method(run.torch, receiver.tensor, name, site, where)
    if receiver.tensor is None:
        return None
    if name in ("requires_grad_", "detach_"):
        unsettle_origins(run, receiver)
    return tensor_method(run.torch, receiver.tensor, name, site, where)


def _is_detached(value: Unknown) -> bool:
    """Whether it is what `detach()` returned, of an object that nobody knows."""
    call = value.source
    named = isinstance(call, ir.Call) and isinstance(call.function, ir.Attribute) and call.function.attr == "detach"
    return named and not is_foreign(value)


def _unknown_method(run: Run, receiver: Unknown, name: str, site: CallSite, where: ir.Expression) -> Value:
    _watch_unknown(run, receiver, name, site)
    perhaps_called(run, receiver, name)
    callee = attribute(run, receiver, name, where)
    if isinstance(callee, Unknown) and callee.layer and name not in ("forward", "__call__"):
        # a method of an object, which may be a layer, is none
        made, callee = (
            callee,
            Unknown(
                callee.depends,
                source=callee.source,
                foreign=callee.foreign,
                keeps_flags=callee.keeps_flags,
                part_of=callee.part_of,
            ),
        )
        callee.may_be = made.may_be
    if name in ("parameters", "named_parameters"):
        parameter = unseen_parameter(dotted(where), receiver.part_of)
        parameter.may_be = receiver.may_be  # of the Module that `same(net)` may be
        element: Value = parameter
        if name == "named_parameters":
            element = Sequence("tuple", (Scalar("str"), element))
        return Sequence("generator", None, element, dotted(where))
    if name in _LIKE:
        site = CallSite(site.node, [], {})
    result = unknown_call(run, callee, site, receiver)
    # a tensor's, an array's: a number; of what has no such method Python raises
    return Scalar("number") if name == "item" and not site.node.arguments else result


def _of_sequence(run: Run, receiver: Sequence, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    return sequence_method(run, receiver, name, site)


def _of_mapping(run: Run, receiver: Mapping, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    if receiver.items is None and name in _CHANGING_MAPPINGS:
        written_to_mapping(run, receiver, some_of(site.values()))
    return mapping_method(run, receiver, name, site)


_CHANGING_MAPPINGS = frozenset({"__delitem__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update"})


def _of_instance(run: Run, receiver: Instance, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    if name == "__setattr__":
        return builtin_setattr(run, CallSite(site.node, [receiver, *site.positional], {}))
    if receiver.contents is not None:
        return dict_call(run, receiver.contents, name, site)
    return module_method(run, receiver, name, site)


def _of_module(run: Run, receiver: Module, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    if name == "__class__" and (made := class_of(receiver)) is not None:
        return run.invoke(made, site)
    return module_method(run, receiver, name, site)


def _of_super(run: Run, receiver: Super, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    return super_call(run, receiver, name, site)


def _of_function(run: Run, receiver: Function, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    return run.invoke(receiver, site) if name in ("apply", "__call__") else None


def _of_partial(run: Run, receiver: Partial, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    return remove_hook(run, receiver, name)


def _entered_by_hand(run: Run, receiver: Value, name: str, site: CallSite) -> None:
    """A context manager that is entered or left by a call."""
    context = site.get(0, "cm") if name == "enter_context" else receiver
    if isinstance(context, GradModeGuard):
        set_grad_mode(run.torch, context.mode if name != "__exit__" else Truth.MAYBE)
    elif context is not None and any(isinstance(each, (Unknown, GradModeGuard)) for _, each in alternatives(context)):
        set_grad_mode(run.torch, Truth.MAYBE)
        run.machine.trail.set(run.autograd, "may_cast", True)  # an autocast saves a copy of a weight
        run.machine.trail.set(run.torch, "very_dtypes", False)
    if context is not None and name != "__exit__" and is_unknown_context(context) and not run.autograd.keeper:
        run.autograd.keeper = f"{shown(site.node.function)}(…)"  # until a `with` around is left, as nobody knows when


def _watch_unknown(run: Run, receiver: Unknown, name: str, site: CallSite) -> None:
    machine = run.machine
    if name == "step":
        for hook in machine.watch.stepped:
            hook(receiver, site.node)
    elif name == "zero_grad":
        for hook in machine.watch.zeroed:
            hook(receiver, site.node)
    elif name in ("train", "eval"):
        mode = mode_argument(name, site)
        for hook in machine.watch.mode_set:
            hook(receiver, None if mode is Truth.MAYBE else mode is Truth.YES, site.node)


def _of_class(run: Run, receiver: Class, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    if name != "apply":
        return None
    return apply_function(run, receiver, site)


def _of_optimizer(run: Run, receiver: Optimizer, name: str, site: CallSite, where: ir.Expression) -> Value | None:
    closure = site.get(0, "closure") if name == "step" else None
    if isinstance(closure, (Function, Bound, Partial)):
        _evaluated(run, receiver, closure, site)
    return optimizer_method(run.torch, receiver, name, site)


def _evaluated(run: Run, optimizer: Optimizer, closure: Value, site: CallSite) -> None:
    """The closure of a step; for an optimizer that evaluates it again after each update, a second time as well."""
    machine = run.machine
    _with_gradients(run, closure, site)
    if not optimizer.evaluates or machine.dead:
        return

    def again() -> None:
        update(run.torch, optimizer, site)
        _with_gradients(run, closure, site)

    number = machine.branch((id(site.node), "evaluated", machine.clock))
    machine.fork([(frozenset({(number, 1)}), again), (frozenset({(number, 0)}), lambda: None)])


def _with_gradients(run: Run, closure: Value, site: CallSite) -> None:
    """The optimizers of torch call a closure under `enable_grad`, whatever the mode is around them."""
    machine = run.machine
    mode, machine.grad_mode = machine.grad_mode, Truth.YES
    machine.contexts += 1
    run.call(closure, [], site.node)
    machine.contexts -= 1
    machine.grad_mode = mode


RECEIVERS: Final[dict[type, Callable[[Run, Any, str, CallSite, ir.Expression], Value | None]]] = {
    Scalar: _of_scalar,
    Constant: _of_constant,
    Tensor: _of_tensor,
    Unknown: _of_unknown,
    Unbound: _of_unknown,
    Sequence: _of_sequence,
    Mapping: _of_mapping,
    Optimizer: _of_optimizer,
    Instance: _of_instance,
    Module: _of_module,
    Super: _of_super,
    Function: _of_function,
    Class: _of_class,
    Partial: _of_partial,
}
"""By the type of the receiver; a method that none of them knows is unknown code."""
