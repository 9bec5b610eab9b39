"""
What is known of `requires_grad` after unknown code had a hold of a tensor, a Module or an object.

Four rules of thumb bound it; see docs/model.md, "What is deliberately unknown".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Final

from torchlint.knowledge import foreign
from torchlint.knowledge.ops import find as ops
from torchlint.model.autograd.tensors import possible_gradient
from torchlint.model.python.run import Called, Run
from torchlint.model.python.variables import forget_variables, lookup
from torchlint.model.state.guards import Truth
from torchlint.model.state.held import LEADING_NOWHERE, held_by
from torchlint.model.state.values import (
    CONTAINERS,
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    MOST_DEEP,
    NONE,
    Bound,
    Class,
    Constant,
    External,
    Frame,
    Function,
    Grad,
    GraphNode,
    Instance,
    Module,
    Optimizer,
    Partial,
    Super,
    Tensor,
    Unknown,
    Value,
    is_open,
    parts,
    unknown_guard,
    within,
)
from torchlint.syntax import ir
from torchlint.syntax.reading import written
from torchlint.syntax.spelling import dotted
from torchlint.syntax.unread import may_write

FLAGS: Final = frozenset({"requires_grad", "requires_grad_", "detach_", "set_requires_grad"})
"""Who changes a flag writes one of these, or `freeze`."""
_PARTS_OF_FLAGS: Final = ("requires_grad", "detach_", "freeze")
"""One of these is part of what such a function writes."""
KEEPING_FLAGS: Final = frozenset(
    """
    __call__ __getitem__ __iter__ __len__ add_module add_param_group bfloat16 buffers children clear compile cpu
    cuda data_ptr dim double element_size eval extra_repr float forward get_buffer get_device get_extra_state
    get_parameter get_submodule half is_complex is_contiguous is_floating_point items keys load_state_dict
    log_prob modules named_buffers named_children named_modules named_parameters ndimension nelement parameters
    pop register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter register_state_dict_pre_hook
    reset_parameters sample set_extra_state setdefault share_memory state_dict step storage_offset stride to
    to_empty train type values zero_grad
    """.split()  # noqa: SIM905
)
"""
Methods of Modules and optimizers that torch has, which leave `requires_grad` alone; and of tensors, those that ask and
are no operations.
"""

_MOST_NODES = 1000
"""Nodes of a graph whose leaves are looked for."""


def unsettle(run: Run, value: Value, *, slightly: bool = False, called: str = "") -> None:
    """
    Whether anything that this value leads to requires grad, or is a leaf, is not known any more; `slightly`: what
    required grad practically still does, and that becomes a condition, of each tensor or of all that is `called` so.
    """
    if isinstance(value, Tensor):
        _unsettle_tensor(run, value, slightly, called)
        return
    if type(value) not in LEADING_NOWHERE:
        unsettle_all(run, [value], slightly=slightly, called=called)


def unsettle_all(run: Run, values: Iterable[Value], *, slightly: bool = False, called: str = "") -> None:
    """`unsettle` of several values at once: what two of them lead to, mostly the object they come from, counts once."""
    tensors, classes = _led_to(values)
    for tensor in tensors:
        _unsettle_tensor(run, tensor, slightly, called)
    for cls in classes if not slightly else ():
        run.give_away(cls)


def _led_to(values: Iterable[Value]) -> tuple[list[Tensor], list[Class]]:
    """The tensors that values lead to, or may turn out to be, some of them twice; and the classes of the objects."""
    tensors: list[Tensor] = []
    classes: list[Class] = []
    unknown: list[Unknown] = []
    seen: set[Value] = set()  # values are compared by what they are, but for constants, which lead nowhere
    pending = [*values][::-1]
    while pending:
        each = pending.pop()
        kind = type(each)
        if kind in LEADING_NOWHERE or each in seen:
            continue
        seen.add(each)
        if isinstance(each, Tensor):  # the most frequent come first: this is asked of very many
            tensors.append(each)
        elif isinstance(each, Module):
            own = [*each.parameters.values()]
            if _TENSORS.issuperset(map(type, own)):
                tensors += own  # type: ignore[arg-type]
            else:
                pending += own
            if each.children:
                pending += each.children
            if each.tail is not None:
                pending.append(each.tail)
            if each.element is not None:
                pending.append(each.element)
        elif isinstance(each, Unknown):
            unknown.append(each)
            pending += each.possible if each.certain_edge else each.depends
            if each.part_of is not None and each.part_of not in seen:  # mostly the object that it was found in
                pending.append(each.part_of)
            pending += each.may_be
        elif isinstance(each, Instance):
            held = held_by(each)
            classes.append(each.cls)
            tensors += held.tensors
            unknown += held.unknown
            pending += held.leading
            pending += each.given
            pending += each.named_elsewhere
            pending += [part for part in (each.layer, each.contents) if part is not None]
        elif kind in CONTAINERS:
            pending += parts(each)
        elif isinstance(each, Class):
            pending += each.attributes.values()
            pending += each.named_elsewhere
        elif isinstance(each, Bound):
            pending.append(each.receiver)
        elif isinstance(each, Super):
            pending.append(each.instance)
        elif isinstance(each, Partial):
            pending += [each.function, *each.given, *each.named.values()]
        elif isinstance(each, Optimizer):
            pending += each.parameters
    return [*tensors, *[each.guess for each in unknown if each.guess is not None]], classes


_TENSORS: Final = frozenset({Tensor})


def text_is_run(run: Run, by: str) -> None:
    """Code in a text may have bound any variable in sight anew, and set the flags of what it held."""
    frame: Frame | None = run.machine.frame
    while frame is not None:
        for value in list(frame.variables.values()):
            unsettle(run, value)
        frame = frame.enclosing
    forget_variables(run, by)


def unsettle_origins(run: Run, value: Unknown) -> None:
    """A flag of a value is set that may be one of those it comes from."""
    unsettle_all(run, value.may_be if value.part_of is None else (*value.may_be, value.part_of))
    for tensor in value.possible if value.certain_edge else value.depends:
        unsettle(run, tensor)


def _unsettle_tensor(run: Run, tensor: Tensor, slightly: bool, called: str) -> None:
    if tensor.dtype in ("int", "bool"):
        return  # torch lets only floating point require grad
    if tensor.base is not None and tensor.base.own == GRAD_NO:
        _unsettle_tensor(run, tensor.base, slightly, called)  # what is written into a view, its base takes part in
    if not slightly and "." in tensor.name:  # `search.point`
        run.given_tensors.add(tensor.name.rpartition(".")[2])
    own, cut = GRAD_MAYBE, None
    if slightly and tensor.name and tensor.own.inputs:
        return
    name = called or tensor.name
    if slightly and name and tensor.own == GRAD_YES:
        own = Grad(Truth.NO, frozenset({name}))
        cut = own.guard()
    if tensor.own is not own and tensor.own != own:
        run.machine.trail.set(tensor, "own", own)
    unsettle_grad(run, tensor)
    if tensor.grad_fn and not slightly and not tensor.retains_grad:
        run.machine.trail.set(tensor, "retains_grad", True)  # perhaps: those who ask want to know that it is not so
    if tensor.grad_fn and tensor.base is None and not all(is_open(guard) for guard, _ in tensor.grad_fn):
        cut = cut or unknown_guard()
        run.machine.trail.set(tensor, "grad_fn", tuple((guard | cut, node) for guard, node in tensor.grad_fn))


def unsettle_grad(run: Run, tensor: Tensor) -> None:
    """A backward may have run that nobody has seen."""
    if not tensor.grad_fn:
        run.autograd.unsettled[id(tensor)] = tensor  # and what that code has computed may be differentiated later
    none = tensor.grad is NONE or (isinstance(tensor.grad, Constant) and tensor.grad == NONE)
    if none and tensor.is_leaf is not Truth.NO:
        run.machine.trail.set(tensor, "grad", possible_gradient())


def unsettle_gradients(run: Run, tensors: Iterable[Tensor]) -> None:
    """Unknown code was given tensors: it may call `backward` on each, so their leaves may have a gradient."""
    seen: set[int] = set()
    for tensor in tensors:
        for _, node in tensor.grad_fn:
            if id(node) not in seen:
                seen.add(id(node))
                for leaf in _leaves(node):
                    unsettle_grad(run, leaf)


def _leaves(root: GraphNode) -> tuple[Tensor, ...]:
    """
    The leaves that a node leads to. They are kept with it: a graph grows at its end, so most of what the next one leads
    to is known by then.
    """
    if root.leaves is not None:
        return root.leaves
    found: dict[int, Tensor] = {}
    seen = {id(root)}
    pending: list[GraphNode] = [root]
    left = _MOST_NODES
    while pending and left:
        left -= 1
        node = pending.pop()
        if node.leaves is not None:
            for leaf in node.leaves:
                found[id(leaf)] = leaf
            continue
        for _, target in node.edges:
            if isinstance(target, Tensor):
                found[id(target)] = target
            elif id(target) not in seen:
                seen.add(id(target))
                pending.append(target)
        held = node.output_of
        if held is not None and id(held) not in seen:
            seen.add(id(held))
            pending.append(held)
    leaves = tuple(found.values())[:_MOST_NODES]
    if not pending:
        root.leaves = leaves
    return leaves


def give(run: Run, values: list[Value], name: str, node: ir.Node) -> None:
    """Unknown code of a certain name is given values: what it may have done to their flags."""
    if foreign.only_reads(name):
        return
    leading = [
        value
        for value in values
        if type(value) not in LEADING_NOWHERE and (not isinstance(value, Unknown) or _leads_somewhere(value))
    ]
    if not leading:
        return  # most calls: what they are there for need not be asked
    effect = for_effect(run, node) or (name.endswith("_") and not name.endswith("__"))
    effect = (effect and not name[:1].isupper()) or foreign.speaks_of_flags(name)
    certain: list[Value] = []
    slight: list[Value] = []
    for value in leading:
        sure = _holds_modules(value) or (effect and not isinstance(value, Optimizer))
        (certain if sure else slight).append(value)
    if certain:
        unsettle_all(run, certain)
    if slight:
        unsettle_all(run, slight, slightly=True)


def _leads_somewhere(value: Unknown) -> bool:
    return bool(value.depends or value.possible or value.may_be or value.tensor or value.part_of is not None)


def keep_in_unknown(run: Run, values: list[Value]) -> None:
    """A list or dictionary of which nobody knows what it holds gets values: whoever is given it later has them."""
    new = [each for each in values if type(each) not in LEADING_NOWHERE and not isinstance(each, Unknown)]
    if new and len(run.kept_by_unknown) < _MOST_KEPT:
        known = run.kept_by_unknown
        kept = (*known, *(each for each in new if not any(each is one for one in known)))
        run.machine.trail.set(run, "kept_by_unknown", kept)


_MOST_KEPT = 100
"""Values that are followed so; what comes after these is told as if nobody had it."""


def given_to(run: Run, function: Value | None, values: list[Value], name: str) -> None:
    """Unknown code of a certain name is run on values."""
    called = name.rpartition(".")[2]
    if (
        isinstance(function, Function)
        or called in FLAGS
        or (not keeps_flags(function) and not foreign.only_reads(called))
    ):
        for value in values:
            unsettle(run, value)


def method_of_elsewhere(run: Run, owner: Value, name: str, node: ir.Node) -> None:
    """A method that an object's class has from elsewhere; called on tensors, it may be a layer that it holds."""
    if foreign.speaks_of_flags(name) or (for_effect(run, node) and not foreign.only_reads(name)):
        unsettle(run, owner)


