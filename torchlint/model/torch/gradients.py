"""
Gradients as torch's functions and methods deal in them: `backward()`, `torch.autograd.grad`, `.grad` written by hand.

The pass itself is autograd's (`model/autograd/backward`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.backward import Root, backward, call_backward
from torchlint.model.autograd.record import value_grad
from torchlint.model.autograd.second_order import first_order, second_order
from torchlint.model.autograd.tensors import all_tensor_options, fresh, gradient_of, materialise, possible_options
from torchlint.model.autograd.writes import is_none
from torchlint.model.events import BackwardCalled, BackwardCallee, TensorFacts
from torchlint.model.events.gradients import GradWrite, GradWritten
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.frames import (
    function_name,
    is_held,
    loop_over,
    loop_source,
    next_to,
    object_of,
    optimizer_of,
    owners_of,
    reads_of,
    zeroing,
)
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    NONE,
    Grad,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
)
from torchlint.model.torch.arguments import cst_of, truth_of
from torchlint.model.torch.torch import Torch
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted

Options: TypeAlias = "list[tuple[Guard, Tensor]]"


def have_none(torch: Torch, owners: Iterable[tuple[Guard, Value]]) -> Truth:
    """Whether the tensors that a variable may be have no gradient: YES only if none of them may have one."""
    found = [
        is_none(gradient_of(torch.autograd, each)) if isinstance(each, Tensor) else Truth.MAYBE for _, each in owners
    ]
    return found[0] if len(set(found)) == 1 else Truth.MAYBE


def grad_written(
    torch: Torch, written: Tensor | None, how: GradWrite, origin: ir.Node, owner: Tensor, is_missing: Truth = Truth.NO
) -> None:
    """
    `.grad` of `owner` is written by hand (not in a function that is there to do just that). `written` is what stands
    there; where that is not known to be anything, `is_missing` says whether it is None.
    """
    machine = torch.machine
    if how in ("zero_", "fill", "scale", "zeros"):
        machine.trail.set(owner, "grad_reset", machine.tick())
    if zeroing(machine):
        return
    parameters_of = ""
    for hook in machine.watch.zeroed if how != "assign" else ():
        hook(owner, origin)
    beside = next_to(machine, "grad")
    loop = loop_over(machine, owner)
    named = {name for each in beside for name in owners_of(each, "grad")} - {""}
    read_here = any(reads_of(machine, each, "grad") for each in named)
    held = (written, *(one for _, one in alternatives(owner.grad)))
    known = [each for each in held if isinstance(each, Tensor) and each is not owner]  # of an unknown owner: itself
    filled = torch.autograd.filled
    stepped = not read_here or any(len(each.storage.writes) > before for each, before in filled)
    all_of_them = len(named) > 1 and stepped and all(each.name in named for each, _ in filled)
    machine.emit(
        GradWritten(
            node=origin.origin,
            statement=machine.line(),
            how=how,
            owner=machine.facts(owner),
            grad_is_none=is_missing,
            parameters_of=parameters_of or loop_source(machine, owner),
            optimizer=optimizer_of(machine, owner),
            object=object_of(machine, owner),
            loop=loop,
            row=id(beside[0]) if len(beside) > 1 else 0,
            all_at_once=(loop is not None or all_of_them) and not is_held(machine, known),
            read_here=read_here,
            function=function_name(machine),
            alone=owner not in torch.autograd.filled_beside
            and any(
                isinstance(each, Tensor) and each.made_by == "backward"
                for held in (written, owner.grad)
                if held is not None
                for _, each in alternatives(held)
            ),
        ),
        whatever=True,  # what may be None has no such method
    )


def is_scalar(tensor: Tensor) -> Truth:
    """Whether a tensor has exactly one element."""
    return Truth.of(shapes.is_scalar(tensor.shape))


def backward_method(torch: Torch, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
    """`tensor.backward(...)`."""
    gradient = site.get(0, "gradient") or site.keywords.get("grad_tensors")
    _run_backward(torch, [(tensor, receiver, gradient)], site, "backward", 1, 2, _inputs(torch, site.get(3, "inputs")))
    return NONE


def _inputs(torch: Torch, given: Value | None) -> list[Options] | None:
    """Per input, the tensors it may be."""
    if given is None or is_none(given) is Truth.YES:
        return None
    if isinstance(given, Sequence) and given.items is not None:
        return [all_tensor_options(torch.autograd, each) for each in given.items]
    # An unknown value may be a list of tensors as well: it is not known to be one tensor from here on.
    return [possible_options(torch.autograd, given)]


def backward_on_number(torch: Torch, number: Scalar, site: CallSite, receiver: ir.Expression) -> Value:
    """`loss.item().backward()`: a number has no backward."""
    call_backward(
        torch.autograd,
        BackwardCalled(
            node=site.node.origin,
            statement=torch.machine.line(),
            truth=Truth.YES if number.cut else Truth.MAYBE,
            callee="backward",
            root=TensorFacts(name=dotted(receiver), shape=(), requires_grad=Truth.NO),
            root_node=cst_of(receiver),
            is_scalar=Truth.YES,
            gradient_given=Truth.NO,
            cut=number.cut,
        ),
    )
    return NONE


def _run_backward(
    torch: Torch,
    roots: list[tuple[Value, ir.Expression, Value | None]],
    site: CallSite,
    callee: BackwardCallee,
    retain_at: int,
    create_at: int,
    inputs: list[Options] | None = None,
    allow_unused: Truth = Truth.YES,
) -> Truth:
    create = truth_of(site.get(create_at, "create_graph"), Truth.NO)
    given = site.get(retain_at, "retain_graph")
    if given is None:
        given = site.keywords.get("retain_variables")
    retain = create if given is None or is_none(given) is Truth.YES else truth_of(given)
    if not site.complete:
        retain = Truth.MAYBE
    argument = site.argument(retain_at, "retain_graph") or site.arguments.get("retain_variables")
    literal = argument is not None and isinstance(argument.value, ir.Constant)
    written = argument.origin if argument is not None and literal and retain is Truth.YES else None
    backward(
        torch.autograd,
        [
            Root(
                root,
                cst_of(node),
                dotted(node),
                (~is_none(gradient) if gradient is not None else Truth.NO) if site.complete else Truth.MAYBE,
                gradient if "is_grads_batched" not in site.keywords else None,
            )
            for root, node, gradient in roots
        ],
        site.node,
        callee=callee,
        retain=retain,
        argument=written if isinstance(written, cst.Arg) else None,
        inputs=None if inputs is None else [option for options in inputs for option in options],
        create=create,
        allow_unused=allow_unused,
        accumulates=callee != "autograd.grad",
    )
    return create


def differentiate(torch: Torch, qualified: str, site: CallSite) -> Value:
    """`torch.autograd.grad` and `torch.autograd.backward`."""
    is_backward = qualified.endswith("backward")
    given = site.get(0, "tensors" if is_backward else "outputs")
    written = site.argument(0, "tensors" if is_backward else "outputs")
    if given is None or written is None:
        return Unknown()
    gradients = site.get(1, "grad_tensors") if is_backward else site.get(2, "grad_outputs")
    roots: list[tuple[Value, ir.Expression, Value | None]] = [(_root(torch, given), written.value, gradients)]
    if isinstance(given, Sequence):
        if given.items is None:
            return Unknown()
        nodes: list[ir.Expression] = [written.value] * len(given.items)
        if isinstance(written.value, ir.Sequence) and len(written.value.elements) == len(given.items):
            nodes = written.value.elements
        each: list[Value | None] = [gradients] * len(given.items)
        if isinstance(gradients, Sequence) and gradients.items is not None:
            each = [*gradients.items, *each][: len(given.items)]
        roots = list(zip(given.items, nodes, each, strict=True))
    elif isinstance(gradients, Sequence) and gradients.items:
        roots = [(given, written.value, gradients.items[0])]
    if is_backward:
        _run_backward(torch, roots, site, "autograd.backward", 2, 3, _inputs(torch, site.get(5, "inputs")))
        return NONE
    wanted = site.get(1, "inputs")
    targets = _inputs(torch, wanted) or []
    allow = truth_of(site.get(6, "allow_unused"), truth_of(site.keywords.get("materialize_grads"), Truth.NO))
    if isinstance(wanted, Sequence) and wanted.items is None:
        allow = Truth.MAYBE
    create = _run_backward(torch, roots, site, "autograd.grad", 3, 4, targets, allow)
    passed = value_grad(torch.autograd, gradients) if gradients is not None else None
    return _gradients(torch, wanted, targets, create, passed, site)


def _root(torch: Torch, given: Value) -> Value:
    """The one tensor that is differentiated. An unknown value may be a list as well, and stays unknown."""
    options = possible_options(torch.autograd, given) if isinstance(given, Unknown) else []
    return options[0][1] if options else given


def _gradients(
    torch: Torch, given: Value | None, targets: list[Options], create: Truth, passed: Grad | None, site: CallSite
) -> Value:
    if given is None or (isinstance(given, Sequence) and given.items is None):
        return Sequence("tuple", None, Unknown())
    found: dict[int, Tensor] = {}  # of an input that is given twice both gradients are one tensor
    for options in targets:
        for _, tensor in options:
            if id(tensor) not in found:
                found[id(tensor)] = _gradient(torch, tensor, create, passed, site)
    return Sequence("tuple", tuple(choose((g, found[id(tensor)]) for g, tensor in options) for options in targets))


def _gradient(torch: Torch, tensor: Tensor, create: Truth, passed: Grad | None, site: CallSite) -> Tensor:
    autograd = torch.autograd
    if id(tensor) in autograd.unused and truth_of(site.keywords.get("materialize_grads"), Truth.NO) is Truth.YES:
        own = {Truth.YES: GRAD_YES, Truth.NO: GRAD_NO, Truth.MAYBE: GRAD_MAYBE}[create]
        return fresh(autograd, site.node, "autograd.grad", own=own, shape=tensor.shape, dtype=tensor.dtype)
    if create is Truth.NO:
        return first_order(autograd, tensor, site.node)
    found: Value = Unknown([tensor], source=site.node)
    if create is Truth.YES:
        found = second_order(autograd, tensor, passed or GRAD_NO, site.node)
    if isinstance(found, Unknown):
        found = materialise(autograd, found)
        found.shape, found.dtype = tensor.shape, tensor.dtype
        # else it may be what was passed, what a hook returned, or what unknown code had saved
        made = (
            passed is None
            and not tensor.hooked
            and all(n.gradient or not n.opaque for n, _ in autograd.visited.values())
        )
        for _, node in found.grad_fn:
            node.gradient = made
    assert isinstance(found, Tensor)
    return found
