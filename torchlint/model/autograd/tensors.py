"""
The tensors that a value may be, and new ones: results, views, what an unknown value turns out to be.

Makes tensors; records no operation (`record`) and writes to none (`writes`).
"""

from __future__ import annotations

from typing import Final

from torchlint.model.autograd.autograd import Autograd
from torchlint.model.autograd.edges import possible_edges, running_statement
from torchlint.model.events import Shape
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin
from torchlint.model.state.machine import records
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    NONE,
    Alias,
    Choice,
    External,
    Grad,
    GraphNode,
    Sequence,
    Tensor,
    Unknown,
    Value,
    VersionCounter,
    alternatives,
    fits,
    is_value_of_elsewhere,
    reachable_tensors,
    sure_tensors,
    unknown_guard,
)
from torchlint.syntax import ir

MOST_SAVES: Final = 8
MOST_RETAINING = 15
"""Results that are told to retain their gradient, beside the last; older ones get none that is known."""


def tensor_options(autograd: Autograd, value: Value) -> list[tuple[Guard, Tensor]]:
    """The tensors a value may be, each with its guard; an unknown value is taken for a tensor from now on."""
    if type(value) is Tensor:
        return [(ALWAYS, value)]
    found = []
    for guard, each in alternatives(value, autograd.machine.guard):
        if isinstance(each, Tensor):
            found.append((guard, each))
        elif isinstance(each, Unknown):
            found.append((guard, materialise(autograd, each)))
        elif isinstance(each, External) and type(value) is Choice and is_value_of_elsewhere(each):
            found.append((guard, materialise(autograd, imported(autograd, each))))
    return found


def all_tensor_options(autograd: Autograd, value: Value) -> list[tuple[Guard, Tensor]]:
    """As `tensor_options`, and the tensors inside a list or tuple."""
    if not fits(value):
        return [(unknown_guard(), each) for each in reachable_tensors(value)]
    if isinstance(value, Sequence):
        inner = value.items if value.items is not None else ((value.element,) if value.element is not None else ())
        found = [option for each in inner for option in all_tensor_options(autograd, each)]
        return found if value.items is not None else [(guard | unknown_guard(), each) for guard, each in found]
    if isinstance(value, Choice):
        return [
            (both, tensor)
            for guard, each in alternatives(value, autograd.machine.guard)
            for inner, tensor in all_tensor_options(autograd, each)
            if (both := conjoin(guard, inner)) is not None
        ]
    return tensor_options(autograd, value)


def possible_options(autograd: Autograd, value: Value) -> list[tuple[Guard, Tensor]]:
    """
    As `all_tensor_options`, of an argument that need not be a tensor: an unknown value is held for what it is if it
    is one, and stays unknown.
    """
    if type(value) is Tensor:
        return [(ALWAYS, value)]
    if isinstance(value, Unknown):
        if value.foreign and value.tensor is None:
            return []
        return [(ALWAYS, value.tensor or guess(autograd, value))]
    if not fits(value):
        return [(unknown_guard(), each) for each in reachable_tensors(value)]
    if isinstance(value, Sequence):
        if value.items is not None:
            return [option for each in value.items for option in possible_options(autograd, each)]
        found = possible_options(autograd, value.element) if value.element is not None else []
        certain = [*value.among, value.last] if value.last is not None else value.among
        sure = [option for each in certain for option in possible_options(autograd, each)]
        return [*sure, *((guard | unknown_guard(), each) for guard, each in found)]
    if isinstance(value, External) and is_value_of_elsewhere(value):
        return [(ALWAYS, guess(autograd, imported(autograd, value)))]
    if isinstance(value, Choice):
        return [
            (both, tensor)
            for guard, each in alternatives(value, autograd.machine.guard)
            for inner, tensor in possible_options(autograd, each)
            if (both := conjoin(guard, inner)) is not None
        ]
    return []


def imported(autograd: Autograd, value: External) -> Unknown:
    """What is imported from elsewhere, used as a value: it may be a tensor."""
    known = autograd.imported_values.get(value.qualified)
    if known is None:
        known = autograd.imported_values[value.qualified] = Unknown()
    return known


