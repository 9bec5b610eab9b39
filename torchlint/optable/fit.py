"""
From many observed runs of one overload to what may be said of all of them.

A statement is certain only if every run agrees with it. What a save depends on is looked for first among the inputs
that require grad (its guard), then among what a caller may know of the arguments: literal values, ranks, layouts. Then
the overload is split, as a decision tree is grown; what still varies within a leaf stays uncertain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torchlint.optable.derivatives import Record
from torchlint.optable.probe import Observation, Slot

# A split has to leave so many calls on either side: a leaf of one call would be certain of everything.
FEWEST_CALLS = 3
DEEPEST = 5
MOST_GUARDS = 3
CHANCE = 0.15

# Features that could only tell samples apart, but for these operations: those that choose a kernel by rank, and with it
# what is saved (aten/src/ATen/native/LinearAlgebra.cpp, Linear.cpp, transformers/attention.cpp), and conversions to one
# dtype.
BY: Mapping[str, frozenset[str]] = {
    "rank": frozenset({"matmul", "__rmatmul__", "linalg_matmul", "linear", "bilinear", "scaled_dot_product_attention"}),
    "dtype": frozenset({"float", "double", "half", "bfloat16", "cfloat", "cdouble", "chalf"}),
}

# Which dimension, how far, how fast: nothing that a save depends on.
POSITIONS = frozenset(
    {"dim", "dim0", "dim1", "start", "end", "length", "offset", "diagonal", "n", "dilation", "stride", "non_blocking"}
)


@dataclass(frozen=True, slots=True)
class Run:
    """
    An observation in the words of the overload's parameters.

    Attributes
    ----------
    call
        Number of the call it is a run of.
    features
        What a caller may know of the arguments: "training": True, "self.rank": 2, "self.contiguous": False,
        "mask.given": True, "dtype.floating": True.
    requires, given
        Parameters that required grad, and that got a tensor.
    saved
        Per parameter and result ("result", "result0", ...) what was seen; of a list "mixed" unless all agree.
    written, same
        As in `Observation`.
    shares, loosely
        Parameters whose memory and version counter an output shares, and whose memory only.
    observation
        The observation itself.
    """

    call: int
    features: Mapping[str, object]
    requires: frozenset[str]
    given: frozenset[str]
    saved: Mapping[str, str]
    written: frozenset[str]
    shares: frozenset[str]
    loosely: frozenset[str]
    same: str
    observation: Observation

    @property
    def recorded(self) -> bool:
        """Whether any output required grad."""
        return any(self.observation.outputs)


def run_of(call: int, features: Mapping[str, object], observation: Observation, names: Mapping[Slot, str]) -> Run:
    """The observation with `names` for its slots."""
    saved: dict[str, str] = {}
    for what, seen in observation.saved.items():
        name = names[what] if isinstance(what, tuple) else "result" if observation.tensor else f"result{what}"
        saved[name] = seen if saved.get(name, seen) == seen else "mixed"
    return Run(
        call=call,
        features=features,
        requires=frozenset(names[slot] for slot in observation.requires),
        given=frozenset(names.values()),
        saved=saved,
        written=frozenset(names[slot] for slot in observation.written),
        shares=frozenset(names[slot] for slot in observation.counted),
        loosely=frozenset(names[slot] for slot in observation.shares - observation.counted),
        same=names[observation.same] if observation.same is not None else "",
        observation=observation,
    )


def grow(record: Record, runs: Sequence[Run], depth: int = DEEPEST) -> list[Record]:
    """
    The record with the facts that the runs show, split by features of the arguments where that makes more certain.

    Parameters
    ----------
    record
        Its name and parameters are kept.
    runs
        At least one.
    depth
        How many more splits on one path.
    """
    leaf = fit(record, runs)
    doubt = _doubt(leaf, runs)
    if not doubt or not depth:
        return [leaf]
    best: tuple[float, str, object] | None = None
    for feature, value in _splits(record.name, runs):
        sides = _divide(runs, feature, value)
        sizes = [len({run.call for run in side}) for side in sides]
        if min(sizes) < FEWEST_CALLS:
            continue
        leaves = [_sober(fit(record, side), side, leaf, runs) for side in sides]
        cost = sum(_doubt(*one) * size for one, size in zip(zip(leaves, sides, strict=True), sizes, strict=True))
        cost /= sum(sizes)
        if cost < doubt - 1e-9 and (best is None or cost < best[0] - 1e-9):
            best = cost, feature, value
    if best is None:
        return [leaf]
    _, feature, value = best
    grown = []
    for holds, side in zip((True, False), _divide(runs, feature, value), strict=True):
        for one in grow(replace(record, when=(*record.when, (feature, holds, value))), side, depth - 1):
            grown.append(one if one.when[-1] != (feature, holds, value) else _sober(one, side, leaf, runs))
    return grown if any(_open(one) < _open(leaf) for one in grown) else [leaf]


def _divide(runs: Iterable[Run], feature: str, value: object) -> tuple[list[Run], list[Run]]:
    sides: tuple[list[Run], list[Run]] = ([], [])
    for run in runs:
        sides[0 if _equal(run.features.get(feature), value) else 1].append(run)
    return sides


def _sober(leaf: Record, runs: Sequence[Run], parent: Record, parents: Sequence[Run]) -> Record:
    """
    The leaf with those facts uncertain again that so few calls may show by chance.

    Of the parent's calls some contradict what the leaf's calls agree on. If the split had nothing to do with it, all
    of those would be outside the leaf with the probability of the hypergeometric distribution.
    """
    if leaf.composite or parent.composite:
        return leaf
    doubtful = {text[:-1] for text in parent.saves if text.endswith("?")}
    saves = {text.rstrip("?").partition("@")[0]: text for text in leaf.saves}
    for what in doubtful:
        text = saves.get(what, "")
        if not text.endswith("?") and _by_chance(text, what, runs, parents):
            saves[what] = f"{what}?"
    aliases = {text.rstrip("?"): text for text in leaf.aliases}
    for name in {text[:-1] for text in parent.aliases if text.endswith("?")}:
        text = aliases.get(name, "")
        given = [run for run in parents if name in run.given]
        against = {run.call for run in given if (name in run.shares) != bool(text)}
        mine = {run.call for run in runs if name in run.given}
        if not text.endswith("?") and _luck({run.call for run in given}, against, mine) > CHANCE:
            aliases[name] = f"{name}?"
    return replace(leaf, saves=tuple(sorted(saves.values())), aliases=tuple(sorted(aliases.values())))


def _by_chance(text: str, what: str, runs: Sequence[Run], parents: Sequence[Run]) -> bool:
    _, _, guard_text = text.partition("@")
    guard = set(guard_text.split(",")) if guard_text else set()
    agrees: dict[int, bool] = {}
    for run in parents:
        if run.recorded and what in run.saved:
            expected = bool(text) and (not guard or not run.requires.isdisjoint(guard))
            agrees[run.call] = agrees.get(run.call, True) and (run.saved[what] == "yes") == expected
    mine = {run.call for run in runs if run.recorded and what in run.saved}
    return _luck(set(agrees), {call for call, agreed in agrees.items() if not agreed}, mine) > CHANCE


def _luck(calls: set[int], against: set[int], leaf: set[int]) -> float:
    """The probability that a leaf of this size, drawn at random from the calls, has none of those against it."""
    if not leaf:
        return 1.0
    return math.comb(len(calls) - len(leaf), len(against)) / math.comb(len(calls), len(against))


def _splits(name: str, runs: Iterable[Run]) -> list[tuple[str, object]]:
    """Candidates: literal values first, since a linter knows them more often than layouts, and layouts than ranks."""
    found: dict[str, tuple[str, object]] = {}
    for run in runs:
        for feature, value in run.features.items():
            aspect = feature.partition(".")[2]
            if feature in POSITIONS or (aspect in BY and name not in BY[aspect]):
                continue
            found[f"{feature}={value!r}"] = (feature, value)
    order = {"": 0, "given": 1, "floating": 2, "dtype": 3, "contiguous": 4, "rank": 5}
    return sorted(found.values(), key=lambda split: (order[split[0].partition(".")[2]], split[0], repr(split[1])))


def _equal(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _open(record: Record) -> float:
    """How many facts a record leaves open."""
    if record.composite:
        return 10.0
    texts = (*record.saves, *record.aliases)
    return sum(text.endswith("?") for text in texts) + len(record.perhaps) + 0.5 * (record.holds == "maybe?")


def _doubt(record: Record, runs: Sequence[Run]) -> float:
    """What a record leaves open, and how far the runs are from agreeing on it: a split may need another to pay."""
    mixed = sum(_impurity(text[:-1], runs) for text in record.saves if text.endswith("?"))
    return _open(record) + (0.0 if record.composite else mixed)


def _impurity(what: str, runs: Sequence[Run]) -> float:
    """
    How far calls are from agreeing on this save, from 0 to 1: 4 m (1 - m), where m is the share of those that
    contradict the statement which the fewest contradict. Concave, so that every split that tells them apart pays.
    """
    calls: dict[int, list[tuple[frozenset[str], bool]]] = {}
    for run in runs:
        if run.recorded and what in run.saved:
            calls.setdefault(run.call, []).append((run.requires, run.saved[what] == "yes"))
    names = sorted({name for seen in calls.values() for requires, _ in seen for name in requires})
    guards: list[tuple[str, ...] | None] = [None, (), *((name,) for name in names), *itertools.combinations(names, 2)]

    def agrees(guard: tuple[str, ...] | None, seen: list[tuple[frozenset[str], bool]]) -> bool:
        return all(
            (guard is not None and (not guard or not requires.isdisjoint(guard))) == yes for requires, yes in seen
        )

    most = max(sum(agrees(guard, seen) for seen in calls.values()) for guard in guards)
    share = most / len(calls) if calls else 1.0
    return 4 * share * (1 - share)


def fit(record: Record, runs: Sequence[Run]) -> Record:
    """The record with the facts that all the runs agree on; opaque where they do not even agree on what comes out."""
    opaque = replace(record, composite=True, probed=False)
    recorded = [run for run in runs if run.recorded]
    parameters = sorted({name for run in runs for name in run.given})
    tensor = {run.observation.tensor for run in runs}
    lengths = {len(run.observation.outputs) for run in runs}
    sequence = record.sequence or (tensor == {False} and len(lengths) > 1)
    if len(tensor) > 1 or (len(lengths) > 1 and not sequence):
        return opaque
    if _unsteady(recorded, sequence):
        return opaque
    inplace = {bool(run.same) and run.same in run.written for run in runs}
    views = {run.observation.view for run in recorded} - {""}
    always = {name for name in parameters if all(name in run.written for run in runs if name in run.given)}
    if len(inplace) > 1 or any(run.written - always for run in runs):
        return opaque
    differentiable, perhaps = _differentiable(parameters, runs)
    saves = [
        text
        for what in sorted({what for run in recorded for what in run.saved})
        if not (True in inplace and what == runs[0].same)
        if (
            text := fit_save(
                what, [(run.requires, run.saved[what]) for run in recorded if what in run.saved], parameters
            )
        )
    ]
    nodes = {run.observation.node if not run.same or True in inplace else "" for run in recorded}
    held = fit_save("", [(run.requires, run.observation.holds) for run in recorded], parameters) if recorded else ""
    return replace(
        record,
        node=nodes.pop() if len(nodes) == 1 else "",
        differentiable=tuple(differentiable),
        perhaps=tuple(perhaps),
        saves=tuple(saves),
        holds=_holds(held, recorded),
        writes=tuple(sorted(always)) + (("out",) if "out" in record.writes else ()),
        returns_self=inplace == {True},
        aliases=() if True in inplace else tuple(_aliases(parameters, runs)),
        view=views.pop() if len(views) == 1 else "",
        outputs=_outputs([run.observation.outputs for run in recorded or runs], sequence),
        sequence=sequence,
        cuts=not recorded and any(run.requires for run in runs),
        composite=False,
        probed=True,
    )


def _holds(held: str, recorded: Sequence[Run]) -> str:
    """ "maybe?" stands for one that no guard explains; the table says "maybe" for both."""
    if not recorded or (not held and all(run.observation.holds == "no" for run in recorded)):
        return "no"
    if all(run.observation.holds == "yes" for run in recorded):
        return "yes"
    return "maybe?" if held == "?" else "maybe"


def _differentiable(parameters: Iterable[str], runs: Sequence[Run]) -> tuple[list[str], list[str]]:
    surely, perhaps = [], []
    for name in parameters:
        alone = [run for run in runs if run.requires == {name}] or [run for run in runs if name in run.requires]
        if alone and all(run.recorded for run in alone):
            surely.append(name)
        elif any(run.recorded for run in alone):
            perhaps.append(name)
    return surely, perhaps


def _aliases(parameters: Iterable[str], runs: Sequence[Run]) -> Iterator[str]:
    for name in parameters:
        given = [run for run in runs if name in run.given]
        if any(name in run.shares | run.loosely for run in given):
            yield name if all(name in run.shares for run in given) else f"{name}?"


def _unsteady(recorded: Sequence[Run], sequence: bool) -> bool:
    """Whether some outputs require grad and others not, and which ones depends on more than their number."""
    if not recorded:
        return False
    if not sequence:
        return any(len(set(column)) > 1 for column in zip(*(run.observation.outputs for run in recorded), strict=True))
    most = max(len(run.observation.requires) for run in recorded)
    full = [run for run in recorded if len(run.observation.requires) == most]
    return any(len(set(run.observation.outputs)) > 1 for run in full)


def _outputs(seen: Sequence[tuple[bool, ...]], sequence: bool) -> str:
    if sequence:
        return "d" if any(itertools.chain.from_iterable(seen)) else "-" if any(seen) else ""
    return "".join("d" if any(column) else "-" for column in zip(*seen, strict=True))


def fit_save(what: str, seen: Sequence[tuple[frozenset[str], str]], parameters: Sequence[str]) -> str:
    """
    A save in the table's notation: `what` with the guard under which all runs saved it, or with `?`; "" if none did.

    Parameters
    ----------
    what
        Parameter or result.
    seen
        Per run the parameters that required grad, and whether it was saved ("yes", "no", "mixed").
    parameters
        What the guard may be made of.
    """
    if all(verdict == "no" for _, verdict in seen):
        return ""
    if any(verdict == "mixed" for _, verdict in seen):
        return f"{what}?"
    for size in range(min(len(parameters), MOST_GUARDS) + 1):
        for guard in itertools.combinations(parameters, size):
            if all((not guard or not requires.isdisjoint(guard)) == (verdict == "yes") for requires, verdict in seen):
                return what + ("@" + ",".join(guard) if guard else "")
    return f"{what}?"
