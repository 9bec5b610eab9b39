"""
Sees softmaxes that don't say over which dimension, and of how many dimensions their inputs are.

Torch chooses the dimension by their number. A layer is built in one place and called in another, and what unpacks the
shape may stand below: it is told when everything has run. Does not judge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from torchlint.model.events.numerics import DimensionImplied
from torchlint.model.observers.numerics.enclosing import Definition, definitions_of, is_unread
from torchlint.model.observers.numerics.layer_lists import holds_only
from torchlint.model.observers.numerics.ranks import DEPTH, GIVES, KEEPS, KEEPS_MAPS, MAPS, Ranks, flattens
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.guards import Truth
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import NONE, Instance, Module, Sequence, Unknown, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import IMPLIED_DIM, SOFTMAXES, here
from torchlint.syntax.spelling import identifier

_LAYERS = frozenset(name for name in SOFTMAXES if name[0].isupper())
_NAMES = frozenset(f"torch.nn.{name}" if name[0].isupper() else f"torch.nn.functional.{name}" for name in SOFTMAXES)
_KEEPING = KEEPS | {
    "Linear", "ReLU", "ELU", "GELU", "SiLU", "Tanh", "Sigmoid", "LeakyReLU", "LogSigmoid", "Softplus", *_LAYERS,
}  # fmt: skip
"""The layers that do so, by their classes."""
_OF_FEW = frozenset({"mm", "multinomial", "t"})
"""What refuses a tensor of more than two dimensions."""
_FEW: Final = -1
"""In the place of a number of dimensions: no more than two."""
_RECURRENT = frozenset({"GRU", "LSTM", "RNN"})


class ImplicitDims(Computations):
    """Raises `DimensionImplied`."""

    words = ("softm", "Softm")
    concerns = (here(IMPLIED_DIM),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._ranks = Ranks(machine.computations.maker, self.tensor)  # which lead back to no observer: it must go
        self._implied: dict[int, tuple[DimensionImplied, set[int | None]]] = {}
        """By the call that says no dimension: the numbers of dimensions that its inputs have, None if unknown."""
        self._of_maps: set[int] = set()
        """The calls whose input comes from a convolution, a pooling, or the like."""
        self._inputs: list[tuple[int, Value]] = []
        self._among: dict[int, dict[int, bool]] = {}
        """By the `nn.Sequential` with a list of unknown length: its softmaxes, and whether all before them keep."""
        self._chains: list[tuple[Module, tuple[Value, ...]]] = []
        """Each `nn.Sequential` that was built, with its layers: more may be put into it before it is called."""
        self._asked: dict[int, Value] = {}
        """By the expression: whose shape it gives."""
        self._counted: dict[int, Value] = {}
        """By the expression: the number of whose dimensions it gives."""
        self._few: dict[int, Value] = {}
        """The values of which something is taken that refuses more than two dimensions."""
        self._open: set[int] = set()
        """The calls that are given an argument of which no caller in the file says how many dimensions it has."""

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified == "torch.nn.Sequential":
            self._chained(result, positional, origin)
        if qualified not in _NAMES or any(argument.star for argument in origin.arguments):
            return
        function = qualified.startswith("torch.nn.functional.")
        if function and not positional and "input" not in keywords:
            return  # torch raises for want of an input before it looks for a dimension
        if function and self._is_array(positional[0] if positional else keywords["input"]):
            return  # and of an array, which has no `dim` to be asked for
        if isinstance(origin.function, ir.Name) and _is_said_elsewhere(
            self.machine.statement, origin.function.id, origin
        ):
            return
        position = 1 if function else 0
        given = positional[position] if len(positional) > position else keywords.get("dim")
        if (given is not None and constant(given) is not None) or not isinstance(origin.origin, cst.Call):
            return
        event = DimensionImplied(
            node=origin.origin,
            statement=self.machine.line(),
            name=qualified.rpartition(".")[2],
            rank=None,
        )
        known = self._implied.get(id(origin))
        if known is None or known[0].truth is not Truth.YES:
            self._implied[id(origin)] = (event, known[1] if known is not None else set())
        if function:
            self._inputs.append((id(origin), positional[0] if positional else keywords["input"]))

    def _is_array(self, value: Value | None) -> bool:
        """Whether a value is what NumPy made, or `numpy()` of whatever, or a part of what a variable holds of that."""
        for _ in range(DEPTH):
            if not isinstance(value, Unknown):
                return False
            made = value.source
            function = made.function if isinstance(made, ir.Call) else None
            declared = made.annotation if isinstance(made, ir.Parameter) else None
            if declared is not None and identifier(declared) == "ndarray":
                return True
            if value.foreign or (isinstance(function, ir.Attribute) and function.attr == "numpy"):
                return True
            of = made.value if isinstance(made, ir.Subscript) else None
            value = self.machine.frame.variables.get(of.id) if isinstance(of, ir.Name) else None
        return False

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        if not isinstance(module, Module) or not arguments:
            return
        if id(module.origin) in self._implied:
            self._inputs.append((id(module.origin), arguments[0]))
        elif module.kind.container and module.children is None:
            self._passed_on(module, arguments[0])
        elif module.kind.name in _RECURRENT and isinstance(result, Sequence) and result.items:
            for each in _parts(result):
                self._ranks.outputs[id(each)] = each

    def _chained(self, built: Value | None, positional: list[Value], origin: ir.Call) -> None:
        """Of a layer that follows others: what they give, whatever they are given."""
        if isinstance(built, Module) and built.children is not None:
            self._chains.append((built, built.children))
            layers: Iterable[Value] = built.children
            some = None
        else:
            some = _listed(self.machine.program, built, positional, origin, self._implied)
            layers = some or positional
            self._note_ranks(layers)
        for key, rank, _, kept in self._given(layers, kept=some is not None):
            if kept or rank is not None:
                self._among.setdefault(id(origin), {})[key] = kept

    def _note_ranks(self, layers: Iterable[Value]) -> None:
        for key, rank, maps, _ in self._given(layers):
            self._implied[key][1].update([] if rank is None else [rank])
            self._of_maps.update([key] if maps else [])

    def _given(self, layers: Iterable[Value], kept: bool = False) -> Iterator[tuple[int, int | None, bool, bool]]:
        """
        Of each softmax among layers that are called one after the other: the call that built it, how many dimensions
        it is given, whether these are maps, and whether it is as many as the first layer is given.
        """
        rank: int | None = None
        maps = False
        for layer in _leaves(layers):
            name = layer.kind.name if isinstance(layer, Module) else "Identity" if layer is NONE else ""
            if isinstance(layer, Module) and id(layer.origin) in self._implied:
                yield id(layer.origin), rank, maps, kept
            elif name == "Flatten":
                maps = False
                rank = 2 if isinstance(layer, Module) and flattens(layer) else None
            elif name in MAPS:
                rank = MAPS[name]
                maps = True
            elif name not in _KEEPING and name not in KEEPS_MAPS:
                rank = GIVES.get(name)
                maps = False
            kept = kept and rank is None and (name in _KEEPING or name in KEEPS_MAPS)

    def _passed_on(self, chain: Module, argument: Value) -> None:
        """What a softmax among layers that nobody knows is given: as many dimensions as the first of them is."""
        for key, kept in self._among.get(id(chain.origin), {}).items():
            known = isinstance(chain.tail, Module) and id(chain.tail.origin) == key
            if known and self._inputs and self._inputs[-1][0] == key:
                self._inputs.pop()  # what the others give, of which nothing is known
            if kept:
                self._inputs.append((key, argument))

    # -- shapes that are unpacked, or asserted

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if name == "shape":
            self._asked[id(origin)] = owner
        elif name == "ndim":
            self._counted[id(origin)] = owner

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name == "size" and not positional and not keywords:
            self._asked[id(origin)] = receiver
        elif name in ("dim", "ndimension"):
            self._counted[id(origin)] = receiver

    def ran(self, statement: ir.Statement) -> None:
        if isinstance(statement, ir.Assert):
            self._asserted(statement.test)
        if not self._asked or not isinstance(statement, ir.Assign):
            return
        owner = self._asked.get(id(statement.value))
        for target in statement.targets:
            parts = target.elements if isinstance(target, ir.Sequence) else []
            if owner is not None and parts and not any(isinstance(each, ir.Starred) for each in parts):
                self._ranks.unpacked[id(owner)] = (owner, len(parts))

    def _asserted(self, test: ir.Expression) -> None:
        if isinstance(test, ir.Boolean) and test.op == "and":
            for each in test.operands:
                self._asserted(each)
        if not isinstance(test, ir.Compare) or test.ops != ["=="] or not isinstance(test.rights[0], ir.Constant):
            return
        count, asked = test.rights[0].value, test.left
        owner = self._counted.get(id(asked))
        if isinstance(asked, ir.Call) and isinstance(asked.function, ir.Name) and asked.function.id == "len":
            owner = self._asked.get(id(asked.arguments[0].value)) if len(asked.arguments) == 1 else None
        if owner is not None and isinstance(count, int):
            self._ranks.unpacked[id(owner)] = (owner, count)

    # -- how many dimensions

    def concluded(self) -> None:
        for chain, layers in self._chains:
            # nobody knows where something was put into it
            self._note_ranks(chain.children if chain.children is not None else () if chain.tail is None else layers)
        self._chains.clear()
        for key, value in self._inputs:
            rank = _FEW if id(value) in self._few else self._ranks.of(value)
            if rank is None and self._ranks.is_argument(value):
                self._open.add(key)
            else:
                self._implied[key][1].add(rank)
            if self._ranks.is_map(value):
                self._of_maps.add(key)
        self._inputs.clear()
        self._asked.clear()
        self._counted.clear()
        self._ranks.unpacked.clear()
        self._ranks.outputs.clear()
        self._few.clear()

    def computed(self, made: Computation) -> None:
        if made.name not in _OF_FEW or not self._implied:
            return
        for value in made.operands[:2]:
            for _ in range(DEPTH):
                self._few[id(value)] = value
                of = self.maker(value)
                if of is None or not of.operands or of.name not in KEEPS or of.path != made.path:
                    break
                value = of.operands[0]

    def finished(self) -> None:
        program = self.machine.program
        around = definitions_of(program, set(self._implied)) if self._implied else {}
        for key, (event, ranks) in self._implied.items():
            few = _FEW in ranks and ranks <= {_FEW, 1, 2}
            rank = 3 if 3 in ranks else next(iter(ranks)) if len(ranks) == 1 and not few else None
            definitions = around.get(key, [])
            unread = "" if ranks or key in self._open else is_unread(program, definitions, key)
            maps = rank is not None and rank > 3 and key in self._of_maps
            told = replace(event, rank=rank, inside=_inside(definitions), unread=unread, maps=maps, few=few)
            self.machine.emit(told)
        self._implied.clear()
        self._of_maps.clear()
        self._open.clear()
        self._among.clear()


def _parts(value: Value) -> Iterator[Value]:
    """The outputs and the last state of a recurrent layer; that of an LSTM is a pair."""
    if isinstance(value, Sequence):
        for each in value.items or ():
            yield from _parts(each)
    else:
        yield value


def _is_said_elsewhere(statement: ir.Statement | None, name: str, origin: ir.Call) -> bool:
    """
    Whether what a variable stands for, one of several classes perhaps, is called with a dimension in another arm:
    `kind(dim=1) if name == "softmax" else kind()`.
    """
    calls = (each for each in ir.walk(statement or origin) if isinstance(each, ir.Call) and each is not origin)
    return any(
        isinstance(each.function, ir.Name)
        and each.function.id == name
        and any(argument.keyword == "dim" for argument in each.arguments)
        for each in calls
    )


def _listed(
    program: ir.Program, built: Value | None, positional: list[Value], origin: ir.Call, asked: Collection[int]
) -> list[Value] | None:
    """
    The layers of an `nn.Sequential` that is given a list of unknown length: None for those of the list, if all of
    them keep the number of dimensions, and the last one if it is known.
    """
    starred = [number for number, each in enumerate(origin.arguments) if each.star]
    if not isinstance(built, Module) or len(starred) != 1 or len(positional) != len(origin.arguments):
        return None
    where = starred[0]
    given, last = origin.arguments[where], [] if built.tail is None else [built.tail]
    layers = [*positional[:where], NONE, *last, *positional[where + 1 :]]
    if not any(isinstance(each, Module) and id(each.origin) in asked for each in _leaves(layers)):
        return None  # nothing is asked
    return layers if given.star == "*" and holds_only(program, origin, given.value, _KEEPING) else None


def _inside(definitions: list[Definition]) -> str:
    outer = next((number for number, each in enumerate(definitions) if isinstance(each, ir.ClassDef)), 0)
    return ".".join(each.name for each in definitions[: outer + 1])


def _leaves(layers: Iterable[Value], depth: int = DEPTH) -> Iterator[Value]:
    """The layers in their order, and in the place of each `nn.Sequential` whose layers are known these."""
    for each in layers:
        if depth and isinstance(each, Module) and each.kind.container == "sequential" and each.children is not None:
            yield from _leaves(each.children, depth - 1)
        else:
            yield each