def gradient_of(autograd: Autograd, tensor: Tensor) -> Value:
    """
    `tensor.grad`. A tensor that is older than the call which is followed here may have got one from other calls before
    it, unless this one has set it; one that retains its gradient gets it from whichever backward comes by,
    and what a hook does with the gradient of a computed one may be to set this. So may one be filled that was computed
    on one path and is a leaf on another, whichever that was: a join may have lost which.
    """
    older = tensor.born <= autograd.machine.called_at >= tensor.grad_dropped
    older = older or tensor.retains_grad or (bool(tensor.grad_fn) and (tensor.hooked or tensor.is_leaf is Truth.MAYBE))
    if tensor.grad is not NONE or not older or tensor.requires_grad.truth() is Truth.NO:
        return tensor.grad
    return possible_gradient()


def possible_gradient() -> Choice:
    """A `.grad` of which nobody knows whether there is one."""
    return Choice(((unknown_guard(), NONE), (unknown_guard(), Unknown())))


def retain_gradient(autograd: Autograd, tensor: Tensor) -> None:
    """`tensor.retain_grad()`: a backward that comes by leaves a gradient in a result, too."""
    machine = autograd.machine
    machine.trail.set(tensor, "retains_grad", True)
    if tensor.grad_fn and not any(each is tensor for _, each in autograd.retaining):
        told = (machine.guard, tensor)
        machine.trail.set(autograd, "retaining", (*autograd.retaining[-MOST_RETAINING:], told))


def materialise(autograd: Autograd, unknown: Unknown) -> Tensor:
    """The tensor that an unknown value has turned out to be: nothing is known of how it was made."""
    if unknown.tensor is None:
        unknown.tensor = guess(autograd, unknown)
    return unknown.tensor


def guess(autograd: Autograd, unknown: Unknown) -> Tensor:
    """The tensor that an unknown value is if it is one."""
    machine = autograd.machine
    if unknown.guess is not None:
        return unknown.guess
    edges: list[tuple[Guard, GraphNode | Tensor]] = []
    own = GRAD_NO if unknown.hint and not unknown.depends else GRAD_MAYBE
    for tensor in unknown.depends:
        sure = ALWAYS if unknown.certain_edge else unknown_guard()
        edges += [(guard | sure, node) for guard, node in possible_edges(autograd, tensor)]
        if unknown.certain_edge:
            own = own.either(tensor.requires_grad)
    for choice in unknown.one_of:
        own = own.either(_depend_on_one(autograd, choice, edges))
    for tensor in unknown.possible:
        edges += [(guard | unknown_guard(), node) for guard, node in possible_edges(autograd, tensor)]
    if unknown.result_of:
        own = Grad(Truth.NO, frozenset({unknown.result_of}))
    if unknown.hint and not unknown.depends:
        own = Grad(Truth.NO, frozenset({unknown.hint}))
    origin = machine.here(unknown.source or running_statement(autograd))
    time = machine.tick()
    node = GraphNode(
        name="",
        op="",
        origin=origin,
        line=machine.line(),
        time=time,
        condition=own,
        edges=tuple(edges),
        holds=Truth.MAYBE,
        opaque=True,
        built_in=machine.built_in,
        iteration=machine.iteration,
        foreign_call=machine.foreign_call,
    )
    tensor = Tensor(
        origin=origin,
        line=machine.line(),
        born=time,
        made_by="",
        own=own,
        grad_fn=((ALWAYS, node),),
        is_parameter=Truth.YES if unknown.element_of_parameters else Truth.MAYBE,
        contiguous=_is_contiguous(unknown),
    )
    tensor.grad = possible_gradient()
    tensor.name = unknown.hint
    tensor.in_open_mode = unknown.in_open_mode
    tensor.storage.given = True
    unknown.guess = tensor
    return tensor


def _is_contiguous(unknown: Unknown) -> Truth:
    """An input of a `forward` is the tensor that it depends on; what an operator makes of contiguous tensors is so."""
    operator = isinstance(unknown.source, (ir.Binary, ir.Unary)) and unknown.certain_edge and not unknown.possible
    if not unknown.depends or not (unknown.hint or operator):
        return Truth.MAYBE
    return unknown.depends[0].contiguous & Truth.of(
        all(each.contiguous is Truth.YES for each in unknown.depends) or None
    )


