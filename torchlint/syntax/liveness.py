"""
Whether what an assignment binds to a name may be read: liveness of one variable, over the IR of one scope.

Purely syntactic: both arms of every branch may be taken, a loop may run any number of times, and every statement of a
`try` may raise. Where a name can be reached without being written (a function inside, `global`, `locals()`, `del`), it
may be read. A. W. Appel, Modern Compiler Implementation, chapter 10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted, identifier

_BY_TEXT = frozenset({"locals", "globals", "vars", "exec", "eval", "dir"})
_GOES_ON = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex", "ignored", "ignoring"})
"""Contexts that go on behind their block where something in it raises."""
_REACHING = (ir.FunctionDef, ir.ClassDef, ir.Lambda)


@dataclass(frozen=True, slots=True)
class _After:
    """Whether the name may be read where a block ends, at `break`, at `continue`, and where something is raised."""

    end: bool = False
    broken: bool = False
    continued: bool = False
    raised: bool = False
    left: bool = False
    """Where the function returns: in the `finally` around."""


def may_be_read(body: list[ir.Statement], assignment: ir.Assign, name: str) -> bool:
    """
    Whether something may read what an assignment binds to a name.

    Parameters
    ----------
    body
        The statements of a function, or of a file.
    assignment
        One of them, or of their blocks.
    name
        A plain name among its targets.
    """
    if _is_reached_otherwise(body, name):
        return True
    liveness = _Liveness(name, assignment)
    liveness.block(body, _After())
    return liveness.found is not False


def reads(node: ir.Node | list[ir.Statement], name: str) -> bool:
    """Whether a name stands in a node, but as the target of a plain assignment."""
    targets = {
        id(target)
        for each in ir.walk(node)
        if isinstance(each, ir.Assign)
        for target in each.targets
        if isinstance(target, ir.Name)
    }
    return any(isinstance(each, ir.Name) and each.id == name and id(each) not in targets for each in ir.walk(node))


def _is_reached_otherwise(body: list[ir.Statement], name: str) -> bool:
    for node in ir.walk(body):
        if isinstance(node, ir.Call) and dotted(node.function) in _BY_TEXT:
            return True
        if isinstance(node, ir.Scope) and name in node.names:
            return True
        if isinstance(node, _REACHING) and any(isinstance(e, ir.Name) and e.id == name for e in ir.walk(node)):
            return True
        if isinstance(node, ir.Delete) and any(isinstance(e, ir.Name) and e.id == name for e in node.targets):
            return True
    return False


class _Liveness:
    """Goes through the statements backwards."""

    def __init__(self, name: str, assignment: ir.Assign) -> None:
        self.name = name
        self.assignment = assignment
        self.found: bool | None = None
        """Whether it may be read after the assignment, once that was met."""

    def block(self, body: list[ir.Statement], after: _After) -> bool:
        """Whether the name may be read, before it is set, from the beginning of a block on."""
        live = after.end
        for statement in reversed(body):
            if statement is self.assignment:
                self.found = self.found or live
            live = self.statement(statement, replace(after, end=live)) or after.raised
        return live

    def statement(self, node: ir.Statement, after: _After) -> bool:
        if isinstance(node, ir.If):
            arms = [self.block(node.body, after), self.block(node.orelse, after)]
            return any(arms) or self.reads(node.test)
        if isinstance(node, (ir.For, ir.While)):
            return self._loop(node, after)
        if isinstance(node, ir.With):
            words = {identifier(each) for item in node.items for each in ir.walk(item.context)}
            raised = after.raised or (after.end and not words.isdisjoint(_GOES_ON))
            live = self.block(node.body, replace(after, raised=raised))
            for item in reversed(node.items):
                live = self.reads(item.context) or (live and not self._sets(item.target))
            return live or any(item.target is not None and self._stores(item.target) for item in node.items)
        if isinstance(node, ir.Try):
            return self._try(node, after)
        if isinstance(node, ir.Match):
            arms = [self.block(case.body, after) for case in node.cases]
            asked = [node.subject, *(case.guard for case in node.cases if case.guard is not None)]
            return any(arms) or any(map(self.reads, asked)) or after.end
        if isinstance(node, ir.Return):
            return (node.value is not None and self.reads(node.value)) or after.left
        if isinstance(node, ir.Raise):
            return (node.value is not None and self.reads(node.value)) or after.raised
        if isinstance(node, ir.Break):
            return after.broken
        if isinstance(node, ir.Continue):
            return after.continued
        if isinstance(node, ir.Assign):
            if (node.value is not None and self.reads(node.value)) or any(self._stores(each) for each in node.targets):
                return True
            return after.end and (node.value is None or not any(self._sets(each) for each in node.targets))
        return self.reads(node) or after.end

    def _loop(self, node: ir.For | ir.While, after: _After) -> bool:
        head = self.block(node.orelse, after)
        test = node.test if isinstance(node, ir.While) else None
        for _ in range(2):
            start = self.block(node.body, _After(head, after.end, head, after.raised, after.left))
            if isinstance(node, ir.For):
                start = (start and not self._sets(node.target)) or self._stores(node.target)
            head = head or start or (test is not None and self.reads(test))
        return head or (isinstance(node, ir.For) and self.reads(node.iterable))

    def _try(self, node: ir.Try, after: _After) -> bool:
        final = self.block(node.final, after)
        # whatever leaves the statement goes through `finally`
        left = self.block(node.final, replace(after, end=after.left)) if node.final else after.left
        raised = self.block(node.final, replace(after, end=after.raised)) if node.final else after.raised
        broken = after.broken or (bool(node.final) and final)
        continued = after.continued or (bool(node.final) and final)
        end = final if node.final else after.end
        inner = _After(end, broken, continued, raised, left)
        handlers = [self.block(each.body, inner) for each in node.handlers]  # each of them, for what it finds
        caught = any(handlers) or raised
        orelse = self.block(node.orelse, inner)
        return self.block(node.body, replace(inner, end=orelse, raised=caught))

    def reads(self, node: ir.Node) -> bool:
        """Whether the name stands in a node."""
        return any(isinstance(each, ir.Name) and each.id == self.name for each in ir.walk(node))

    def _sets(self, target: ir.Expression | None) -> bool:
        if isinstance(target, ir.Sequence):
            return any(self._sets(each) for each in target.elements)
        if isinstance(target, ir.Starred):
            return self._sets(target.value)
        return isinstance(target, ir.Name) and target.id == self.name

    def _stores(self, target: ir.Expression) -> bool:
        """Whether the name is read to find the place that is stored to: `losses[name] = …`."""
        if isinstance(target, ir.Sequence):
            return any(self._stores(each) for each in target.elements)
        return isinstance(target, (ir.Attribute, ir.Subscript)) and self.reads(target)
