"""
`einops` on abstract tensors: `rearrange`, `reduce`, `repeat`, `einsum`, `pack` and `unpack` as the operations of torch
that they run.

Each is an unflatten, a permutation, a reduction, an expand and a reshape, as far as its pattern asks for them
(`_apply_recipe` in einops/einops.py). A pattern that is not a constant, or has dots over a shape that nobody knows,
leaves the call unknown.
"""

from __future__ import annotations

import re
from itertools import accumulate
from math import prod
from string import ascii_letters
from typing import Final

from torchlint.model.autograd.tensors import materialise
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    Choice,
    Constant,
    External,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
)
from torchlint.model.torch.contractions import contraction
from torchlint.model.torch.layout import gaps_of
from torchlint.model.torch.operations import apply
from torchlint.model.torch.torch import Torch
from torchlint.syntax import ir

NAMES: Final = {
    f"{package}.{name}": name for package in ("einops", "einops.einops") for name in ("rearrange", "reduce", "repeat")
}
PACKING: Final = {f"{package}.{name}": name for package in ("einops", "einops.packing") for name in ("pack", "unpack")}
EINSUMS: Final = frozenset({"einops.einsum", "einops.einops.einsum"})
LAYERS: Final = {
    f"{package}.{name}": (f"einops.{name.lower()}", words)
    for package in ("einops.layers.torch",)
    for name, words in (("Rearrange", ("pattern",)), ("Reduce", ("pattern", "reduction")))
}
"""Layers, each with the function that a call of it is, and what it is built with besides sizes."""
_REDUCTIONS = {"mean": "mean", "sum": "sum", "max": "amax", "min": "amin"}
_TOKEN = re.compile(r"\(([^)]*)\)|(\.\.\.|\w+)")
_DOTS = "..."


def move_axes(torch: Torch, qualified: str, site: CallSite, given: Value | None = None) -> Value | None:
    """What a call gives, `given` in the place of its tensor; None where that is not known."""
    name = NAMES[qualified]
    tensor, pattern = given if given is not None else site.get(0, "tensor"), site.get(1, "pattern")
    if isinstance(tensor, Choice) and all(isinstance(each, Tensor) for _, each in tensor.alternatives):
        moved = [(guard, move_axes(torch, qualified, site, each)) for guard, each in tensor.alternatives]
        known = [(guard, each) for guard, each in moved if each is not None]
        return choose(known) if len(known) == len(moved) else None
    if isinstance(tensor, Unknown):
        tensor = tensor.tensor
    if not isinstance(tensor, Tensor) or not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        return None
    how = site.get(2, "reduction") if name == "reduce" else None
    if name == "reduce" and not (isinstance(how, Constant) and how.value in _REDUCTIONS):
        return None
    sides = pattern.value.split("->")
    if len(sides) != 2 or not site.complete:
        return None
    rank = None if tensor.shape is None else len(tensor.shape)
    left = _groups(sides[0], rank)
    if left is None and name == "rearrange":
        return _moved_somehow(torch, site, tensor, _joins_nothing(*sides))
    if left is None and isinstance(how, Constant):
        some = Sequence("tuple", None, Scalar("int"))
        return _run(torch, site, f"torch.Tensor.{_REDUCTIONS[str(how.value)]}", [tensor, some])
    if left is None or (rank is not None and rank != len(left)):
        return None
    right = _groups(sides[1], None, of_left=left)
    if right is None:
        return None
    sizes = {key: value for key, value in site.keywords.items() if key not in ("tensor", "pattern", "reduction")}
    moving = _Moving(torch, site.node, name, tensor, sizes)
    reduction = str(how.value) if isinstance(how, Constant) else ""
    return moving.joined(right) if moving.split(left) and moving.order(right, reduction) else None


