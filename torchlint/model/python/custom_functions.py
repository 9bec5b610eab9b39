"""
`MyFunction.apply(...)` of a custom `autograd.Function` of the file (torch/csrc/autograd/python_function.cpp).

Where all its parts are known its `forward` runs without a graph, and what it returns gets one node, which saves what
`save_for_backward` was given; an input that it writes and marks as dirty is what it returns. What its `backward`
computes is not followed: only whether it reads what was saved, and which gradients it certainly returns. A Function
that runs code under a graph of its own, or has a part that the file does not define gives something unknown that
depends on its inputs, and, where all that `forward` returns says so, is one tensor with a derivative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.knowledge.names import AUTOGRAD_FUNCTION
from torchlint.knowledge.ops.find import find
from torchlint.model.autograd.edges import new_node
from torchlint.model.autograd.record import edges_into, recorded_grad, save_tensor, value_grad
from torchlint.model.autograd.tensors import fresh, materialise, view_of
from torchlint.model.autograd.writes import escape, mark_dirty
from torchlint.model.python.run import Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import ALWAYS, Guard, Truth
from torchlint.model.state.values import (
    GRAD_NO,
    NONE,
    Choice,
    Class,
    Constant,
    External,
    Function,
    GraphNode,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    choose,
    made_of,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.arguments import cst_of
from torchlint.syntax import ir
from torchlint.syntax.reading import written
from torchlint.syntax.spelling import identifier

APPLIED: Final = "torch.autograd.Function"
"""`Unknown.made_by` of what is one tensor, and a node of the graph if an input is in it."""
_CONTRACT = frozenset({"forward", "backward", "setup_context"})
"""The methods that decide what a Function is given, saves and returns."""
_OF_CONTEXTS = frozenset(
    {"save_for_backward", "saved_tensors", "needs_input_grad", "mark_dirty", "mark_non_differentiable"}
)
_SPELL_CONTEXTS = _OF_CONTEXTS | {"getattr", "__getattribute__"}
_INTEGER = frozenset({"bool", "byte", "char", "int", "long", "short"})
_SAVED = "save_for_backward()"
_DIRTY = "mark_dirty()"
"""The attributes of a context that hold what was saved and which inputs were written; no program can write these."""
_KEPT = {"save_for_backward": _SAVED, "mark_dirty": _DIRTY}
_BESIDE = frozenset({"enable_grad", "set_grad_enabled", "mark_non_differentiable", "set_materialize_grads", "autograd"})
_PASSES: Final = frozenset({"backward", "grad"})
"""What makes a Function more than one node: a graph of its own, a result without a graph."""


def save_for_backward(run: Run, receiver: Value, name: str, site: CallSite) -> bool:
    """`ctx.save_for_backward(...)` and `ctx.mark_dirty(...)`, on a context made here."""
    if name not in _KEPT or not isinstance(receiver, Instance) or _SAVED not in receiver.attributes:
        return False
    values = tuple(site.positional) if site.complete and not site.keywords else None
    run.machine.trail.set(receiver.attributes, _KEPT[name], Sequence("tuple", values))
    return True


def is_function(cls: Class) -> bool:
    """Whether a class of the file is a custom Function."""
    return any(isinstance(base, External) and base.qualified in AUTOGRAD_FUNCTION for base in cls.outside())


def keeps_contract(cls: Class) -> bool:
    """
    Whether torch itself gives the methods of a custom Function their inputs and takes what they return. A class of the
    project that it derives from may put others in their place, with arguments of its own: as it is derived from
    (`__init_subclass__`), as it is made (a metaclass), or as it runs; and an `apply` of the project's may do without.
    """
    if not is_function(cls):
        return False
    own, *above = cls.ancestry()
    if any("__init_subclass__" in each.attributes for each in above):
        return False
    if any("apply" in each.attributes or _has_metaclass(each) or _sets_methods(each) for each in (own, *above)):
        return False
    return not any(_has_another_context(cls, name) for name in ("forward", "backward"))


def _has_another_context(cls: Class, name: str) -> bool:
    """Whether a method's context is not what torch gives it first: `def forward(cls, ctx, x)` is for other methods."""
    found = cls.inherited(name)
    definition = found.definition if isinstance(found, Function) else None
    if not isinstance(definition, ir.FunctionDef) or written(definition).words.isdisjoint(_SPELL_CONTEXTS):
        return False
    others = {each.name for each in definition.parameters[1:]}
    nodes = list(ir.walk(definition.body))
    used = [node for node in nodes if isinstance(node, ir.Attribute) and node.attr in _OF_CONTEXTS]
    if any(_holds_one_of(node.value, others) for node in used):
        return True
    return not used and any(isinstance(node, ir.Call) and _may_use_context(node, others) for node in nodes)


