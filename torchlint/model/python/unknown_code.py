"""
What code that the model does not follow may have done to what it can reach.

It may keep, write and change what it is given, so of flags (`requires_grad`, `is_leaf`) and of what containers and
objects hold nothing is certain any more. A call whose value is used practically never changes the flags of the tensors
it is given, but it may: what rests on them from then on is conditional ("if `w` requires grad") and no error. What such
code practically never does is a rule of thumb, and there are three: functions of torch and the standard library leave
flags alone; so do those whose name says that they only look, collect or compute (`foreign.only_reads`); and what is
built over parameters (an optimizer) does. Functions of the file that are handed on run when nobody sees it: what they
write to is unknown from then on.

Runs nothing: says what is left of the values when something unknown has run.
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge import foreign
from torchlint.knowledge.ops import find as ops
from torchlint.model.autograd.reads import retained_escape
from torchlint.model.autograd.writes import escape, leave_place
from torchlint.model.python.attributes import held_tensors
from torchlint.model.python.callbacks import hand_on, havoc, run_handed_on
from torchlint.model.python.flags import (
    FLAGS,
    KEEPING_FLAGS,
    for_effect,
    give,
    keep_in_unknown,
    keeps_flags,
    method_of_elsewhere,
    unsettle_grad,
    unsettle_gradients,
)
from torchlint.model.python.indirection import is_unknown_code, note_given, note_parts, note_unseen, shown
from torchlint.model.python.members import put_where_getter_says
from torchlint.model.python.module_hooks import hooks_all
from torchlint.model.python.module_parts import parameters_of
from torchlint.model.python.process import is_of_torch, may_change_mode, may_patch, torch_among
from torchlint.model.python.run import Run
from torchlint.model.python.unseen_classes import note_given_members
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import objects_among
from torchlint.model.state.values import (
    GRAD_NO,
    HOLDS_NOTHING,
    NONE,
    Bound,
    Constant,
    External,
    Instance,
    Module,
    Tensor,
    Unknown,
    Value,
    is_foreign,
    made_of,
    parts,
    reachable_tensors,
)
from torchlint.model.torch.defaults import given_to_unknown
from torchlint.model.torch.optimizers import may_update
from torchlint.syntax import ir
from torchlint.syntax.tree import written

UNKNOWN_LAYER: Final = "torch.nn.Module.__call__"
"""What made the result of a layer of which nobody knows the class (`Unknown.made_by`)."""


def unknown_call(run: Run, callee: Value, site: CallSite, receiver: Value | None = None) -> Value:
    """Code nobody knows is run: it may read, keep and change what it is given."""
    machine = run.machine
    unknown = callee if isinstance(callee, Unknown) else None
    if unknown is not None and unknown.wraps is not None and receiver is None:
        return run.invoke(unknown.wraps, site)
    if "inplace" in site.keywords and site.keywords["inplace"] not in (NONE, Constant(False)):
        machine.open_write = machine.open_layer_write = True
    function = site.node.function
    called = function.attr if isinstance(function, ir.Attribute) else getattr(function, "id", "")
    only_looks = foreign.only_reads(called)
    apart = foreign.is_foreign(callee.qualified) if isinstance(callee, External) else is_foreign(callee)
    apart = apart or (receiver is not None and is_foreign(receiver))
    if called.endswith("_") and not called.startswith("_") and not apart:
        machine.externally_pure = False
    only_read = (
        isinstance(callee, External) and foreign.leaves_arguments(callee.qualified) and "out" not in site.keywords
    )
    found: dict[int, Tensor] = {}
    passed = site.values()
    given = [*passed, *([receiver] if receiver is not None else [])]
    given += [each.receiver for each in given if type(each) is Bound and each.function is None]
    leading = [each for each in given if type(each) not in HOLDS_NOTHING]  # few of what code is given
    for value in leading:
        if type(value) is not Instance:
            for tensor in reachable_tensors(value):
                found[id(tensor)] = tensor
            continue
        for tensor in (*value.given, *held_tensors(value)):
            if tensor.is_parameter is not Truth.YES:
                found[id(tensor)] = tensor
    depends = list(found.values())
    if not machine.reflection and is_unknown_code(callee):
        note_given(run, passed, site)
        if not only_looks:
            note_parts(run, passed, site)
            note_given_members(machine, passed, f"{shown(function)}(…)")
        note_unseen(run, site)
    may_be: tuple[Value, ...] = ()  # now: of what a container holds nothing is known afterwards
    if not apart and not only_looks:
        may_be = objects_among([*leading, callee] if receiver is None else leading)
    elif isinstance(receiver, Unknown):
        may_be = receiver.may_be  # who only looks at a Module shows its parts: `same(net).parameters()`
    of_callee = unknown.depends if unknown is not None and receiver is None else ()
    own = _held_by_owner(callee) if receiver is None else ()
    keeps = keeps_flags(callee)
    if not apart and not keeps:
        known = called in KEEPING_FLAGS or (called not in FLAGS and ops.find(f"torch.Tensor.{called}"))
        of_library = unknown is not None and unknown.keeps_flags
        if receiver is None or not of_library:
            give(run, passed if receiver is None or known else given, called, site.node)
        elif not known and not (isinstance(receiver, Unknown) and receiver.wraps is not None):
            give(run, [receiver], called, site.node)
        if unknown is not None and receiver is None and any(is_unknown_code(each) for each in passed):
            give(run, [unknown], called, site.node)  # `methodcaller(name, w)(found)`
        if unknown is not None and unknown.part_of is not None and not known:
            method_of_elsewhere(run, unknown.part_of, called, site.node)
        if run.kept_by_unknown and (any(map(_may_hold, given)) or _is_method(callee)):
            give(run, [*run.kept_by_unknown], called, site.node)
    if isinstance(callee if receiver is None else receiver, (External, Unknown)) and foreign.keeps_arguments(called):
        keep_in_unknown(run, passed)
    place = receiver if isinstance(receiver, Unknown) else unknown
    if place is not None and place.part_of is not None:
        for value in passed:
            put_where_getter_says(run, place.part_of, value)
    if not apart and not only_read and foreign.may_differentiate(called):
        perhaps = unknown.possible if unknown is not None and receiver is None else ()  # a kept `backward` among it
        unsettle_gradients(run, (*depends, *of_callee, *perhaps))
        for leaf in (*own, *(each for each in perhaps if not each.grad_fn)):
            unsettle_grad(run, leaf)
    if isinstance(callee, External) and run.imports is not None and run.imports.writes_to_arguments(callee.qualified):
        machine.open_write, machine.open_layer_write = machine.open_write or bool(depends), True
    may_change_mode(run, callee, called, site)
    may_patch(run, callee, called, site, receiver)
    hand_on(run, passed)
    for each in passed:
        if type(each) is External and hooks_all(each.qualified.rpartition(".")[2]):
            machine.trail.set(run, "hooked_by_all", True)
    switches = not apart and not keeps and not only_looks and for_effect(run, site.node)
    for value in leading if not only_read else ():  # last: of what a container holds nothing is known then
        havoc(run, value, switches=switches)
    if unknown is not None and type(unknown.part_of) is Instance and for_effect(run, site.node):
        havoc(run, unknown.part_of, switches=switches)  # a method that its class has from elsewhere
    if switches and isinstance(receiver, Unknown):
        for value in receiver.may_be:  # `same(probe).enable()`
            havoc(run, value, switches=True)
    run_handed_on(run)
    if called == "step" and not apart:
        kept = [tensor for each in run.kept_by_unknown for tensor in reachable_tensors(each)]
        may_update(run.torch, (*depends, *kept), site)
    if depends:
        escape(run.autograd, depends, site.node)
    if not apart and not only_read and not only_looks:
        leave_place(run.autograd, depends)
    retained_escape(run.autograd, passed)
    # `retry(optimizer.zero_grad)`
    arguments = passed + [each.receiver for each in passed if type(each) is Bound]
    for hook in machine.watch.unknown_called:
        hook(callee, receiver, arguments, site.node)
    of_torch = is_of_torch(callee)
    # `mask.to(torch.float)` and `scores.softmax(-1, dtype=torch.float)` compute, whatever they are called on
    if receiver is None or of_torch or not ops.find(f"torch.Tensor.{called}"):
        given_to_unknown(run.torch, arguments, of_torch=of_torch, effect=not apart and for_effect(run, site.node))
    if machine.grad_mode is Truth.NO:
        # Code called under no_grad records nothing (unless it turns grad mode on, which leaves it unknown).
        unrecorded = Unknown(source=site.node, layer=isinstance(callee, External), foreign=apart)
        unrecorded.in_open_mode = True
        unrecorded.part_of = torch_among(run, passed)
        return unrecorded
    result = Unknown([*depends, *of_callee], source=site.node)
    if unknown is not None and unknown.layer and receiver is None:
        result = made_of(passed, source=site.node)  # a method of a layer may do anything
        result.made_by = UNKNOWN_LAYER
        result.possible += tuple(each for each in of_callee if each not in result.depends)
    if own:
        result.possible += tuple(each for each in own if each not in result.depends)
    # it may be a view made in such a mode, handed back
    result.in_open_mode = machine.grad_mode is not Truth.YES or any(map(_is_view_without_edge, leading))
    result.layer, result.foreign, result.keeps_flags = (
        isinstance(callee, External),
        apart,
        keeps and not _wraps(callee, passed),
    )
    result.part_of = receiver.part_of if isinstance(receiver, Unknown) else torch_among(run, passed)
    result.may_be = may_be
    if isinstance(callee, Unknown) and receiver is None and result.depends:
        result.result_of = _call_of_given_layer(run, callee, site)
    return result


def _may_hold(value: Value) -> bool:
    """Whether a value may be a list or dictionary of which nobody knows what it holds."""
    return isinstance(value, Unknown) or (isinstance(value, External) and is_unknown_code(value))


def _is_method(callee: Value) -> bool:
    """Whether a function may be a method of an object of another file: `held.run()`."""
    return isinstance(callee, External) and callee.qualified.count(".") > 1 and is_unknown_code(callee)


def _call_of_given_layer(run: Run, callee: Unknown, site: CallSite) -> str:
    """The text of a call of what the Module whose `forward` runs was given when it was built; "" of another call."""
    machine = run.machine
    function = site.node.function
    if not (isinstance(function, ir.Attribute) and isinstance(function.value, ir.Name) and function.value.id == "self"):
        return ""
    given = isinstance(callee.source, ir.Parameter) and not callee.hint and not callee.layer
    if not given or machine.callers.kind != "forward" or machine.callers.entry is None:
        return ""
    if machine.foreign_call is not None or machine.grad_mode is not Truth.YES:
        return ""
    text = written(site.node.origin)
    return text if len(text) <= _SHORT and "\n" not in text else ""


_SHORT = 40
"""Characters of a call that a message shows."""


def _is_view_without_edge(value: Value) -> bool:
    """Whether a value, or what a list or dictionary holds, may be a view that no gradient flows to."""
    for each in (value, *parts(value)):
        if isinstance(each, (Tensor, Unknown)) and each.in_open_mode:
            return True
        if isinstance(each, Tensor) and each.base is not None and not each.grad_fn:
            return True
    return False


def _wraps(callee: Value, passed: list[Value]) -> bool:
    """Whether a function of Python's own makes something of code that nobody knows: `type(it)`, `classmethod(f)`."""
    of_python = isinstance(callee, External) and not callee.qualified.startswith("torch.")
    return of_python and any(is_unknown_code(each) for each in passed)


def _held_by_owner(callee: Value) -> tuple[Tensor, ...]:
    """What a method that an object has from elsewhere finds there: it may compute with it, and differentiate that."""
    owner = callee.part_of if isinstance(callee, Unknown) else None
    if not isinstance(owner, (Instance, Module)):
        return ()
    held = (*(held_tensors(owner) if isinstance(owner, Instance) else ()), *parameters_of(owner)[0])
    return tuple({id(each): each for each in held if each.requires_grad != GRAD_NO}.values())