def _depend_on_one(autograd: Autograd, choice: Choice, edges: list[tuple[Guard, GraphNode | Tensor]]) -> Grad:
    """What depends on one of several values has the edges of each where it is that one; whether one requires grad."""
    joined: Grad | None = None
    for guard, each in choice.alternatives:
        sure = sure_tensors(each)
        grad = GRAD_NO if sure else GRAD_MAYBE
        for tensor in sure:
            grad = grad.either(tensor.requires_grad)
            found = ((conjoin(guard, inner), node) for inner, node in possible_edges(autograd, tensor))
            edges += [(both, node) for both, node in found if both is not None]
        joined = grad if joined is None else joined.join(grad)
    return joined or GRAD_MAYBE


def fresh(
    autograd: Autograd,
    origin: ir.Node,
    made_by: str,
    *,
    own: Grad = GRAD_NO,
    node: GraphNode | None = None,
    shape: Shape = None,
    dtype: str | None = None,
    contiguous: Truth = Truth.YES,
    cut: str = "",
    precise: str = "",
) -> Tensor:
    """A new tensor with memory of its own."""
    machine = autograd.machine
    tensor = Tensor(
        origin=machine.here(origin),
        line=machine.line(),
        born=machine.tick(),
        made_by=made_by,
        own=own,
        shape=shape,
        dtype=dtype,
        contiguous=contiguous,
        grad_fn=((ALWAYS, node),) if node is not None else (),
        cut=cut,
        precise=precise,
    )
    tensor.storage.inference = machine.inference is Truth.YES
    return tensor


def view_of(
    autograd: Autograd,
    source: Tensor,
    origin: ir.Node,
    made_by: str,
    node: GraphNode | None,
    own: Grad,
    shape: Shape,
    kind: str,
) -> Tensor:
    """A differentiable view: shares memory, version counter and base."""
    machine = autograd.machine
    base = source.base or source
    view = Tensor(
        origin=machine.here(origin),
        line=machine.line(),
        born=machine.tick(),
        made_by=made_by,
        own=own,
        shape=shape,
        dtype=source.dtype,
        grad_fn=((ALWAYS, node),) if node is not None else (),
        storage=source.storage,
        counter=source.counter,
        family=source.family,
        base=base,
        view=_view_kind(autograd, source, kind),
        cut=source.cut,
        precise=source.precise,
        device=source.device,
    )
    view.name = source.name
    view.in_open_mode = records(machine) is Truth.MAYBE
    return view


def _view_kind(autograd: Autograd, source: Tensor, kind: str) -> str:
    """Views of views of several views stay what they are (`propagate_creation_meta`)."""
    made = kind if autograd.machine.grad_mode is not Truth.NO else "no_grad"
    return source.view if made == "view" and source.base is not None and source.view else made


def detached_alias(
    autograd: Autograd,
    source: Tensor,
    origin: ir.Node,
    how: str,
    *,
    own_counter: bool = False,
    own: Grad = GRAD_NO,
    temporary: bool = True,
) -> Tensor:
    """
    A tensor cut from the graph that shares memory: `detach()` shares the version counter too, `.data` does not.
    """
    machine = autograd.machine
    origin = machine.here(origin)
    tensor = Tensor(
        origin=origin,
        line=machine.line(),
        born=machine.tick(),
        made_by=how,
        own=own,
        shape=source.shape,
        dtype=source.dtype,
        contiguous=source.contiguous,
        storage=source.storage,
        counter=VersionCounter() if own_counter else source.counter,
        cut=f"`{how}` cuts it from the graph",
        precise=source.precise,
        device=source.device,
    )
    tensor.strides = source.strides
    if source.alias is not None and not source.alias.bound:
        # `out.detach().numpy()`: what nobody has a name for is no party to it.
        how = f"{source.alias.how}.{how.lstrip('.')}"
        source = source.alias.source
    tensor.alias = Alias(how, source, origin, machine.line())
    machine.trail.set(source.storage, "aliases", (*source.storage.aliases[-MOST_SAVES:], tensor))
    return tensor