def for_effect(run: Run, node: ir.Node) -> bool:
    """Whether a call's value is dropped: it is there for what it does."""
    statement = run.machine.statement
    if isinstance(statement, ir.Assign):
        targets = statement.targets
        target = targets[0]
        return isinstance(target, ir.Name) and target.id == "_" and len(targets) == 1 and statement.value is node
    if not isinstance(statement, ir.ExpressionStatement):
        return False
    return any(each is node for each in _dropped(statement.value))


def _dropped(value: ir.Expression) -> Iterator[ir.Expression]:
    """The expressions whose values go with the value of a statement: itself, and what it only computes with."""
    pending = [value]
    while pending:
        each = pending.pop()
        yield each
        if isinstance(each, ir.Await):
            pending.append(each.value)
        elif isinstance(each, ir.Comprehension):
            pending.append(each.element)
        elif isinstance(each, ir.Binary):
            pending += [each.left, each.right]
        elif isinstance(each, ir.Unary):
            pending.append(each.operand)
        elif isinstance(each, ir.Boolean):
            pending += each.operands
        elif isinstance(each, ir.Compare):
            pending += [each.left, *each.rights]
        elif isinstance(each, ir.Conditional):
            pending += [each.body, each.orelse]
        elif isinstance(each, ir.Sequence):
            pending += each.elements


