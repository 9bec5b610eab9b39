"""
Sees operations that have no deterministic algorithm, where the program has asked torch for those alone.

Which ones these are is `knowledge/nondeterministic`. Only what one run shows: that the mode is set before, and on the
same path.
"""

from __future__ import annotations

from torchlint.knowledge.nondeterministic import FUNCTIONS, INTERPOLATE, LAYERS, MEANS, METHODS, MODES, PUT, is_mean
from torchlint.model.events.data import NondeterministicCalled
from torchlint.model.events.trace import Step
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Constant, Function, Instance, Module, Tensor, Unknown, Value
from torchlint.model.torch.arguments import as_argument
from torchlint.syntax import ir
from torchlint.syntax.features import anywhere

_SETTING = "torch.use_deterministic_algorithms"


class Determinism(Observer):
    """Raises `NondeterministicCalled`."""

    words = ("use_deterministic_algorithms",)
    concerns = (anywhere("use_deterministic_algorithms"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._set: tuple[Step, Guard] | None = None

    def entry_started(self, function: Function | None) -> None:
        self._set = None

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified == _SETTING:
            mode = positional[0] if positional else keywords.get("mode")
            strictly = keywords.get("warn_only", Constant(False)) == Constant(False)
            on = mode == Constant(True) and strictly and not any(each.star for each in origin.arguments)
            step = Step(origin.origin, "torch is told to allow deterministic algorithms only")
            self._set = (step, self.machine.path | self.machine.assumed) if on else None
        elif qualified == "torch.set_deterministic_debug_mode":
            self._set = None
        elif self._set is not None:
            when = FUNCTIONS.get(qualified)
            mode = keywords.get("mode")
            if qualified == INTERPOLATE and isinstance(mode, Constant) and mode.value in MODES:
                when = "differentiated on a GPU"
            size = positional[1] if len(positional) > 1 else keywords.get(MEANS.get(qualified, ""), Unknown())
            if when is not None and not (qualified in MEANS and is_mean(as_argument(size))):
                self._tell(qualified.rpartition(".")[2], when, result, origin)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if self._set is None or not isinstance(receiver, Tensor):
            return
        if name == PUT:
            accumulate = positional[2] if len(positional) > 2 else keywords.get("accumulate", Constant(False))
            if accumulate == Constant(False) and not any(each.star for each in origin.arguments):
                self._tell(name, "always", result, origin)
        elif name in METHODS:
            self._tell(name, METHODS[name], result, origin)

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        if self._set is None or not isinstance(module, Module) or module.kind.name not in LAYERS:
            return
        name = module.kind.name
        if not (name in MEANS and is_mean(module.config.get(MEANS[name]))):
            self._tell(name, LAYERS[name], result, origin)

    def _tell(self, operation: str, when: str, result: Value | None, origin: ir.Node) -> None:
        assert self._set is not None
        step, path = self._set
        if not path <= self.machine.path | self.machine.assumed:
            return
        if when != "always" and "cuda" not in self.machine.program.text:
            return
        recorded = isinstance(result, Tensor) and result.requires_grad.truth() is Truth.YES
        if when.startswith("differentiated") and not recorded:
            return
        self.machine.emit(
            NondeterministicCalled(
                node=origin.origin,
                statement=self.machine.line(),
                trace=(step,),
                operation=operation,
                when=when,
            )
        )
