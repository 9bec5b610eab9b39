"""
Sees exact comparisons of floating-point tensors, and whether both sides were computed in the same way.

A value's recipe is the tree of operations that led to it. Two values of one recipe may be the same computation run
twice (a copied model, a saved one); two of different recipes agree up to round-off at best.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.events import BackwardCallee
from torchlint.model.events.numerics import FloatsCompared
from torchlint.model.state.computations import VIEWS, Computation, Computations
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Choice,
    Constant,
    GraphNode,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    explore,
    parts,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import ALL_EQUAL, here

_ROUNDING = frozenset(
    """
    @ * / + - ** add addmm baddbmm bmm conv1d conv2d conv3d cos cosh cumsum div einsum exp expm1 gelu layer_norm linear
    log log_softmax logsumexp matmul mean mm mul mv norm pow rsqrt sigmoid silu sin sinh softmax softplus sqrt std sub
    sum tan tanh var gradient
    """.split()  # noqa: SIM905
)
_EXACT = frozenset({"@", "*", "+", "-", "add", "bmm", "matmul", "mm", "mul", "mv", "sub", "sum"})
"""Of these, those that give whole numbers of whole numbers, and round none while they are small."""
_WHOLE: Final = frozenset(
    {"arange", "bernoulli", "ceil", "eye", "floor", "full", "ones", "ones_like", "randint", "round", "sign", "tensor",
     "zeros", "zeros_like"}
)  # fmt: skip
"""What makes whole numbers, unless it is given others."""
_IN_ORDER: Final = VIEWS - {"transpose", "t", "T", "permute"}
"""What gives the same numbers in the order in which they are."""


class Comparisons(Computations):
    """Raises `FloatsCompared`."""

    concerns = (here(ALL_EQUAL),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._numbers: dict[tuple[object, ...], int] = {}
        self._rounds: dict[int, bool] = {}
        self._whole: set[int] = set()
        self._chosen_from: dict[int, tuple[int, ...]] = {}
        """Of a recipe whose last operation rounds nothing: the recipes of what it was given."""
        self._recipes: dict[int, int] = {}
        self._held: list[object] = []
        self._gradients: dict[int, int] = {}
        self._waiting: list[Computation] = []
        """What was computed and has no number yet: few programs compare, and until one does nobody asks."""

    def _recipe(self, value: Value | None) -> int:
        """The number of a value's recipe; 0 for what is given."""
        return self._recipes.get(id(value), 0) if value is not None else 0

    def _number(self, name: str, parts: tuple[int, ...]) -> int:
        number = self._numbers.setdefault((name, *parts), len(self._numbers) + 1)
        if name not in _ROUNDING:
            self._chosen_from[number] = parts
        self._rounds[number] = name in _ROUNDING or any(self._rounds.get(part, False) for part in parts)
        return number

    def _chosen(self, number: int, source: int) -> bool:
        """Whether a value is made of values of a source and of others without rounding: `minimum(source, other)`."""
        waiting, seen = [number], {number}
        while waiting:
            for part in self._chosen_from.get(waiting.pop(), ()):
                if part == source:
                    return True
                if part not in seen:
                    seen.add(part)
                    waiting.append(part)
        return False

    def computed(self, made: Computation) -> None:
        self._waiting.append(made)
        if made.name in ("equal", "all"):
            self._number_waiting()
            if isinstance(made.node, cst.Call):
                self._compared(made)
        elif Sequence in map(type, made.operands):
            self._number_waiting()  # what a list holds now it may not hold later

    def _number_waiting(self) -> None:
        """Gives each computation until here its recipe, in the order in which they ran."""
        for made in self._waiting:
            self._note_recipe(made)
        self._waiting.clear()

    def _note_recipe(self, made: Computation) -> None:
        operands = [each for value in made.operands for each in _tensors(value)]
        if made.name in _IN_ORDER and operands:
            number = self._recipe(operands[0])
        else:
            number = self._number(made.name, tuple([self._recipe(each) for each in operands]))
            self._note_whole(made, number, operands)
        options = parts(made.result) if type(made.result) is Choice else ()
        for each in (made.result, *options):
            self._recipes[id(each)] = number
            self._held.append(each)

    def _note_whole(self, made: Computation, number: int, operands: list[Value]) -> None:
        """A matrix of signs times itself is compared with whole numbers: there nothing is rounded."""
        known = made.name in _EXACT and operands and all(self._recipe(each) in self._whole for each in operands)
        if (known or made.name in _WHOLE) and not any(map(_has_fraction, made.operands)):
            self._whole.add(number)
            self._rounds[number] = False

    def backward(
        self,
        callee: BackwardCallee,
        root: Tensor,
        nodes: list[GraphNode],
        leaves: list[Tensor],
        inputs: list[Tensor] | None,
        create_graph: bool | None,
        origin: ir.Node,
    ) -> None:
        self._number_waiting()
        for leaf in leaves:
            self._gradients[id(leaf)] = self._number("gradient", (self._recipe(root),))
            self._held.append(leaf)

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if name == "grad" and id(owner) in self._gradients:
            self._number_waiting()
            for each in (value, *(option for _, option in alternatives(value))):
                self._recipes[id(each)] = self._gradients[id(owner)]
                self._held.append(each)
                if isinstance(each, Unknown) and each.tensor is not None:
                    self._recipes[id(each.tensor)] = self._gradients[id(owner)]

    def _compared(self, made: Computation) -> None:
        if made.name == "equal":
            left, right = made.get(0, "input"), made.get(1, "other")
            nodes = made.written(0, "input"), made.written(1, "other")
        else:
            inner = self.maker(made.get(0, "input"))
            if inner is None or inner.name != "==" or len(made.operands) != 1:
                return
            left, right = inner.operands
            nodes = inner.written(0), inner.written(1)
        call = made.node
        if nodes[0] is None or nodes[1] is None or not isinstance(call, cst.Call):
            return
        if not self._is_float(left) or not self._is_float(right):
            return
        recipes = self._recipe(left), self._recipe(right)
        rounded = all(self._rounds.get(recipe, False) for recipe in recipes)
        self.machine.emit(
            FloatsCompared(
                node=call,
                statement=made.line,
                call=call,
                left=nodes[0],
                right=nodes[1],
                different=rounded
                and recipes[0] != recipes[1]
                and not self._chosen(*recipes)
                and not self._chosen(recipes[1], recipes[0]),
            )
        )

    def _is_float(self, value: Value | None) -> bool:
        tensor = self.tensor(value)
        if tensor is None:
            return False
        if tensor.dtype is not None:
            return tensor.dtype == "float"
        return tensor.grad_of is not None or self._recipe(value) in self._gradients.values()

    def concluded(self) -> None:
        self._numbers, self._rounds, self._recipes, self._gradients = {}, {}, {}, {}
        self._chosen_from, self._whole = {}, set()
        self._held = []
        self._waiting = []


def _tensors(value: Value) -> list[Value]:
    if isinstance(value, Sequence):
        return list(value.items or ())
    return [value] if isinstance(value, (Tensor, Unknown, Choice)) else []


def _has_fraction(value: Value) -> bool:
    if isinstance(value, Sequence):
        return any(map(_is_fraction, explore(value, _items)))
    return _is_fraction(value)


def _is_fraction(value: Value) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, float) and not value.value.is_integer()


def _items(value: Value) -> tuple[Value, ...]:
    return tuple(value.items or ()) if isinstance(value, Sequence) else ()
