"""
The interpreter's statements: assignments, branches (join), loops (a second iteration), `with`, `try`, definitions.

A dispatch table by node type over the IR that `lower` makes of the libcst tree. A loop whose length is unknown is
taken to run at least once, and its body is followed a second time on a path of its own; so a fault that needs what an earlier
iteration left behind is found "in the second iteration".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import libcst as cst

from torchlint.knowledge import ops
from torchlint.model import conditions, ir
from torchlint.model.domain import (
    NONE,
    Choice,
    Class,
    Constant,
    External,
    Frame,
    Function,
    GradModeGuard,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    reachable_tensors,
)
from torchlint.model.events import GradWrite, ParameterDerived, ResultDropped
from torchlint.model.expressions import canonical, cst_expression, is_module
from torchlint.model.functions import FunctionMachine
from torchlint.model.graph import is_none
from torchlint.model.state import Changes
from torchlint.model.truth import ALWAYS, Guard, Truth

MOST_UNROLLED = 6
"""Iterations of a loop of known length that are followed one by one; longer ones are followed twice."""

_EXPECT_ERRORS = ("pytest.raises", "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "suppress")
_TRANSPARENT = ("torch.", "builtins.", "contextlib.nullcontext", "contextlib.ExitStack", "tempfile.", "warnings.",
                "time.", "os.", "threading.", "unittest.mock.")  # fmt: skip
_TRANSPARENT_DECORATORS = (
    "staticmethod", "classmethod", "property", "abstractmethod", "abc.", "functools.", "typing.", "torch.jit.",
    "torch.compile", "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "pytest.", "unittest.",
    "builtins.", "dataclasses.", "override", "overload", "cached_property",
)  # fmt: skip


class LoopFrame:
    """A running loop: the states in which its body was left by `break` and `continue`."""

    __slots__ = ("breaks", "continues", "count", "iteration_mark", "iteration_path", "mark", "path")

    def __init__(self, mark: int, path: Guard) -> None:
        self.mark = mark
        self.path = path
        self.iteration_mark = mark
        self.iteration_path = path
        self.breaks: list[tuple[Guard, Changes]] = []
        self.continues: list[tuple[Guard, Changes]] = []
        self.count = 0


class Interpreter(FunctionMachine):
    """Runs a program abstractly."""

    def __init__(self) -> None:
        super().__init__()
        self.loops: list[LoopFrame | None] = []
        self.owners = {}
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self._keep_alive: list[object] = []
        self._parameter_loops: list[tuple[str, cst.For | None, set[int]]] = []
        self._iterations = 0

    # -- blocks and statements

    def run_block(self, body: list[ir.Statement]) -> None:
        """Run statements one after the other, until the path ends."""
        for statement in body:
            if self.dead:
                return
            self.spend()
            self.statement = statement
            self._STATEMENTS[type(statement)](self, statement)

    def _expression_statement(self, node: ir.ExpressionStatement) -> None:
        if isinstance(node.value, ir.Call):
            before = self.clock
            value = self.evaluate(node.value)
            self._dropped(node, node.value, value, before)
        else:
            value = self.evaluate(node.value)
        for hook in self.watch.expression_statement:
            hook(node, value)

    def _dropped(self, node: ir.ExpressionStatement, call: ir.Call, value: Value, before: int) -> None:
        """A statement whose value is a tensor that nothing else refers to."""
        function = call.function
        if not isinstance(function, ir.Attribute) or not isinstance(call.origin, cst.Call):
            return
        receiver = self.evaluate_again(function.value)
        if isinstance(receiver, External):
            if receiver.qualified not in ("torch", "torch.nn.functional") or not _pure(
                f"{receiver.qualified}.{function.attr}", function.attr
            ):
                return
            first = call.arguments[0].value if call.arguments else None
            tensor = self.evaluate_again(first) if isinstance(first, ir.Name | ir.Attribute) else None
            if not isinstance(tensor, Tensor):
                return
            op = f"torch.{function.attr}"
        else:
            options = [each for _, each in alternatives(receiver)]
            if not options or not all(isinstance(each, Tensor) for each in options):
                return
            tensor = options[0]
            op = function.attr
            if not (_pure(f"torch.Tensor.{op}", op) or op in _PURE_METHODS):
                return
        assert isinstance(tensor, Tensor)
        if any(node.opaque for _, node in tensor.grad_fn):
            return
        self.emit(
            ResultDropped(
                node=call.origin,
                statement=node.line,
                op=op,
                receiver=self.facts(tensor, self.text(function.value)),
                inplace_twin=f"{function.attr}_" if ops.has_inplace_twin(function.attr) else "",
                call=call.origin,
            )
        )

    def evaluate_again(self, node: ir.Expression) -> Value:
        """The value of a name or attribute chain, without running any call a second time."""
        if isinstance(node, ir.Name):
            return self.lookup(node.id)
        if isinstance(node, ir.Attribute):
            value = self.evaluate_again(node.value)
            if isinstance(value, Tensor) and node.attr in ("data", "T", "mT"):
                return Unknown()
            return self.attribute(value, node.attr, node)
        return Unknown()

    # -- assignment

    def _assign(self, node: ir.Assign) -> None:
        if node.value is None:
            if isinstance(node.targets[0], ir.Name) and node.targets[0].id not in self.frame.variables:
                return
            return
        value = self.evaluate(node.value)
        for target in node.targets:
            self._derived_parameter(node, target, value)
            self._written_grad(target, value, node)
            self.assign(target, value)
            if isinstance(target, ir.Name):
                for hook in self.watch.name_set:
                    hook(target.id, value, node)

    def assign(self, target: ir.Expression, value: Value) -> None:
        """Bind a name, an attribute, an item, or the parts of a tuple."""
        if isinstance(target, ir.Name):
            self._name_value(value, target.id)
            self.set_variable(target.id, value)
        elif isinstance(target, ir.Attribute):
            self._set_attribute(self.evaluate(target.value), target, value)
        elif isinstance(target, ir.Subscript):
            self._set_item(target, value, "[...] =", target.value)
        elif isinstance(target, ir.Sequence):
            self._unpack(target, value)
        elif isinstance(target, ir.Starred):
            self.assign(target.value, value)

    def set_variable(self, name: str, value: Value) -> None:
        """Bind a variable in the frame it belongs to."""
        frame = self.frame
        if name in frame.globals_:
            frame = self.globals
        elif name in frame.nonlocals:
            enclosing = frame.enclosing
            while enclosing is not None and name not in enclosing.variables:
                enclosing = enclosing.enclosing
            frame = enclosing or frame
        self.trail.set(frame.variables, name, value)

    def _name_value(self, value: Value, name: str) -> None:
        """The first name a tensor is bound to is what messages call it."""
        for _, each in alternatives(value):
            if isinstance(each, Tensor):
                if not each.name or each.view:
                    each.name = name
                if each.alias is not None:
                    each.alias.bound = True
                for _, node in each.grad_fn:
                    if not node.result:
                        node.result = name
                        for saved in node.saved:
                            if saved.tensor is each:
                                saved.name = name
            elif isinstance(each, Optimizer) and not each.name:
                each.name = name
            elif isinstance(each, Sequence) and each.kind == "list":
                for item in each.items or ():
                    if isinstance(item, Tensor) and item.alias is not None:
                        item.alias.bound = True

    def _unpack(self, target: ir.Sequence, value: Value) -> None:
        count = len(target.elements)
        starred = any(isinstance(element, ir.Starred) for element in target.elements)
        if isinstance(value, Choice):
            options = [each for _, each in alternatives(value, self.path | self.assumed)]
            if all(isinstance(e, Sequence) and e.items is not None and len(e.items) == count for e in options):
                for index, element in enumerate(target.elements):
                    self.assign(
                        element,
                        choose(
                            [
                                (guard, each.items[index])
                                for guard, each in alternatives(value, self.path | self.assumed)
                                if isinstance(each, Sequence) and each.items is not None
                            ]
                        ),
                    )
                return
            value = Unknown(reachable_tensors(value))
        known, elements = self.elements(value)
        if known and len(elements) == count and not starred:
            for element, each in zip(target.elements, elements, strict=True):
                self.assign(element, each)
            return
        for element in target.elements:
            if known and elements:
                self.assign(element, self._any(elements))
            elif elements and not isinstance(elements[0], Unknown):
                self.assign(element, elements[0])
            else:
                layer = isinstance(value, Unknown) and value.certain_edge
                self.assign(element, Unknown(reachable_tensors(value), certain_edge=layer))

    def _set_attribute(self, value: Value, target: ir.Attribute, new: Value) -> None:
        name = target.attr
        for hook in self.watch.attribute_set:
            hook(value, name, new, target)
        for guard, each in alternatives(value, self.path | self.assumed):
            if isinstance(each, Instance):
                self._name_value(new, f"self.{name}" if self.text(target.value) == "self" else self.text(target))
                old = each.attributes.get(name)
                joined = new if not guard or old is None else choose([(guard, new), (ALWAYS, old)])
                self.trail.set(each.attributes, name, joined)
            elif isinstance(each, Tensor) or (isinstance(each, Unknown) and each.tensor is not None):
                tensor = each if isinstance(each, Tensor) else each.tensor
                assert tensor is not None
                self._set_tensor_attribute(tensor, name, new)
            elif isinstance(each, Unknown):
                self.trail.set(each.attributes, name, new)
            elif isinstance(each, Module) and name in each.parameters:
                self.trail.set(each.parameters, name, new)
            elif isinstance(each, Class):
                self.trail.set(each.attributes, name, new)

    def _set_tensor_attribute(self, tensor: Tensor, name: str, new: Value) -> None:
        if name == "grad":
            self.rebind_grad(tensor, new)
        elif name == "requires_grad":
            truth = Truth.of(new.value if isinstance(new, Constant) and isinstance(new.value, bool) else None)
            for hook in self.watch.required_grad:
                hook(tensor, new, "requires_grad", self.statement)
            self.require_grad(tensor, truth)

    def _set_item(self, target: ir.Subscript, value: Value, op: str, owner: ir.Expression) -> None:
        container = self.evaluate(target.value)
        index = self.index(target.index)
        self.store(container, index, value, target, owner, op)

    def store(
        self, container: Value, index: Any, value: Value, target: ir.Subscript, owner: ir.Expression, op: str
    ) -> None:
        """`container[index] = value`."""
        options = alternatives(container, self.path | self.assumed)
        if len(options) > 1:
            self.fork(
                [(g, partial(self.store, each, index, value, target, owner, op)) for g, each in options],
                assume=True,
            )
            return
        each = options[0][1] if options else Unknown()
        if isinstance(each, Unknown) and each.tensor is not None:
            each = each.tensor
        if isinstance(each, Tensor):
            self.tensor_setitem(each, index, value, target, cst_expression(owner), self.text(owner), op)
        elif isinstance(each, Mapping):
            if each.items is not None and isinstance(index, Constant):
                self.trail.set(each, "items", {**each.items, index.value: value})
            else:
                every = [*(each.items or {}).values(), *([each.element] if each.element is not None else []), value]
                self.trail.set(each, "element", self._any(every))
                self.trail.set(each, "items", None)
        elif isinstance(each, Sequence):
            self._store_in_list(each, index, value)

    def _store_in_list(self, sequence: Sequence, index: Any, value: Value) -> None:
        if (
            sequence.items is not None
            and isinstance(index, Constant)
            and isinstance(index.value, int)
            and -len(sequence.items) <= index.value < len(sequence.items)
        ):
            items = list(sequence.items)
            items[index.value] = value
            self.trail.set(sequence, "items", tuple(items))
        else:
            self._widen(sequence, [value])

    def _augmented(self, node: ir.AugmentedAssign) -> None:
        target = node.target
        if isinstance(target, ir.Subscript):
            self._augmented_item(node, target)
            return
        current = self.evaluate(target)
        value = self.evaluate(node.value)
        self._scaled_grad(node, target, current, value)
        if self.holds_tensor(current) and all(not isinstance(e, Constant | Scalar) for _, e in alternatives(current)):
            spelling = ops.operator_spelling(f"{node.op}=")
            result = self.apply(
                spelling,
                [current, value],
                {},
                node,
                f"{node.op}=",
                target=cst_expression(target),
                name=self.text(target),
            )
            self.assign(target, current if result is not None else Unknown(reachable_tensors(current)))
            return
        if isinstance(current, Sequence) and isinstance(value, Sequence) and node.op == "+" and current.kind == "list":
            known, elements = self.elements(value)
            if known:
                self._extend(current, tuple(elements))
            else:
                self._widen(current, elements)
            return
        self.assign(target, self.operate(node.op, current, value, node))

    def _augmented_item(self, node: ir.AugmentedAssign, target: ir.Subscript) -> None:
        container = self.evaluate(target.value)
        index = self.index(target.index)
        value = self.evaluate(node.value)
        if self.holds_tensor(container):
            for guard, tensor in self.tensor_options(container):
                assumed = self.assumed
                self.assumed = assumed | guard
                # `x[i] += v` reads a view, adds in place, and writes it back: for autograd one write through a view.
                self.tensor_setitem(
                    tensor,
                    index,
                    value,
                    node,
                    cst_expression(target.value),
                    self.text(target.value),
                    f"[...] {node.op}=",
                )
                self.assumed = assumed
            return
        element = self.subscript(container, index, target)
        if self.holds_tensor(element):
            self.apply(
                ops.operator_spelling(f"{node.op}="),
                [element, value],
                {},
                node,
                f"{node.op}=",
                target=cst_expression(target),
            )
            return
        self.store(container, index, self.operate(node.op, element, value, node), target, target.value, "[...] =")

    # -- gradients written by hand, parameters derived

    def _written_grad(self, target: ir.Expression, value: Value, node: ir.Assign) -> None:
        if not (isinstance(target, ir.Attribute) and target.attr == "grad"):
            return
        how: GradWrite
        if value == NONE:
            how = "none"
        elif isinstance(value, Tensor) and value.made_by in ("zeros_like", "zeros"):
            how = "zeros"
        else:
            return
        for _, each in alternatives(self.evaluate(target.value)):
            if isinstance(each, Unknown) and each.element_of_parameters:
                each = self.materialise(each)
                each.name = each.name or self.text(target.value)
            if isinstance(each, Tensor):
                self.grad_written(each, how, node, each)

    def _scaled_grad(self, node: ir.AugmentedAssign, target: ir.Expression, current: Value, value: Value) -> None:
        if node.op != "*" or value not in (Constant(0), Constant(0.0)):
            return
        for _, each in alternatives(current):
            if isinstance(each, Tensor) and each.grad_of is not None:
                self.grad_written(each, "scale", node, each.grad_of)
            elif each == NONE and isinstance(target, ir.Attribute) and target.attr == "grad":
                for _, owner in alternatives(self.evaluate(target.value)):
                    if isinstance(owner, Tensor):
                        self.grad_written(None, "scale", node, owner)

    def _derived_parameter(self, node: ir.Assign, target: ir.Expression, value: Value) -> None:
        if not (isinstance(target, ir.Attribute) and node.value is not None):
            return
        parameter, op = self._parameter_in(node.value)
        if parameter is None or not op:
            return
        for _, each in alternatives(self.evaluate(target.value)):
            if not isinstance(each, Instance) or is_module(each) is Truth.NO:
                continue
            options = [v for _, v in alternatives(value)]
            if any(isinstance(v, Tensor) and v.is_parameter is Truth.YES for v in options) and op not in _MOVES:
                continue
            if not all(isinstance(v, Tensor | Unknown) for v in options):
                continue
            self.emit(
                ParameterDerived(
                    node=cst_expression(node.value),
                    statement=node.line,
                    attribute=target.attr,
                    module=each.cls.name,
                    op=op,
                    parameter_node=parameter,
                    value_node=cst_expression(node.value),
                )
            )

    def _parameter_in(self, node: ir.Expression) -> tuple[cst.Call | None, str]:
        """The `nn.Parameter(...)` at the bottom of a chain of operations, and the operation applied last."""
        op = ""
        while True:
            if isinstance(node, ir.Binary):
                op = op or node.op
                left, _ = self._parameter_in(node.left)
                node = node.left if left is not None else node.right
            elif isinstance(node, ir.Unary):
                op = op or node.op
                node = node.operand
            elif isinstance(node, ir.Call) and isinstance(node.origin, cst.Call):
                callee = self.evaluate_again(node.function)
                if isinstance(callee, External) and callee.qualified in ("torch.nn.Parameter",):
                    return node.origin, op
                if isinstance(node.function, ir.Attribute) and not isinstance(
                    self.evaluate_again(node.function.value), External
                ):
                    if node.function.attr.endswith("_") or node.function.attr in _KEEPS_PARAMETER:
                        node = node.function.value
                        continue
                    if node.function.attr == "to" and self._to_cpu(node):
                        node = node.function.value
                        continue
                    op = op or node.function.attr
                    node = node.function.value
                elif isinstance(callee, External) and callee.qualified.startswith("torch.") and node.arguments:
                    op = op or callee.qualified.rpartition(".")[2]
                    node = node.arguments[0].value
                else:
                    return None, ""
            else:
                return None, ""

    def _to_cpu(self, node: ir.Call) -> bool:
        values = [argument.value for argument in node.arguments]
        return len(values) == 1 and isinstance(values[0], ir.Constant) and values[0].value == "cpu"

    # -- branches

    def branch_of(self, test: ir.Expression) -> tuple[int, bool]:
        """Conditions with the same text over the same values are one branch."""
        keyed = conditions.key(test)
        if keyed is None:
            return self.branch(id(test) + self.clock), True
        text, reads, negated = keyed
        stamps = []
        for name in sorted(reads):
            value = self._dotted(name)
            self._keep_alive.append(value)
            stamps.append(value if isinstance(value, Constant | External) else id(value))
        return self.branch((text, tuple(stamps))), not negated

    def _dotted(self, name: str) -> Value:
        first, *rest = name.split(".")
        value = self.lookup(first)
        for attr in rest:
            if isinstance(value, Instance | Unknown | External) or isinstance(value, Class):
                value = self.attribute(value, attr, self.statement or ir.Node(cst.Pass()))
            else:
                return value
        return value

    def _if(self, node: ir.If) -> None:
        chain: ir.If | None = node
        assert chain is not None
        truth = self.condition(self.evaluate(node.test))
        if truth is not Truth.MAYBE:
            self.run_block(node.body if truth is Truth.YES else node.orelse)
            return
        number, positive = self.branch_of(node.test)
        taken = self.taken(number)
        if taken is not None:
            self.run_block(node.body if (taken == 1) == positive else node.orelse)
            return
        refined = self._refine(node.test)

        def then() -> None:
            for name, value in refined:
                self.set_variable(name, value)
            self.run_block(node.body)

        self.fork(
            [
                (frozenset({(number, int(positive))}), then),
                (frozenset({(number, int(not positive))}), lambda: self.run_block(node.orelse)),
            ]
        )

    def _refine(self, test: ir.Expression) -> list[tuple[str, Value]]:
        """Inside `if x.grad is not None`, nothing is None: what a condition tells of values (kept to what rules need)."""
        return []

    def _match(self, node: ir.Match) -> None:
        subject = self.evaluate(node.subject)
        arms: list[tuple[Guard, Callable[[], None]]] = []
        number = self.branch((id(node), self.clock))

        def arm(case: ir.Case) -> Callable[[], None]:
            def run() -> None:
                for name in case.bound:
                    self.set_variable(name, Unknown(reachable_tensors(subject)))
                if case.guard is not None:
                    self.evaluate(case.guard)
                self.run_block(case.body)

            return run

        for index, case in enumerate(node.cases):
            arms.append((frozenset({(number, index)}), arm(case)))
        if not any(case.wildcard and case.guard is None for case in node.cases):
            arms.append((frozenset({(number, len(node.cases))}), lambda: None))
        self.fork(arms)

    # -- loops

    def _for(self, node: ir.For) -> None:
        iterable = self.evaluate(node.iterable)
        known, elements = self.elements(iterable)
        source = iterable.parameters_of if isinstance(iterable, Sequence) else ""
        loop = LoopFrame(self.trail.mark(), self.path)
        self.loops.append(loop)
        for hook in self.watch.loop_started:
            hook(node)
        if source:
            self._enter_parameters(source, node, elements)
        if known and len(elements) <= MOST_UNROLLED:
            for element in elements:
                self._iterate(loop, node, element)
                if self.dead:
                    break
        else:
            twice = known and len(elements) > 1
            second = elements[1] if twice else self._another(elements[0])
            self._iterate(loop, node, elements[0])
            self._again(loop, lambda: self._iterate(loop, node, second), certain=twice)
        if source:
            self._parameter_loops.pop()
        for left in self.watch.loop_left:
            left(node)
        self._leave(loop, node.orelse)

    def _another(self, element: Value) -> Value:
        """The element of the next iteration: as unknown as the first, but another one."""
        if isinstance(element, Unknown):
            return Unknown(
                element.depends,
                source=element.source,
                layer=element.layer,
                element_of_parameters=element.element_of_parameters,
            )
        if isinstance(element, Sequence) and element.items is not None:
            return Sequence(element.kind, tuple(self._another(each) for each in element.items))
        return element

    def _enter_parameters(self, source: str, node: ir.For, elements: list[Value]) -> None:
        only = node.origin if isinstance(node.origin, cst.For) and self._only_zeroes(node.body) else None
        tensors = {id(tensor) for element in elements for tensor in reachable_tensors(element)}
        self._parameter_loops.append((source, only, tensors))

    def _only_zeroes(self, body: list[ir.Statement]) -> bool:
        while len(body) == 1 and isinstance(body[0], ir.If) and not body[0].orelse:
            body = body[0].body
        return len(body) == 1 and isinstance(body[0], ir.ExpressionStatement | ir.Assign | ir.AugmentedAssign)

    def loop_source(self, owner: Tensor) -> str:
        """In a loop over `m.parameters()`: `m`."""
        if not self._parameter_loops:
            return ""
        source, _, tensors = self._parameter_loops[-1]
        unseen = any(node.opaque for _, node in owner.grad_fn)
        return source if id(owner) in tensors or unseen else ""

    def loop_over(self, owner: Tensor) -> cst.For | None:
        """The loop over parameters whose body is nothing but this write."""
        return self._parameter_loops[-1][1] if self._parameter_loops and self.loop_source(owner) else None

    def optimizer_of(self, owner: Tensor) -> str:
        """The name of an optimizer in sight that holds the tensor."""
        frame: Frame | None = self.frame
        while frame is not None:
            for name, value in frame.variables.items():
                if isinstance(value, Optimizer) and any(owner is tensor for tensor in value.parameters):
                    return name
            frame = frame.enclosing
        return ""

    def _while(self, node: ir.While) -> None:
        loop = LoopFrame(self.trail.mark(), self.path)
        self.loops.append(loop)
        for hook in self.watch.loop_started:
            hook(node)
        truth = self.condition(self.evaluate(node.test))
        if truth is not Truth.NO:
            self._iterate_body(loop, node)

            def second() -> None:
                self.evaluate(node.test)
                self._iterate_body(loop, node)

            self._again(loop, second, certain=False)
        for left in self.watch.loop_left:
            left(node)
        self._leave(loop, node.orelse)

    def _iterate(self, loop: LoopFrame, node: ir.For, element: Value) -> None:
        self.assign(node.target, element)
        self._iterate_body(loop, node)

    def _iterate_body(self, loop: LoopFrame, node: ir.For | ir.While) -> None:
        outer, line = self.iteration, self.statement
        self._iterations += 1
        self.iteration = (*outer, self._iterations)
        mark, path = loop.iteration_mark, loop.iteration_path
        loop.iteration_mark, loop.iteration_path = self.trail.mark(), self.path
        loop.continues = []
        before = self.path
        for started in self.watch.iteration_started:
            started(node, loop.count)
        self.run_block(node.body)
        self._meet(loop.continues, loop.iteration_mark, before)
        for ended in self.watch.iteration_ended:
            ended(node, loop.count)
        loop.count += 1
        loop.continues = []
        loop.iteration_mark, loop.iteration_path = mark, path
        self.iteration, self.statement = outer, line

    def _meet(self, exits: list[tuple[Guard, Changes]], mark: int, path: Guard) -> None:
        """Join the states of `exits` with the present one, if it is alive; all are relative to `mark`."""
        if not exits:
            return
        if not self.dead:
            exits = [*exits, (self.path - path, self.trail.changes(mark))]
        self.trail.undo(mark)
        self.trail.join(exits)
        self.dead = False
        self.path = path if len(exits) > 1 else path | exits[0][0]

    def _again(self, loop: LoopFrame, run: Callable[[], None], *, certain: bool) -> None:
        if self.dead:
            return
        if certain:
            run()
            return
        number = self.branch((id(loop), "again"))
        self.fork([(frozenset({(number, 1)}), run), (frozenset({(number, 0)}), lambda: None)])

    def _leave(self, loop: LoopFrame, orelse: list[ir.Statement]) -> None:
        self.loops.pop()
        if orelse and not self.dead:
            self.run_block(orelse)
        path = self.path
        self._meet(loop.breaks, loop.mark, loop.path)
        if not loop.breaks:
            self.path = path if self.dead else loop.path | (path - loop.path)

    def _break(self, node: ir.Break) -> None:
        loop = self.loops[-1] if self.loops else None
        if loop is not None:
            loop.breaks.append((self.path - loop.path, self.trail.changes(loop.mark)))
        self.dead = True

    def _continue(self, node: ir.Continue) -> None:
        loop = self.loops[-1] if self.loops else None
        if loop is not None:
            loop.continues.append((self.path - loop.iteration_path, self.trail.changes(loop.iteration_mark)))
        self.dead = True

    # -- leaving

    def _return(self, node: ir.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else NONE
        for tensor in reachable_tensors(value):
            self.use(tensor, node)
        if self.stack:
            call = self.stack[-1]
            for hook in self.watch.returned:
                hook(value, node.origin)
            call.returns.append((self.path - call.path, self.trail.changes(call.mark), value))
        self.dead = True

    def _raise(self, node: ir.Raise) -> None:
        if node.value is not None:
            self.evaluate(node.value)
        self.dead = True

    def _assert(self, node: ir.Assert) -> None:
        self.evaluate(node.test)

    def _delete(self, node: ir.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ir.Name):
                self.trail.delete(self.frame.variables, target.id)

    def _pass(self, node: ir.Pass) -> None:
        pass

    # -- with, try

    def _with(self, node: ir.With) -> None:
        mode = self.grad_mode
        expected = 0
        contexts: list[Value] = []
        for item in node.items:
            value = self.evaluate(item.context)
            contexts.append(value)
            expected += self._expects_error(item.context)
            if isinstance(value, GradModeGuard):
                self.grad_mode = value.mode
            elif not self._transparent(item.context, value):
                self.grad_mode = self.grad_mode if self.grad_mode is Truth.NO else Truth.MAYBE
            if item.target is not None:
                self.assign(item.target, value if isinstance(value, Instance) else Unknown(reachable_tensors(value)))
        self.expected_errors += expected
        for entered in self.watch.entered:
            entered(node, contexts)
        self.run_block(node.body)
        for left in self.watch.left:
            left(node)
        self.expected_errors -= expected
        self.grad_mode = mode

    def _expects_error(self, context: ir.Expression) -> int:
        function = context.function if isinstance(context, ir.Call) else context
        return int(self.text(function).rpartition(".")[2] in {name.rpartition(".")[2] for name in _EXPECT_ERRORS})

    def _transparent(self, context: ir.Expression, value: Value) -> bool:
        """Whether a context manager surely leaves the grad mode alone."""
        if isinstance(value, Choice):
            return False
        callee = self.evaluate_again(context.function) if isinstance(context, ir.Call) else value
        if isinstance(callee, External):
            return (
                not callee.qualified.startswith("contextlib.nullcontext")
                and callee.qualified.startswith(_TRANSPARENT)
                or callee.qualified.startswith("contextlib.nullcontext")
            )
        text = self.text(context.function if isinstance(context, ir.Call) else context).lower()
        return bool(text) and not any(word in text for word in ("grad", "infer", "eval", "context", "ctx"))

    def _try(self, node: ir.Try) -> None:
        quiet = int(any(self._catches_runtime_error(handler) for handler in node.handlers))

        def body() -> None:
            self.expected_errors += quiet
            self.run_block(node.body)
            self.expected_errors -= quiet
            if not self.dead:
                self.run_block(node.orelse)

        def handler(each: ir.Handler) -> Callable[[], None]:
            def run() -> None:
                if each.name:
                    self.set_variable(each.name, Unknown())
                self.run_block(each.body)

            return run

        if node.handlers:
            number = self.branch((id(node), self.clock))
            arms: list[tuple[Guard, Callable[[], None]]] = [(frozenset({(number, 0)}), body)]
            arms += [(frozenset({(number, 1 + i)}), handler(each)) for i, each in enumerate(node.handlers)]
            self.fork(arms)
        else:
            body()
        dead = self.dead
        self.dead = False
        self.run_block(node.final)
        self.dead = self.dead or dead

    def _catches_runtime_error(self, handler: ir.Handler) -> bool:
        kinds = handler.type.elements if isinstance(handler.type, ir.Sequence) else [handler.type]
        return any(isinstance(kind, ir.Name) and kind.id in ("RuntimeError", "AttributeError") for kind in kinds)

    # -- definitions

    def _def(self, node: ir.FunctionDef) -> None:
        function = self.define(node, None)
        self.set_variable(node.name, function)

    def define(self, node: ir.FunctionDef, owner: Class | None) -> Function:
        """The value of a `def`."""
        defaults = {p.name: self.evaluate(p.default) for p in node.parameters if p.default is not None}
        kind, mode = "", None
        for decorator in node.decorators:
            each, found = self._decorator(decorator)
            kind = each or kind
            mode = found if found is not None else mode
        function = Function(node, self.closure_of(owner), defaults, owner, kind, mode, node.name)
        if owner is not None:
            self.owners[id(node)] = owner
        if all(known.definition is not node for known in self.functions):
            self.functions.append(function)
        return function

    def closure_of(self, owner: Class | None) -> Frame:
        """The frame a new function closes over: class bodies are not part of it."""
        frame = self.frame
        return frame.enclosing if owner is not None and frame.enclosing is not None else frame

    def _decorator(self, decorator: ir.Expression) -> tuple[str, Truth | None]:
        function = decorator.function if isinstance(decorator, ir.Call) else decorator
        text = self.text(function)
        last = text.rpartition(".")[2]
        if last in ("staticmethod", "classmethod"):
            return last.removesuffix("method"), None
        if last in ("property", "cached_property"):
            return "property", None
        if last == "setter":
            return "opaque", None
        value = self.evaluate(decorator)
        if isinstance(value, GradModeGuard):
            return "", value.mode
        callee = self.evaluate_again(function)
        if isinstance(callee, External):
            if callee.qualified in ("torch.no_grad", "torch.inference_mode"):
                return "", Truth.NO
            if callee.qualified == "torch.enable_grad":
                return "", Truth.YES
            if callee.qualified.startswith(_TRANSPARENT_DECORATORS) or last in _TRANSPARENT_DECORATORS:
                return "", None
        return "opaque", None

    def _class(self, node: ir.ClassDef) -> None:
        bases = tuple(self.evaluate(argument.value) for argument in node.bases if not argument.keyword)
        bases = tuple(base if isinstance(base, Class | External) else External("?.unknown") for base in bases)
        cls = Class(node, node.name, bases, {})
        outer = self.frame
        self.frame = Frame(cls.attributes, outer)
        for statement in node.body:
            self.statement = statement
            if isinstance(statement, ir.FunctionDef):
                self.trail.set(cls.attributes, statement.name, self.define(statement, cls))
            elif not isinstance(statement, ir.ExpressionStatement):
                self.run_block([statement])
        self.frame = outer
        self.statement = node
        self.set_variable(node.name, cls)
        if all(known.definition is not node for known in self.classes):
            self.classes.append(cls)
        for hook in self.watch.class_defined:
            hook(cls)

    def _import(self, node: ir.Import) -> None:
        for name in node.names:
            if name.bound == "*":
                self.star_modules.append(name.qualified)
            else:
                self.set_variable(name.bound, External(canonical(name.qualified)))

    def _scope(self, node: ir.Scope) -> None:
        if node.kind == "global":
            self.frame.globals_ = self.frame.globals_ | frozenset(node.names)
        else:
            self.frame.nonlocals = self.frame.nonlocals | frozenset(node.names)

    _STATEMENTS: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        ir.ExpressionStatement: _expression_statement,
        ir.Assign: _assign,
        ir.AugmentedAssign: _augmented,
        ir.Return: _return,
        ir.Raise: _raise,
        ir.Assert: _assert,
        ir.Delete: _delete,
        ir.Pass: _pass,
        ir.Break: _break,
        ir.Continue: _continue,
        ir.Scope: _scope,
        ir.Import: _import,
        ir.If: _if,
        ir.For: _for,
        ir.While: _while,
        ir.With: _with,
        ir.Try: _try,
        ir.Match: _match,
        ir.FunctionDef: _def,
        ir.ClassDef: _class,
    }


_MOVES = frozenset({"cuda", "to"})
_KEEPS_PARAMETER = frozenset({"requires_grad_"})
_PURE_METHODS = frozenset({"to", "float", "double", "half", "long", "int", "bool", "cuda", "type", "type_as", "numpy"})
_SIDE_EFFECTS = frozenset({"backward", "retain_grad", "register_hook", "item", "tolist", "cpu", "sum"})


def _pure(spelling: str, name: str) -> bool:
    """Whether an operation does nothing but return a tensor."""
    if name.endswith("_") or name in _SIDE_EFFECTS:
        return False
    found = ops.find(spelling)
    return bool(found) and all(op.outputs and not op.returns_self and "self" not in op.writes for op in found)


__all__ = ["Interpreter", "is_none"]