def changes_flags(run: Run, function: Function) -> bool:
    """Whether a function of the file that is not followed may change flags, by what is written in it."""
    definition = function.definition
    known = run.freezing.get(definition)
    if known is None:
        if not isinstance(definition, ir.FunctionDef):
            words = {each.attr for each in ir.walk(definition) if isinstance(each, ir.Attribute)}
        else:
            words = written(definition).words if may_write(definition, _PARTS_OF_FLAGS) else set()
        known = not words.isdisjoint(FLAGS) or "freeze" in " ".join(words)
        run.freezing[definition] = known
    return known


def calls_unknown(run: Run, function: Function, deep: int = 3) -> bool:
    """
    Whether a function of the file that is not followed may hand on what it is given to code that nobody knows. What
    its object holds are layers: those leave flags alone.
    """
    definition = function.definition
    handing = run.handing.get(definition)
    if handing is None:
        handing = run.handing[definition] = _handing(definition)
    calls, own = handing
    if calls is None:
        return True
    frame = run.machine.frame
    run.machine.frame = function.closure
    try:
        for each in calls:  # noqa: SIM110 - asked at each call of the function: a generator costs more than asking
            if _is_unknown(run, function, each, own, deep):
                return True
        return False
    finally:
        run.machine.frame = frame


def unsettle_by(run: Run, function: Function, values: list[Value]) -> None:
    """A function of the file runs on some values, and is not followed: it may change their flags, or hand them on."""
    if LEADING_NOWHERE.issuperset(map(type, values)):
        return
    changing = changes_flags(run, function)
    if changing or calls_unknown(run, function):
        unsettle_all(run, values, slightly=not changing)


