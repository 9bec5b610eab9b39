"""
Sees communications that are started and that nothing can wait for: what `isend`, `irecv` and collectives with
`async_op=True` return is dropped (https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations).
Read from the text.
"""

from __future__ import annotations

from torchlint.model.events.data import HandleDropped
from torchlint.model.observers.written import Imports
from torchlint.model.state.hooks import Observer
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_PACKAGE = "torch.distributed."
_ALWAYS = frozenset({"isend", "irecv", "batch_isend_irecv", "isend_object_list"})
_SENDING = frozenset({"isend", "reduce", "gather", "barrier", "monitored_barrier"})
"""What need not write the tensor that it is given."""
_WAITING = frozenset({"synchronize", "barrier", "monitored_barrier", "destroy_process_group"})
"""What has a program wait for communications of which it has no handle."""


class DroppedHandles(Observer):
    """Raises `HandleDropped`."""

    words = ("isend", "irecv", "async_op")
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        imports = Imports(program)
        bodies = [
            program.body,
            *(each.body for each in ir.everything(program.body) if isinstance(each, ir.FunctionDef)),
        ]
        for body in bodies:
            for statement in _own(body):
                self._look_at(statement, body, imports)

    def _look_at(self, statement: ir.Statement, body: list[ir.Statement], imports: Imports) -> None:
        call = statement.value if isinstance(statement, (ir.ExpressionStatement, ir.Assign)) else None
        if not isinstance(call, ir.Call):
            return
        function = imports.qualified(call.function)
        if not _is_started(function, call):
            return
        name = ""
        if isinstance(statement, ir.Assign):
            target = statement.targets[0]
            if len(statement.targets) != 1 or not isinstance(target, ir.Name) or _is_read(target, body):
                return
            if target.id.startswith("_"):
                return  # its author says that nobody wants it
            name = target.id
        if any(_last(each) in _WAITING for each in ir.walk(body) if isinstance(each, ir.Call) and each is not call):
            return
        self.machine.emit(
            HandleDropped(
                node=call.origin,
                statement=statement.line,
                function=dotted(call.function),
                name=name,
                received=function.rpartition(".")[2] not in _SENDING,
            )
        )


def _own(body: list[ir.Statement]) -> list[ir.Statement]:
    """The statements of a block, less those of functions and classes in it, and less those that are to raise."""
    found: list[ir.Statement] = []
    pending = body[::-1]
    while pending:
        statement = pending.pop()
        if isinstance(statement, ir.With) and any(_expects(each.context) for each in statement.items):
            continue
        found.append(statement)
        for block in reversed(ir.blocks(statement)):
            pending += reversed(block)
    return found


def _expects(context: ir.Expression) -> bool:
    """Whether a context manager is there for what raises in it: `pytest.raises`, `self.assertRaisesRegex`."""
    return isinstance(context, ir.Call) and _last(context).lower().startswith(("raises", "assertraises", "suppress"))


def _is_started(function: str, call: ir.Call) -> bool:
    if not function.startswith(_PACKAGE):
        return False
    if function.removeprefix(_PACKAGE) in _ALWAYS:
        return True
    said = [each.value for each in call.arguments if each.keyword == "async_op"]
    return len(said) == 1 and isinstance(said[0], ir.Constant) and said[0].value is True


def _is_read(target: ir.Name, body: list[ir.Statement]) -> bool:
    """Whether a variable is mentioned anywhere but where it is bound; one that is declared global is."""
    for each in ir.walk(body):
        if isinstance(each, ir.Name) and each.id == target.id and each is not target:
            return True
        if isinstance(each, ir.Scope) and target.id in each.names:
            return True
    return False


def _last(call: ir.Call) -> str:
    function = call.function
    return function.attr if isinstance(function, ir.Attribute) else dotted(function)
