"""
Sees communication between processes that is started and never waited for.

The handle that `isend`, `irecv` and `async_op=True` return is what tells that the tensor may be used
(https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations). Read from
the text: a handle that has no name, or one that nobody reads.
"""

from __future__ import annotations

from torchlint.model.events.data import WorkDropped
from torchlint.model.observers.data.written import Imports, scopes, words
from torchlint.model.state.hooks import Observer
from torchlint.syntax import ir

_STARTING = frozenset({"isend", "irecv", "batch_isend_irecv"})
_COLLECTIVE = frozenset(
    [
        "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_reduce", "all_reduce_coalesced",
        "all_to_all", "all_to_all_single", "barrier", "broadcast", "gather", "reduce", "reduce_scatter",
        "reduce_scatter_tensor", "scatter",
    ]
)  # fmt: skip
_WAITING = frozenset({"synchronize", "wait_stream", "wait_event"})


class DroppedWork(Observer):
    """Raises `WorkDropped`."""

    words = ("async_op", "isend", "irecv")
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        imports = Imports(program)
        for scope in scopes(program):
            written = words(scope.whole)
            if written & _WAITING or any("coalescing" in word for word in written):
                continue
            for statement in ir.everything(scope.own):
                self._look_at(statement, scope.whole, imports, in_module=scope.whole is program.body)

    def _look_at(
        self, statement: ir.Statement, scope: list[ir.Statement], imports: Imports, *, in_module: bool
    ) -> None:
        if not isinstance(statement, (ir.ExpressionStatement, ir.Assign)):
            return
        call = statement.value
        if not isinstance(call, ir.Call) or not (started := _started(call, imports)):
            return
        name = ""
        if isinstance(statement, ir.Assign):
            target = statement.targets[0]
            if len(statement.targets) != 1 or not isinstance(target, ir.Name) or _is_read(target, scope):
                return
            if in_module and target.id != "_":
                return  # others may import it
            name = target.id
        self.machine.emit(WorkDropped(node=call.origin, statement=statement.line, function=started, name=name))


def _started(call: ir.Call, imports: Imports) -> str:
    module, _, name = imports.qualified(call.function).rpartition(".")
    if module not in ("torch.distributed", "torch.distributed.distributed_c10d"):
        return ""
    if name in _STARTING:
        return name
    given = next((each.value for each in call.arguments if each.keyword == "async_op"), None)
    at_once = isinstance(given, ir.Constant) and given.value is True
    return name if name in _COLLECTIVE and at_once else ""


def _is_read(target: ir.Name, scope: list[ir.Statement]) -> bool:
    set_here = {
        id(each.targets[0]) for each in ir.everything(scope) if isinstance(each, ir.Assign) and len(each.targets) == 1
    }
    return any(
        (isinstance(each, ir.Name) and each.id == target.id and id(each) not in set_here)
        or (isinstance(each, ir.Scope) and target.id in each.names)
        for each in ir.walk(scope)
    )