def _may_use_context(call: ir.Call, others: set[str]) -> bool:
    """Whether a call reads of another parameter what a context has, by a name that nobody knows or that says so."""
    given = [each.value for each in call.arguments]
    if identifier(call.function) == "getattr":
        owner, named = (given[0], given[1:2]) if given else (None, [])
    elif identifier(call.function) == "__getattribute__" and isinstance(call.function, ir.Attribute):
        owner, named = (given[0] if len(given) > 1 else call.function.value), given[-1:]
    else:
        return False
    known = [each.value for each in named if isinstance(each, ir.Constant)]
    return owner is not None and _holds_one_of(owner, others) and (not known or known[0] in _OF_CONTEXTS)


def _holds_one_of(value: ir.Expression, names: set[str]) -> bool:
    """Whether one of these names stands in an expression: `same((ctx, name))[0]` may be the context."""
    return any(isinstance(each, ir.Name) and each.id in names for each in ir.walk(value))


def _has_metaclass(cls: Class) -> bool:
    """Whether a metaclass that the model does not know makes a class; what `__init_subclass__` is given is none."""
    return cls.wrapped and any(argument.keyword == "metaclass" for argument in cls.definition.bases)


def _sets_methods(cls: Class) -> bool:
    """Whether a class sets one of the methods on what may be a class (a context is none): `cls.forward = ...`."""
    others = [each for each in cls.definition.body if not (isinstance(each, ir.FunctionDef) and each.name in _CONTRACT)]
    for node in ir.walk(others):
        if isinstance(node, ir.Assign):
            if any(isinstance(each, ir.Attribute) and each.attr in _CONTRACT for each in node.targets):
                return True
        elif isinstance(node, ir.Call) and identifier(node.function) in ("setattr", "__setattr__"):
            named = node.arguments[-2].value if len(node.arguments) > 1 else None
            if not (isinstance(named, ir.Constant) and named.value not in _CONTRACT):
                return True
    return False


def only_of_functions(cls: Class) -> bool:
    """Whether all that a custom Function inherits is known: no base is from elsewhere but torch's own."""
    return not any(each.wrapped for each in cls.ancestry()) and all(
        isinstance(base, External) and (base.qualified in AUTOGRAD_FUNCTION or base.qualified == "object")
        for base in cls.outside()
    )


def apply_function(run: Run, cls: Class, site: CallSite) -> Value:
    """`MyFunction.apply(...)`, or another class's `apply`, of which nothing is known."""
    return _one_node(run, cls, site) or _unknown_result(run, cls, site)


def _unknown_result(run: Run, cls: Class, site: CallSite) -> Unknown:
    """What depends on the inputs, where nobody knows what is saved."""
    escape(run.autograd, [tensor for value in site.values() for tensor in reachable_tensors(value)], site.node)
    result = made_of(site.values(), source=site.node)
    if keeps_contract(cls) and _is_one_tensor(cls):
        result.made_by = APPLIED
        if only_of_functions(cls) and site.complete and not site.keywords and all(map(_needs_none, site.positional)):
            # torch gives what `forward` returns no graph then, whatever it does inside (`_process_backward_mode_ad`)
            cut = f"`{cls.name}` is given nothing that requires grad"
            result.tensor = fresh(run.autograd, site.node, cls.name, own=GRAD_NO, cut=cut)
            result.tensor.contiguous = Truth.MAYBE
    return result


def _needs_none(value: Value) -> bool:
    """Whether an argument is no tensor that requires grad: what is in a list or a dictionary is none of the inputs."""
    if isinstance(value, Tensor):
        return value.requires_grad == GRAD_NO
    return isinstance(value, (Constant, Scalar))