def pack_axes(torch: Torch, qualified: str, site: CallSite) -> Value | None:
    """
    What `pack` and `unpack` give (einops/packing.py): the axes under the star of each tensor as one, and all of them
    joined along it, with the shapes that these axes had; and slices along it in these shapes again. None where it is
    not known how many there are.
    """
    unpacks = PACKING[qualified] == "unpack"
    pattern = site.get(2 if unpacks else 1, "pattern")
    if not site.complete or not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        return None
    axes = pattern.value.split()
    if axes.count("*") != 1:
        return None
    place, shape = Constant(axes.index("*")), Sequence("tuple", None, Scalar("int"))
    if unpacks:
        whole, shapes = _only_tensor(torch, site.get(0, "tensor")), site.get(1, "packed_shapes")
        if whole is None or not isinstance(shapes, Sequence) or shapes.items is None:
            return None
        bounds: list[Value] = [Scalar("int"), Scalar("int")]
        parts = [_run(torch, site, "torch.Tensor.narrow", [whole, place, *bounds]) for _ in shapes.items]
        found = [each and _run(torch, site, "torch.Tensor.view", [each, shape]) for each in parts]
        known = tuple(each for each in found if each is not None)
        return Sequence("list", known) if len(known) == len(found) else None
    given = site.get(0, "tensors")
    held = [_only_tensor(torch, each) for each in given.items or ()] if isinstance(given, Sequence) else []
    flat = [each and _run(torch, site, "torch.Tensor.reshape", [each, shape]) for each in held]
    joined = [each for each in flat if each is not None]
    if not joined or len(joined) != len(flat):
        return None
    packed = _run(torch, site, "torch.cat", [Sequence("list", tuple(joined))], {"dim": place})
    shapes = Sequence("list", tuple(Sequence("tuple", None, Scalar("int")) for _ in joined))
    return None if packed is None else Sequence("tuple", (packed, shapes))


def multiply_axes(torch: Torch, site: CallSite) -> Value | None:
    """What `einsum` gives, whose pattern names its axes and comes last (`_compactify_pattern_for_einsum`)."""
    *given, pattern = site.positional or (None,)
    if not site.complete or not given or not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        return None
    letters: dict[str, str] = {}
    for axis in re.findall(r"\w+", pattern.value):
        letters.setdefault(axis, ascii_letters[len(letters) % len(ascii_letters)])
    if len(letters) > len(ascii_letters) or "(" in pattern.value or site.keywords:
        return None
    equation = Constant(re.sub(r"\w+", lambda found: letters[found[0]], pattern.value).replace(" ", ""))
    held = [_only_tensor(torch, each) or each for each in given if each is not None]
    followed = contraction(torch, "torch.einsum", [equation, *held], {}, site.node, "einsum")
    return followed if followed is not None else _run(torch, site, "torch.einsum", [equation, *held])


def _only_tensor(torch: Torch, value: Value | None) -> Tensor | None:
    if isinstance(value, Unknown):
        return materialise(torch.autograd, value)
    return value if isinstance(value, Tensor) else None


def _run(
    torch: Torch, site: CallSite, spelling: str, given: list[Value], named: dict[str, Value] | None = None
) -> Value | None:
    return apply(torch, spelling, given, named or {}, site.node, spelling.rpartition(".")[2])


def layer_of_axes(qualified: str, site: CallSite) -> Value | None:
    """A layer that moves axes is a call of the function, but for its tensor; it holds no parameters."""
    function, words = LAYERS[qualified]
    if not site.complete or len(site.positional) > len(words):
        return None
    return Partial(External(function), (), {**dict(zip(words, site.positional, strict=False)), **site.keywords})


def _moved_somehow(torch: Torch, site: CallSite, tensor: Tensor, only_view: bool) -> Value | None:
    """Dots over a shape that nobody knows: a view or a copy, whose strides nobody knows."""
    size = Sequence("tuple", None, Scalar("int"))
    spelling = "torch.Tensor.view" if only_view else "torch.Tensor.reshape"
    result = apply(torch, spelling, [tensor, size], {}, site.node, "rearrange")
    for _, each in alternatives(result) if result is not None else ():
        if isinstance(each, Tensor) and each is not tensor:
            each.contiguous, each.strides, each.order = Truth.MAYBE, None, None
    return result


def _joins_nothing(left: str, right: str) -> bool:
    """
    Whether axes are split or exchanged and none are joined: a view, however the tensor lies in memory (einops reshapes,
    permutes and reshapes, where there is something to do).
    """
    if any(match[1] is not None and len(match[1].split()) > 1 for match in _TOKEN.finditer(right)):
        return False
    return "(" in left or left.split() != right.split()


def _groups(side: str, rank: int | None, of_left: list[list[str]] | None = None) -> list[list[str]] | None:
    """The axes of one side, those in brackets together; a one is no axis, and dots are as many as there are left."""
    found = [match[1].split() if match[2] is None else [match[2]] for match in _TOKEN.finditer(side)]
    groups = [[axis for axis in group if axis != "1"] for group in found]
    if not any(_DOTS in group for group in groups):
        return groups
    if of_left is None:
        if rank is None or any(_DOTS in group and len(group) > 1 for group in groups):
            return None
        rest = [f"{_DOTS}{number}" for number in range(rank - len(groups) + 1)]
    else:
        rest = [group[0] for group in of_left if group and group[0].startswith(_DOTS)]
    spread: list[list[str]] = []
    for group in groups:
        if group == [_DOTS]:
            spread += [[axis] for axis in rest]
        else:
            spread.append([each for axis in group for each in (rest if axis == _DOTS else [axis])])
    return spread


