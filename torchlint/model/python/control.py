"""
The interpreter's control flow: branches (join), loops (a second iteration), `with`, `try`, `match`.

A loop whose length is unknown is taken to run at least once, and its body is followed a second time on a path of its
own; so a fault that needs what an earlier iteration left behind is found "in the second iteration". Conditions with
the same text over the same values are one decision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import libcst as cst

from torchlint.model.python.binding import BindingMachine
from torchlint.model.python.calls import MOST_DEPTH
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.trail import Changes
from torchlint.model.state.values import (
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Frame,
    Function,
    GradModeGuard,
    Instance,
    Module,
    Optimizer,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    fits,
    reachable_tensors,
)
from torchlint.model.state.widening import Snapshot
from torchlint.syntax import conditions, dataflow, ir
from torchlint.syntax.features import written

MOST_UNROLLED = 6
"""Iterations of a loop of known length that are followed one by one."""
MOST_UNROLLED_STEPS = 160
"""And those of a longer one, if all of them together cost no more steps than this."""
MOST_ATTEMPTED = 3
"""Simple statements in a `try` that is there because they may fail."""
MOST_FOLLOWED = 3
"""The first iterations of a longer one that are followed; the second may bring what the third trips over."""

_EXPECT_ERRORS = ("pytest.raises", "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "suppress")
_TRANSPARENT = ("torch.", "builtins.", "contextlib.nullcontext", "contextlib.ExitStack", "tempfile.", "warnings.",
                "time.", "os.", "threading.", "unittest.mock.")  # fmt: skip


_TELLING = ("print", "traceback", "logging", "logger", "log", "warnings")


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


_KEEP_DTYPES = (
    "builtins.", "torch.autograd.", "torch.profiler.", "warnings.", "pytest.", "torch.no_grad", "torch.enable_grad",
    "torch.inference_mode", "torch.set_grad_enabled",
)  # fmt: skip
"""Context managers in which operations compute in the dtypes of their operands."""


class ControlMachine(BindingMachine):
    """A machine that branches and loops."""

    def __init__(self) -> None:
        super().__init__()
        self.loops: list[LoopFrame | None] = []
        self._keep_alive: list[object] = []
        self._parameter_loops: list[tuple[str, cst.For | None, set[int]]] = []
        self._iterations = 0
        self.finals: list[tuple[int, list[ir.Statement]]] = []
        """The `finally` blocks that a `return` runs through, each with the depth of the call it is in."""
        self._repeating = False

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
            stamps.append(value if isinstance(value, (Constant, External)) else id(value))
        return self.branch((text, tuple(stamps))), not negated

    def _dotted(self, name: str) -> Value:
        first, *rest = name.split(".")
        value = self.lookup(first)
        for attr in rest:
            if isinstance(value, (Instance, Unknown, External, Class)):
                value = self.attribute(value, attr, self.statement or ir.Node(cst.Pass()))
            else:
                return value
        return value

    def if_statement(self, node: ir.If) -> None:
        chain: ir.If | None = node
        assert chain is not None
        truth = self.test(node.test)
        if truth is not Truth.MAYBE:
            self.run_block(node.body if truth is Truth.YES else node.orelse)
            return
        number, positive = self.branch_of(node.test)
        taken = self.taken(number)
        if taken is not None:
            self.run_block(node.body if (taken == 1) == positive else node.orelse)
            return

        def then() -> None:
            self._refine(node.test, True)
            self.run_block(node.body)

        def otherwise() -> None:
            self._refine(node.test, False)
            self.run_block(node.orelse)

        self.fork([(frozenset({(number, int(positive))}), then), (frozenset({(number, int(not positive))}), otherwise)])

    def _refine(self, test: ir.Expression, holds: bool) -> None:
        """Inside `if x.grad is not None`, nothing is None: what a condition tells of values."""
        if isinstance(test, ir.Unary) and test.op == "not":
            self._refine(test.operand, not holds)
        elif isinstance(test, ir.Boolean) and (test.op == "and") == holds:
            for operand in test.operands:
                self._refine(operand, holds)
        elif isinstance(test, ir.Compare) and len(test.ops) == 1 and _is_none(test.rights[0]):
            if test.ops[0] in (("is not", "!=") if holds else ("is", "==")):
                self._no_none(test.left)
        elif isinstance(test, (ir.Name, ir.Attribute)) and holds:
            self._no_none(test)

    def _no_none(self, node: ir.Expression) -> None:
        """A variable, or the gradient of one, is not None on this path."""
        if isinstance(node, ir.Name):
            kept = _without_none(self.lookup(node.id))
            if kept is not None:
                self.set_variable(node.id, kept)
            return
        if not isinstance(node, ir.Attribute) or node.attr != "grad":
            return
        owner = self.evaluate_again(node.value)
        options = [option for option in alternatives(owner, self.guard) if isinstance(option[1], Tensor)]
        having = [(guard, each) for guard, each in options if isinstance(each, Tensor) and each.grad != NONE]
        if having and len(having) < len(options) and isinstance(node.value, ir.Name):
            self.set_variable(node.value.id, choose(having))
        for _, each in having or options:
            assert isinstance(each, Tensor)
            kept = Unknown() if each.grad == NONE else _without_none(each.grad)
            if kept is not None:
                self.trail.set(each, "grad", kept)

    def match_statement(self, node: ir.Match) -> None:
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

    def for_statement(self, node: ir.For) -> None:
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
            self._unroll(loop, node, iterable, elements)
        else:
            further = elements[1:MOST_FOLLOWED] if known else [self._another(elements[0])]
            before = Snapshot(self.frame) if self._repeating else None
            begin = self._budget()
            self._iterate(loop, node, elements[0])
            cost = begin - self._budget()
            if known and not self._repeating and cost * len(elements) <= MOST_UNROLLED_STEPS:
                least = begin - MOST_UNROLLED_STEPS
                for element in elements[1:]:
                    if self.dead:
                        break
                    late = Snapshot(self.frame) if self._budget() < least else None  # the others cost more
                    self._iterate(loop, node, element)
                    if late is not None:
                        late.widen(self.trail)
                        break
            else:
                snapshot = before or Snapshot(self.frame)
                if not self._repeating:
                    for element in further:
                        self._again(loop, partial(self._iterate, loop, node, element), certain=known)
                snapshot.widen(self.trail)
        if source:
            self._parameter_loops.pop()
        for left in self.watch.loop_left:
            left(node)
        self._leave(loop, node.orelse)

    def _unroll(self, loop: LoopFrame, node: ir.For, iterable: Value, elements: list[Value]) -> None:
        """
        Follow all iterations. A list is read anew before each, for the body may append to it; one that goes on growing
        is followed no further.
        """
        place = 0
        while place < len(elements) and not self.dead:
            late = Snapshot(self.frame) if place == MOST_UNROLLED else None
            self._iterate(loop, node, elements[place])
            if late is not None:
                late.widen(self.trail)
                break
            place += 1
            if isinstance(iterable, Sequence) and iterable.kind == "list" and iterable.items is not None:
                elements = list(iterable.items)

    def _budget(self) -> int:
        return self.steps_left + self.outside_left

    def _another(self, element: Value) -> Value:
        """The element of the next iteration: as unknown as the first, but another one."""
        if isinstance(element, Unknown):
            return Unknown(
                reachable_tensors(element),
                source=element.source,
                layer=element.layer,
                element_of_parameters=element.element_of_parameters,
                part_of=element.part_of,
            )
        if isinstance(element, Sequence) and element.items is not None and fits(element):
            return Sequence(element.kind, tuple(self._another(each) for each in element.items))
        if isinstance(element, (Module, Instance)):
            return self.prototypes.another(element)
        return element

    def _enter_parameters(self, source: str, node: ir.For, elements: list[Value]) -> None:
        only = node.origin if isinstance(node.origin, cst.For) and self._only_zeroes(node.body) else None
        tensors = {id(tensor) for element in elements for tensor in reachable_tensors(element)}
        self._parameter_loops.append((source, only, tensors))

    def _only_zeroes(self, body: list[ir.Statement]) -> bool:
        while len(body) == 1 and isinstance(body[0], ir.If) and not body[0].orelse:
            body = body[0].body
        return len(body) == 1 and isinstance(body[0], (ir.ExpressionStatement, ir.Assign, ir.AugmentedAssign))

    def activated(self) -> int:
        """The moment at which the running function was called; 0 in the file itself."""
        return self.stack[-1].started if self.stack else 0

    def function_name(self) -> str:
        """The name of the function that runs, or ""."""
        definition = self.stack[-1].definition if self.stack else None
        return definition.name if isinstance(definition, ir.FunctionDef) else ""

    def zeroing(self) -> bool:
        """Whether the running function is one that zeroes gradients, by its name."""
        names = [f.definition.name for f in self.stack if isinstance(f.definition, ir.FunctionDef)]
        return any("zero" in name for name in names)

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

    def while_statement(self, node: ir.While) -> None:
        loop = LoopFrame(self.trail.mark(), self.path)
        self.loops.append(loop)
        for hook in self.watch.loop_started:
            hook(node)
        truth = self._counted(loop, node, self.test(node.test))
        if truth is not Truth.NO and not self.dead:
            before = Snapshot(self.frame) if self._repeating else None
            self._iterate_body(loop, node)
            if isinstance(node.test, ir.Constant) and not self._repeating:
                self._until_left(loop, node)

            def second() -> None:
                self.evaluate(node.test)
                self._iterate_body(loop, node)

            snapshot = before or Snapshot(self.frame)
            if not self._repeating:
                self._again(loop, second, certain=False)
            snapshot.widen(self.trail)
        for left in self.watch.loop_left:
            left(node)
        self._leave(loop, node.orelse)

    def _counted(self, loop: LoopFrame, node: ir.While, truth: Truth) -> Truth:
        """Follow a loop as long as it is known that there is another iteration: one that counts."""
        count = 1
        least = self._budget() - (0 if self._repeating else MOST_UNROLLED_STEPS)
        while (
            truth is Truth.YES
            and not isinstance(node.test, ir.Constant)
            and (count < MOST_UNROLLED or self._budget() > least)
        ):
            self._iterate_body(loop, node)
            if self.dead:
                break
            count += 1
            truth = self.test(node.test)
        return truth

    def _until_left(self, loop: LoopFrame, node: ir.While) -> None:
        """Follow `while True:` as long as it is known at each `break` whether it is taken, to the one that is."""
        if not any(isinstance(each, ir.If) and _breaks(each) for each in node.body):
            return
        least = self._budget() - MOST_UNROLLED_STEPS
        while not self.dead and not loop.breaks and self._budget() > least:
            self._iterate_body(loop, node)

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
        carried = self.carried
        self.carried = self._carried_state(node) if loop.count else list
        for started in self.watch.iteration_started:
            started(node, loop.count)
        self.run_block(node.body)
        self._meet(loop.continues, loop.iteration_mark, before)
        for ended in self.watch.iteration_ended:
            ended(node, loop.count)
        loop.count += 1
        self.carried = carried
        loop.continues = []
        loop.iteration_mark, loop.iteration_path = mark, path
        self.iteration, self.statement = outer, line

    def _carried_state(self, node: ir.For | ir.While) -> Callable[[], list[tuple[str, Tensor]]]:
        """
        The tensors that an iteration takes over from the one before: read in the body before it sets them. Looked for
        only when somebody asks; the variables are those of now.
        """
        variables = dict(self.frame.variables)
        own = variables.get("self")
        attributes = dict(own.attributes) if isinstance(own, Instance) else {}

        def carried() -> list[tuple[str, Tensor]]:
            found: list[tuple[str, Tensor]] = []
            for name in dataflow.read_before_set(node.body):
                value = attributes.get(name[5:]) if name.startswith("self.") else variables.get(name)
                found += [(name, tensor) for tensor in reachable_tensors(value)] if value is not None else []
            return found

        return carried

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
        """
        Follow the body once more. A loop inside a further iteration is not followed twice again: what two of its
        iterations do to each other was seen in the first, and every level of nesting would double the cost.
        """
        if self.dead:
            return
        self._repeating = True
        if certain:
            run()
        else:
            number = self.branch((id(loop), "again"))
            self.fork([(frozenset({(number, 1)}), run), (frozenset({(number, 0)}), lambda: None)])
        self._repeating = False

    def _leave(self, loop: LoopFrame, orelse: list[ir.Statement]) -> None:
        self.loops.pop()
        if orelse and not self.dead:
            self.run_block(orelse)
        path = self.path
        self._meet(loop.breaks, loop.mark, loop.path)
        if not loop.breaks:
            self.path = path if self.dead else loop.path | (path - loop.path)

    def break_statement(self, node: ir.Break) -> None:
        loop = self.loops[-1] if self.loops else None
        if loop is not None:
            loop.breaks.append((self.path - loop.path, self.trail.changes(loop.mark)))
        self.dead = True

    def continue_statement(self, node: ir.Continue) -> None:
        loop = self.loops[-1] if self.loops else None
        if loop is not None:
            loop.continues.append((self.path - loop.iteration_path, self.trail.changes(loop.iteration_mark)))
        self.dead = True

    def with_statement(self, node: ir.With) -> None:
        self._with(node, 0, [], 0)

    def _with(self, node: ir.With, place: int, contexts: list[Value], expected: int) -> None:
        """Enter the contexts of a `with` from one place on, run its body, and leave them again."""
        if place == len(node.items):
            self.expected_errors += expected
            for entered in self.watch.entered:
                entered(node, contexts)
            self.run_block(node.body)
            for left in self.watch.left:
                left(node)
            self.expected_errors -= expected
            return
        item = node.items[place]
        self.descend()
        mode, ambient, very_dtypes, may_cast = self.grad_mode, self.ambient, self.very_dtypes, self.may_cast
        if not self._keeps_dtypes(item.context):
            self.very_dtypes = False
            self.may_cast = True
        restores, plain, inside, left_in = False, False, mode, mode
        self.contexts += 1

        def body() -> None:
            nonlocal inside, left_in
            inside = self.grad_mode
            self._with(node, place + 1, contexts, expected)
            left_in = self.grad_mode

        generator = self._generator_of(item.context)
        if generator is not None and isinstance(item.context, ir.Call):
            contexts.append(Unknown())
            self._inside_generator(generator, item, body)
        else:
            value = self.evaluate(item.context)
            contexts.append(value)
            entered_value = self._enter(item.context, value)
            if item.target is not None:
                self.assign(item.target, entered_value)
            restores = isinstance(value, GradModeGuard)
            plain = self.grad_mode is mode and not isinstance(value, Instance)
            expected += self._expects_error(item.context)
            body()
        self.nested -= 1
        self.contexts -= 1
        self.grad_mode, self.very_dtypes, self.may_cast = mode, very_dtypes, may_cast
        if self.ambient is not ambient and not self.contexts:
            self.trail.set(self, "ambient", ambient)
        if left_in is not inside and left_in is not mode and not restores and not self.dead:
            # set in the body: only torch's own contexts are sure to set it back
            self.set_grad_mode(left_in if plain else Truth.MAYBE)

    def _enter(self, context: ir.Expression, value: Value) -> Value:
        """The grad mode inside a context manager, and what its `__enter__` returns."""
        if isinstance(value, GradModeGuard):
            self.grad_mode = value.mode
        elif isinstance(value, Instance):
            for cls in value.cls.ancestry():
                function = cls.attributes.get("__enter__")
                if isinstance(function, Function):
                    return self._enter_object(value, function, context)
            if value.cls.outside():
                self.grad_mode = Truth.MAYBE
            return value
        elif not self._transparent(context, value):
            self.grad_mode = Truth.MAYBE
        return Unknown(reachable_tensors(value))

    def _enter_object(self, value: Instance, function: Function, context: ir.Expression) -> Value:
        contexts = self.contexts
        self.contexts = 0  # what `__enter__` sets stays set until `__exit__`
        result = self.call_value(Bound(value, "__enter__", function), [], context)
        self.contexts = contexts
        return result

    def _generator_of(self, context: ir.Expression) -> Value | None:
        """The function under `contextlib.contextmanager` that a context is a call of, if it is in sight."""
        if not isinstance(context, ir.Call):
            return None
        function = context.function
        found: Value = Unknown()
        if isinstance(function, ir.Name):
            found = self.found(self.lookup(function.id))
        elif isinstance(function, ir.Attribute):
            owner = self.evaluate_again(function.value)
            if isinstance(owner, (Instance, Class, External)):
                found = self.found(self.attribute(owner, function.attr, function))
        defined = found.function if isinstance(found, Bound) else found
        if not isinstance(defined, Function) or defined.kind != "context":
            return None
        definition = defined.definition
        if not isinstance(definition, ir.FunctionDef) or definition.is_async:
            return None
        words = written(definition).words
        yields = sum(isinstance(each, ir.Yield) for each in ir.walk(definition.body))
        managed = any(isinstance(each, (ir.With, ir.Yield)) for each in definition.body)
        if yields != 1 or not (managed or any("grad" in word or "inference" in word for word in words)):
            return found if yields != 1 else None
        return found

    def _inside_generator(self, found: Value, item: ir.WithItem, body: Callable[[], None]) -> None:
        """
        Run a generator that is a context manager, and the body of the `with` where it yields. One that yields at
        several places is unknown code, in which the grad mode may change.
        """
        assert isinstance(item.context, ir.Call)
        function = found.function if isinstance(found, Bound) else found
        assert isinstance(function, Function)
        definition = function.definition
        assert isinstance(definition, ir.FunctionDef)
        several = sum(isinstance(each, ir.Yield) for each in ir.walk(definition.body)) != 1
        running = any(frame.definition is definition for frame in self.stack)
        if several or running or self.excursion is not None or len(self.stack) >= MOST_DEPTH:
            value = self.evaluate(item.context)
            self.grad_mode = Truth.MAYBE
            if item.target is not None:
                self.assign(item.target, Unknown(reachable_tensors(value)))
            body()
            return
        site = self.site(item.context)
        outer = self.suspended
        done = False

        def resume(value: Value) -> None:
            nonlocal done
            done = True
            inner = self.frame, self.stack, self.loops, self.statement, self.suspended, self.finals, self.contexts
            self.frame, self.stack, self.loops, self.suspended, self.finals, self.contexts = (
                frame, stack, loops, outer, finals, contexts,
            )  # fmt: skip
            try:
                if item.target is not None:
                    self.assign(item.target, value)
                body()
            finally:  # an entry point that costs too much is left from in here
                self.frame, self.stack, self.loops, self.statement, self.suspended, self.finals, self.contexts = inner

        frame, stack, loops, finals, contexts = self.frame, list(self.stack), self.loops, self.finals, self.contexts
        self.loops = []
        self.suspended = resume
        plain = Function(
            definition, function.closure, function.defaults, function.owner, "generator", None, function.name
        )
        receiver = [found.receiver] if isinstance(found, Bound) and function.kind != "static" else []
        self.run_function(plain, [*receiver, *site.positional], site.keywords, site)
        self.suspended = outer
        self.loops = loops
        if not done and not self.dead:
            self.grad_mode = Truth.MAYBE
            body()

    def _keeps_dtypes(self, context: ir.Expression) -> bool:
        """Whether a context manager is certainly no autocast."""
        callee = self.evaluate_again(context.function) if isinstance(context, ir.Call) else None
        if not isinstance(callee, External) or "autocast" in callee.qualified:
            return False
        return callee.qualified.startswith(_KEEP_DTYPES)

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
                not callee.qualified.startswith("contextlib.nullcontext") and callee.qualified.startswith(_TRANSPARENT)
            ) or callee.qualified.startswith("contextlib.nullcontext")
        text = self.text(context.function if isinstance(context, ir.Call) else context).lower()
        return bool(text) and not any(word in text for word in ("grad", "infer", "eval", "context", "ctx"))

    def try_statement(self, node: ir.Try) -> None:
        quiet = int(any(self._catches_runtime_error(handler, node.body) for handler in node.handlers))

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

        call = self.stack[-1] if self.stack else None
        returned = len(call.returns) if call is not None else 0
        self.finals.append((len(self.stack), node.final))
        if node.handlers:
            number = self.branch((id(node), self.clock))
            arms: list[tuple[Guard, Callable[[], None]]] = [(frozenset({(number, 0)}), body)]
            arms += [(frozenset({(number, 1 + i)}), handler(each)) for i, each in enumerate(node.handlers)]
            self.fork(arms)
        else:
            body()
        self.finals.pop()
        dead = self.dead
        if dead and call is not None and len(call.returns) > returned:
            return  # `return` has run it
        self.dead = False
        self.run_block(node.final)
        self.dead = self.dead or dead

    def _catches_runtime_error(self, handler: ir.Handler, body: list[ir.Statement]) -> bool:
        """Whether the author reckons with an error of torch in a `try`."""
        kinds = handler.type.elements if isinstance(handler.type, ir.Sequence) else [handler.type]
        names = {self.text(kind).rpartition(".")[2] if kind is not None else "" for kind in kinds}
        if not names.isdisjoint(("RuntimeError", "AttributeError")):
            return True
        if names.isdisjoint(("", "Exception", "BaseException")) or self._gives_up(handler):
            return False
        # who catches everything around a whole program, and only says so, reckons with no error in particular
        return _is_attempt(body) or not all(map(self._only_tells, handler.body))

    def _gives_up(self, handler: ir.Handler) -> bool:
        """Whether a handler raises again, or ends the program."""
        if not handler.body:
            return False
        last = handler.body[-1]
        called = last.value if isinstance(last, ir.ExpressionStatement) else None
        if isinstance(called, ir.Call):
            return self.text(called.function) in ("sys.exit", "exit", "quit", "os._exit", "pytest.fail", "self.fail")
        return isinstance(last, ir.Raise)

    def _only_tells(self, statement: ir.Statement) -> bool:
        """Whether a statement prints or logs, and nothing else."""
        value = statement.value if isinstance(statement, ir.ExpressionStatement) else None
        if not isinstance(value, ir.Call):
            return False
        return self.text(value.function).partition(".")[0] in (
            "print",
            "traceback",
            "logging",
            "logger",
            "log",
            "warnings",
        )


def _is_attempt(body: list[ir.Statement]) -> bool:
    """A few simple statements."""
    return len(body) <= MOST_ATTEMPTED and not any(ir.blocks(statement) for statement in body)


def _breaks(node: ir.If) -> bool:
    return any(isinstance(each, ir.Break) for each in (*node.body, *node.orelse))


def _is_none(node: ir.Expression) -> bool:
    return isinstance(node, ir.Constant) and node.value is None


def _without_none(value: Value) -> Value | None:
    """What a value is that is not None; None if it is what it was."""
    options = [option for option in alternatives(value) if option[1] != NONE]
    return choose(options) if 0 < len(options) < len(alternatives(value)) else None