def _one_node(run: Run, cls: Class, site: CallSite) -> Value | None:
    """What the call of a custom Function gives; None if it is not one whose parts are all known."""
    forward, backward = _method(cls, "forward"), _method(cls, "backward")
    if forward is None or backward is None or site.keywords or not site.complete or not _is_plain(cls):
        return None
    context = run.machine.trail.new_object(cls)
    context.attributes[_SAVED] = context.attributes[_DIRTY] = Sequence("tuple", ())
    machine = run.machine
    mode, machine.grad_mode = machine.grad_mode, Truth.NO
    machine.contexts += 1
    result = run.call(forward, [context, *site.positional], site.node)
    machine.contexts -= 1
    machine.grad_mode = mode
    if machine.dead:
        return result
    saved = context.attributes[_SAVED]
    if not isinstance(saved, Sequence) or saved.items is None:
        return None
    dirty = context.attributes[_DIRTY]
    if dirty.items if isinstance(dirty, Sequence) else True:
        return _dirtied(run, cls, backward, site, saved.items, dirty, result)
    outputs = result.items if isinstance(result, Sequence) and result.kind == "tuple" else (result,)
    taken = {id(tensor.storage) for value in site.positional for tensor in reachable_tensors(value)}
    if outputs is None:
        return None
    source = _viewed(outputs[0], site) if len(outputs) == 1 else None
    if source is not None and isinstance(outputs[0], Tensor):
        return _recorded_view(run, cls, backward, site, saved.items, source, outputs[0])
    known = all(
        isinstance(each, Tensor) and id(each.storage) not in taken and each.base is None and not each.grad_fn
        for each in outputs
    )
    if not known:
        return None
    return _recorded(run, cls, backward, site, saved.items, result)


def _viewed(output: Value, site: CallSite) -> Tensor | None:
    """The input that `forward` has returned, as it is or a view of it made there."""
    if not isinstance(output, Tensor):
        return None
    made = output.base if output.view == "no_grad" else None
    for given in site.positional:
        value = given.tensor if isinstance(given, Unknown) else given
        if isinstance(value, Tensor) and (output is value or made is (value.base or value)):
            return value
    return None


def _recorded_view(
    run: Run, cls: Class, backward: Function, site: CallSite, saved: tuple[Value, ...], source: Tensor, output: Tensor
) -> Value:
    """A view of an input, with the node of the call: torch refuses writes into it (`IN_CUSTOM_FUNCTION`)."""
    node = _node(run, cls, backward, site)
    own = node.condition if node is not None else GRAD_NO
    made = view_of(run.autograd, source, site.node, cls.name, node, own, output.shape, "custom")
    made.contiguous, made.strides = output.contiguous, output.strides
    if node is not None:
        _keep(run, node, saved, {id(output): made} if output is not source else {})
    return made


def _dirtied(
    run: Run, cls: Class, backward: Function, site: CallSite, saved: tuple[Value, ...], dirty: Value, result: Value
) -> Value | None:
    """The one input that `forward` has written and returns; None if it is not one alone."""
    marked = dirty.items if isinstance(dirty, Sequence) else None
    if marked is None or len(marked) != 1 or marked[0] is not result or not isinstance(result, Tensor):
        return None
    place = next((place for place, value in enumerate(site.positional) if value is result), None)
    argument = site.argument(place, "") if place is not None else None
    if argument is None:
        return None
    node = _node(run, cls, backward, site)
    if node is not None:
        mark_dirty(run.autograd, result, node, site.node, cst_of(argument.value), cls.name)
        _keep(run, node, saved, {id(result): result})
    return result


def _recorded(
    run: Run, cls: Class, backward: Function, site: CallSite, saved: tuple[Value, ...], result: Value
) -> Value:
    """What `forward` has returned, with the node of the call."""
    outputs = result.items if isinstance(result, Sequence) and result.items is not None else (result,)
    node = _node(run, cls, backward, site)
    results: dict[int, Tensor] = {}
    for output in outputs:
        assert isinstance(output, Tensor)
        results[id(output)] = _output(run, cls, site, output, node, len(outputs) > 1)
    if node is not None:
        _keep(run, node, saved, results)
    if isinstance(result, Sequence):
        return Sequence("tuple", tuple(results[id(each)] for each in outputs))
    return results[id(result)]