_DISPATCHING = frozenset({"singledispatch", "singledispatchmethod"})


def _handing(definition: ir.FunctionDef | ir.Lambda) -> tuple[list[Called] | None, frozenset[str]]:
    """What a function may hand on values to, None if others may run in its place; and its own names."""
    own = frozenset([parameter.name for parameter in definition.parameters])
    if isinstance(definition, ir.FunctionDef):
        own |= definition.assigned
        if any(dotted(each).rpartition(".")[2] in _DISPATCHING for each in definition.decorators):
            return None, own  # others may be registered under its name
    return [each for node in _different_calls(definition.body) for each in _run_by(node)], own


def _different_calls(body: list[ir.Statement] | ir.Node) -> list[ir.Call]:
    """The calls of a body that hand on something; of those of one name one, where what it is given does not count."""
    found: dict[str | int, ir.Call] = {}
    for node in ir.walk(body):
        if isinstance(node, ir.Call) and node.arguments:
            name = dotted(node.function)
            found.setdefault(id(node) if foreign.may_run_given(name.rpartition(".")[2]) else name, node)
    return list(found.values())


def calls_what_is_unknown(run: Run, function: Function, node: ir.Call, own: Set[str]) -> bool:
    """Whether a call in a function is of code that nobody knows, or hands such code to `map` and the like."""
    return any(_is_unknown(run, function, each, own, 3) for each in _run_by(node))


def _run_by(node: ir.Call) -> list[Called]:
    """What a call runs, and what it hands to `map` and the like; less what leaves flags alone by its name."""
    found = [node.function]
    if foreign.may_run_given(dotted(node.function).rpartition(".")[2]):
        found += [each.value for each in node.arguments if isinstance(each.value, (ir.Name, ir.Attribute))]
    return [(root, names) for root, *names in [dotted(each).split(".") for each in found] if not _keeps(root, names)]


def _keeps(root: str, names: list[str]) -> bool:
    name = names[-1] if names else root
    if foreign.only_reads(name):
        return True
    return bool(names) and (name in KEEPING_FLAGS or (name not in FLAGS and bool(ops.find(f"torch.Tensor.{name}"))))


def _is_unknown(run: Run, function: Function, called: Called, own: Set[str], deep: int) -> bool:
    """Whether what a function calls is code that nobody knows, which may change flags; looked up in the frame."""
    root, names = called
    if root in own:
        first = function.definition.parameters[:1] if names and function.owner is not None else ()
        return not any(each.name == root for each in first)
    found = lookup(run, root) if root else Unknown()
    if isinstance(found, External):
        return not foreign.keeps_flags(".".join((found.qualified, *names)))
    if isinstance(found, Function):
        return found is not function and deep > 0 and calls_unknown(run, found, deep - 1)
    return not isinstance(found, (Class, Instance, Module))


def keeps_flags(callee: Value | None) -> bool:
    """Whether a function leaves `requires_grad` alone, by its name."""
    return isinstance(callee, External) and foreign.keeps_flags(callee.qualified)


def _holds_modules(value: Value) -> bool:
    """Whether a value is a Module, or holds one."""
    if type(value) not in CONTAINERS:
        return type(value) in _OF_MODULES
    kinds = {*map(type, parts(value))}
    if _OF_MODULES.isdisjoint(kinds) and CONTAINERS.isdisjoint(kinds):
        return False  # most: a tensor or None
    return any(isinstance(each, (Module, Instance, Super)) for each in within(value, parts, MOST_DEEP))


_OF_MODULES: Final = frozenset({Module, Instance, Super})