class _Moving:
    """A tensor on its way from the left side of a pattern to the right one; `axes` names its dimensions."""

    def __init__(self, torch: Torch, node: ir.Call, display: str, tensor: Tensor, sizes: dict[str, Value]) -> None:
        self.torch, self.node, self.display, self.tensor, self.sizes = torch, node, display, tensor, sizes
        self.axes: list[str] = []

    def _run(self, method: str, *arguments: Value) -> bool:
        result = apply(self.torch, f"torch.Tensor.{method}", [self.tensor, *arguments], {}, self.node, self.display)
        if not isinstance(result, Tensor):
            return False
        self.tensor = result
        return True

    def _size(self, axis: str) -> Value:
        return Constant(int(axis)) if axis.isdigit() else self.sizes.get(axis, Scalar("int"))

    def split(self, groups: list[list[str]]) -> bool:
        """Every axis of the left side a dimension of its own: views, whatever the tensor's strides are."""
        for place, group in reversed(list(enumerate(groups))):
            if not group:
                if not self._run("squeeze", Constant(place)):
                    return False
            elif len(group) > 1:
                unsaid = [axis for axis in group if axis not in self.sizes and not axis.isdigit()]
                parts = [Constant(-1) if [axis] == unsaid else self._size(axis) for axis in group]
                if not self._run("unflatten", Constant(place), Sequence("tuple", tuple(parts))):
                    return False
        self.axes = [axis for group in groups for axis in group]
        return True

    def order(self, groups: list[list[str]], reduction: str) -> bool:
        """The axes as the right side has them: some reduced, the others permuted, new ones expanded."""
        wanted = [axis for group in groups for axis in group]
        kept = [axis for axis in wanted if axis in self.axes]
        gone = [axis for axis in self.axes if axis not in wanted]
        if len(set(wanted)) != len(wanted) or (gone and not reduction):
            return False
        places = [self.axes.index(axis) for axis in (*kept, *gone)]
        if places != sorted(places) and not self._run("permute", _integers(places)):
            return False
        if gone:
            dims = _integers(list(range(len(kept), len(places))))
            if not self._run(_REDUCTIONS[reduction], dims):
                return False
        new = [place for place, axis in enumerate(wanted) if axis not in self.axes]
        for place in new:
            if not self._run("unsqueeze", Constant(place)):
                return False
        if new:
            sizes = tuple(self._size(axis) if place in new else Constant(-1) for place, axis in enumerate(wanted))
            if not self._run("expand", Sequence("tuple", sizes)):
                return False
        self.axes = wanted
        return True

    def joined(self, groups: list[list[str]]) -> Value | None:
        """The axes in brackets as one dimension: a view or a copy, as the strides are."""
        if all(len(group) <= 1 for group in groups):
            new = [place for place, group in enumerate(groups) if not group]
            return self.tensor if all(self._run("unsqueeze", Constant(place)) for place in new) else None
        shape = self.tensor.shape
        known = dict(zip(self.axes, shape, strict=True)) if shape is not None and len(shape) == len(self.axes) else {}
        sizes: list[Value] = []
        for group in groups:
            parts = [known.get(axis) for axis in group]
            whole = [part for part in parts if part is not None]
            sizes.append(Constant(prod(whole)) if len(whole) == len(parts) else Scalar("int"))
        place = Sequence("tuple", tuple(sizes))
        spelling = "torch.Tensor.view" if self._lie_as_one(groups) else "torch.Tensor.reshape"
        return apply(self.torch, spelling, [self.tensor, place], {}, self.node, self.display)

    def _lie_as_one(self, groups: list[list[str]]) -> bool:
        """Whether the axes in each pair of brackets surely lie in memory as one does."""
        gaps = gaps_of(self.tensor)
        ends = list(accumulate(len(group) for group in groups))
        return gaps is not None and all(gap + 1 in ends for gap in gaps if gap < len(self.axes) - 1)


def _integers(numbers: list[int]) -> Sequence:
    return Sequence("tuple", tuple(Constant(number) for number in numbers))