def _node(run: Run, cls: Class, backward: Function, site: CallSite) -> GraphNode | None:
    """The node of the call; None if nothing is recorded."""
    autograd = run.autograd
    given = [_without_lists(value) for value in site.positional]
    grad = GRAD_NO
    for value in given:
        grad = grad.either(value_grad(autograd, value))
    grad = recorded_grad(autograd, grad)
    if grad == GRAD_NO:
        return None
    sure = _sure_gradients(backward, len(site.positional))
    edges = [
        (guard if place in sure else guard | unknown_guard(), end)
        for place, value in enumerate(given)
        for guard, end in edges_into(autograd, value)
    ]
    node = new_node(autograd, f"{cls.name}Backward", cls.name, site.node, grad, edges, _reads_saved(backward))
    node.formula = "unknown"
    return node


def _without_lists(value: Value) -> Value:
    """An input as torch looks at it: a tensor in a list or a dictionary is none."""
    if isinstance(value, (Sequence, Mapping)):
        return NONE
    if isinstance(value, Choice):
        return choose([(guard, _without_lists(each)) for guard, each in value.alternatives])
    return value


def _keep(run: Run, node: GraphNode, saved: tuple[Value, ...], results: dict[int, Tensor]) -> None:
    """What a call saves, where its `backward` reads that."""
    if node.holds is Truth.NO:
        return
    guard: Guard = ALWAYS if node.holds is Truth.YES else unknown_guard()
    time = run.machine.tick()
    outputs = set(map(id, results.values()))
    kept = [results.get(id(value), value) for value in saved if isinstance(value, Tensor)]
    node.saved = tuple(
        save_tensor(run.autograd, node, "result" if id(each) in outputs else "", each, time, guard) for each in kept
    )


def _output(run: Run, cls: Class, site: CallSite, output: Tensor, node: GraphNode | None, several: bool) -> Tensor:
    """An output: the tensor that `forward` has made, recorded where it is of floats."""
    autograd = run.autograd
    ending = node if output.dtype not in ("int", "bool") else None
    own = ending.condition if ending is not None else GRAD_NO
    if several and ending is not None:
        ending = new_node(autograd, ending.name, ending.op, ending.origin, own, [(ALWAYS, ending)], Truth.NO)
        ending.output_of = node
    made = fresh(
        autograd,
        site.node,
        cls.name,
        own=own,
        node=ending,
        shape=output.shape,
        dtype=output.dtype,
        contiguous=output.contiguous,
        cut="" if ending is not None else output.cut,
        precise=output.precise,
    )
    made.storage, made.counter, made.strides, made.device = (
        output.storage,
        output.counter,
        output.strides,
        output.device,
    )
    return made


def _method(cls: Class, name: str) -> Function | None:
    """A static method of a class or of one it derives from."""
    found = cls.inherited(name)
    return found if isinstance(found, Function) and found.kind == "static" else None


def _is_plain(cls: Class) -> bool:
    """Whether all of a Function stands in the file, in `forward` and `backward`, and is one node."""
    if not keeps_contract(cls) or not only_of_functions(cls):
        return False
    if any(each.attributes.keys() & {"setup_context", "jvp", "__init_subclass__"} for each in cls.ancestry()):
        return False
    return all(_is_one_node(method) for name in ("forward", "backward") if (method := _method(cls, name)) is not None)


def _is_one_node(method: Function) -> bool:
    """Whether a method only uses its context as one, and builds no graph of its own."""
    definition = method.definition
    if not isinstance(definition, ir.FunctionDef) or not definition.parameters:
        return False
    context = definition.parameters[0].name
    through = whole = 0
    for node in ir.walk(definition.body):
        if isinstance(node, ir.Attribute):
            through += isinstance(node.value, ir.Name) and node.value.id == context
        whole += isinstance(node, ir.Name) and node.id == context
        if identifier(node) in _BESIDE or (isinstance(node, ir.Attribute) and node.attr in _PASSES):
            return False
    return whole == through


def _reads_saved(backward: Function) -> Truth:
    """Whether `backward` reads what was saved, which torch checks then: on every path, or on some."""
    body = backward.definition.body
    assert isinstance(body, list)
    for statement in _in_order(body):
        if isinstance(statement, (ir.If, ir.For, ir.While, ir.Try, ir.Match)):
            break
        if _mentions_saved(statement):
            if any(isinstance(node, _RUN_PERHAPS) and _mentions_saved(node) for node in ir.walk(statement)):
                break
            return Truth.YES
        if isinstance(statement, ir.Return):
            return Truth.NO
    return Truth.MAYBE if any(_mentions_saved(each) for each in body) else Truth.NO


_RUN_PERHAPS = (ir.Conditional, ir.Boolean, ir.Lambda, ir.FunctionDef, ir.ClassDef, ir.Comprehension)
"""What has parts that are evaluated on some paths only, or later."""


def _in_order(body: list[ir.Statement]) -> Iterator[ir.Statement]:
    """The statements of a block; for a `with` those inside, which run where it stands."""
    for statement in body:
        if isinstance(statement, ir.With):
            yield from _in_order(statement.body)
        else:
            yield statement


def _mentions_saved(part: ir.Node) -> bool:
    return any(isinstance(node, ir.Attribute) and node.attr == "saved_tensors" for node in ir.walk(part))


def _sure_gradients(backward: Function, count: int) -> set[int]:
    """The places of the inputs whose gradient is certainly none of `None`: it is computed where it is returned."""
    body = backward.definition.body
    assert isinstance(body, list)
    sure = set(range(count))
    incoming = {parameter.name for parameter in backward.definition.parameters[1:]}  # zeros where there is none
    returns = [node for node in ir.walk(body) if isinstance(node, ir.Return)]
    bound: dict[str, list[ir.Expression | None]] = {}
    for node in ir.walk(body):
        if isinstance(node, ir.Assign):
            for target in node.targets:
                if isinstance(target, ir.Name):
                    bound.setdefault(target.id, []).append(node.value)
    for node in returns:
        values = node.value.elements if isinstance(node.value, ir.Sequence) else [node.value]
        if len(values) < count:
            return set()
        sure = {
            place for place in sure if _is_computed(values[place], bound) or _is_one_of(values[place], incoming, bound)
        }
    return sure if returns else set()


def _is_one_of(value: ir.Expression | None, names: set[str], bound: dict[str, list[ir.Expression | None]]) -> bool:
    """Whether what is returned is what came in."""
    return isinstance(value, ir.Name) and value.id in names and value.id not in bound


def _is_computed(value: ir.Expression | None, bound: dict[str, list[ir.Expression | None]]) -> bool:
    """Whether what is returned is the result of an operation, or a name for one."""
    given = bound.get(value.id, []) if isinstance(value, ir.Name) else [value]
    return bool(given) and all(isinstance(each, (ir.Binary, ir.Unary, ir.Call)) for each in given)


def given_by_function(run: Run, value: Value, other: Value) -> Value:
    """An operand beside another: the tensor that a custom Function gave, where that is computed with."""
    if isinstance(value, Unknown) and value.made_by == APPLIED and isinstance(other, (Constant, Scalar, Tensor)):
        return materialise(run.autograd, value)
    return value


def _is_one_tensor(cls: Class) -> bool:
    """Whether all that `forward` returns is written as one value that has a derivative, and nothing says otherwise."""
    forward = cls.inherited("forward")
    if not isinstance(forward, Function) or not isinstance(forward.definition, ir.FunctionDef):
        return False
    body = forward.definition.body
    for each in cls.ancestry():
        for node in ir.walk(each.definition.body):
            if isinstance(node, ir.Attribute) and node.attr == "mark_non_differentiable":
                return False
    returned = [node.value for node in ir.walk(body) if isinstance(node, ir.Return)]
    return bool(returned) and all(_has_derivative(each, body) for value in returned for each in _bound(value, body))


def _bound(value: ir.Expression | None, body: list[ir.Statement]) -> Iterator[ir.Expression | None]:
    """A value, and where it is a name all that the function assigns to that."""
    yield value
    if isinstance(value, ir.Name):
        for node in ir.walk(body):
            if isinstance(node, ir.Assign) and any(_names(target, value.id) for target in node.targets):
                yield node.value


def _names(target: ir.Expression, name: str) -> bool:
    return isinstance(target, ir.Name) and target.id == name


def _has_derivative(value: ir.Expression | None, body: list[ir.Statement]) -> bool:
    if isinstance(value, ir.Call):
        name = value.function.attr if isinstance(value.function, ir.Attribute) else ""
        known = find(f"torch.Tensor.{name}") if name else ()
        return name not in _INTEGER and (not known or any(op.differentiable or op.may_differentiate for op in known))
    return isinstance(value, (ir.Name, ir.Binary, ir.Unary, ir.Attribute, ir.Subscript))
