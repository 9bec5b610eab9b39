"""
From an error, or from what was seen at the end of a run, to the operations behind it.

Reads what `calls` and `passes` have kept, and the graph as it was when a backward failed. Runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from torchlint.sanitizer.calls import Calls, Operand, Recorded, Write, described, recorded_by, storage_of
from torchlint.sanitizer.growth import Growing
from torchlint.sanitizer.optimizers import Stepped
from torchlint.sanitizer.page import Section, Step
from torchlint.sanitizer.passes import Broken, Failure, saved_by
from torchlint.sanitizer.places import Place
from torchlint.verify.nodes import node_of

SHOWN = 6
"""At most so many writes, or names, are told of one thing."""


def of_error(error: BaseException, calls: Calls, failures: Sequence[Failure]) -> Section | None:
    """
    The story of an exception.

    Returns
    -------
    Section | None
        None if neither a recorded call nor a backward raised it.
    """
    with torch._C.DisableTorchFunction():
        failure = next((each for each in failures if each.error is error), None)
        if failure is not None:
            return _of_backward(failure, calls)
        if calls.failure is error and calls.failed is not None:
            return _of_call(str(error), calls)
    return None


def _of_backward(failure: Failure, calls: Calls) -> Section:
    words = str(failure.error)
    if "modified by an inplace operation" in words:
        return _overwritten(failure, calls, words)
    if "a second time" in words:
        return _freed(failure)
    if "does not require grad" in words:
        return _cut(failure.roots, failure.where.place, calls, words)
    steps = []
    if "appears to not have been used in the graph" in words:
        steps += _unused(failure)
    reader = failure.reader
    named = re.search(r"[Ff]unction (\w+)", words)
    nodes = [node for node in failure.nodes if named and node.name() == named[1]] or ([reader] if reader else [])
    for node in nodes[:1]:
        made = recorded_by(node)
        if made is not None:
            steps.append(_step(made.place, f"`{made.op}` recorded `{node.name()}` here, whose backward fails"))
    culprit = len(steps) - 1
    steps.append(_step(failure.where.place, "backward runs it from here"))
    return Section("backward", f"a backward failed: {_short(words)}", tuple(steps), culprit=culprit)


def _overwritten(failure: Failure, calls: Calls, words: str) -> Section:
    numbers = re.search(r"is at version (\d+); expected version (\d+)", words)
    now, then = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    node, attribute = failure.reader, "a tensor"
    for each in [failure.reader, *failure.nodes]:
        broken = None if each is None else _broken(each, words)
        if broken is not None:
            node, attribute = each, broken
            break
    made = recorded_by(node) if node is not None else None
    data = _raw(node, attribute)
    operand = None if made is None else _operand(made, attribute, then, data)
    steps: list[Step] = []
    culprit = -1
    if made is not None:
        what = "its result" if attribute == "result" or (operand and operand.position < 0) else f"`{attribute}`"
        steps.append(
            _step(made.place, f"`{made.op}` saves {what} ({_size(operand)}), at version {then}, for `{node.name()}`")
        )
        storage = storage_of(data) if data is not None else operand.storage if operand is not None else 0
        kept = [each for each in calls.writes.get(storage, ()) if each.clock > made.clock and each.after > then]
        if kept:
            culprit = len(steps)
            steps += _writes(kept)
    steps.append(_step(failure.where.place, f"backward reads it, at version {now}"))
    cure = "Compute a new tensor instead of writing that one, or write before it is saved, or after the backward."
    step = steps[culprit] if culprit >= 0 else None
    title = "a saved tensor was overwritten before its backward"
    if step is not None:
        title += f", at {step.path}:{step.line}"
    return Section("overwritten", title, tuple(steps), cure, culprit)


def _writes(kept: Sequence[Write]) -> list[Step]:
    steps = []
    for each in kept[:SHOWN]:
        by = f"`{each.place.step}.step()` ({each.op})" if each.place.step else f"`{each.op}`"
        steps.append(_step(each.place, f"{by} writes it: version {each.before} → {each.after}"))
    if len(kept) > SHOWN:
        steps.append(Step("", 0, "", f"and {len(kept) - SHOWN} more writes"))
    return steps


def _freed(failure: Failure) -> Section:
    steps: list[Step] = []
    culprit = -1
    reader = failure.reader
    gone = [node for node in [reader, *failure.nodes] if node is not None and _is_freed(node)]
    made = recorded_by(gone[0]) if gone else None
    if made is not None:
        steps.append(_step(made.place, f"`{made.op}` recorded `{gone[0].name()}` and saved tensors for it"))
        if made.freed is not None:
            steps.append(_step(made.freed.place, "this backward went through it, and freed what it had saved"))
            culprit = 0 if _same(made.freed.place, failure.where.place) else 1
    steps.append(_step(failure.where.place, "this backward needs it again"))
    again = made is not None and made.freed is not None and _same(made.freed.place, failure.where.place)
    cure = (
        "A value of an earlier iteration is used again: `detach()` it where it is carried over, or compute it anew."
        if again
        else "Sum the losses and call backward once, or give the first one `retain_graph=True`."
    )
    return Section("freed", "a backward needs a graph that an earlier backward has freed", tuple(steps), cure, culprit)


def _cut(roots: Iterable[torch.Tensor], at: Place, calls: Calls, words: str) -> Section:
    steps: list[Step] = []
    title, cure = "backward has nothing to differentiate", ""
    for root in roots:
        origin = calls.origin(root)
        if root.requires_grad or origin is None:
            continue
        if origin.cut:
            title = "the graph was cut before the backward"
            steps.append(_step(origin.place, origin.cut))
            cure = "Leave out what cuts it, or take the loss from a tensor before it."
        else:
            steps.append(_step(origin.place, f"`{origin.op}` made the tensor, and nothing that it read requires grad"))
            cure = "Is everything frozen, or was a number or a copy taken in between (`item()`, `tensor(...)`)?"
        break
    culprit = len(steps) - 1
    steps.append(_step(at, "backward is called here"))
    return Section("cut", f"{title}: {_short(words)}" if not steps[:-1] else title, tuple(steps), cure, culprit)


def _unused(failure: Failure) -> list[Step]:
    reached = {id(node.variable) for node in failure.nodes if hasattr(node, "variable")}
    inner = set(failure.nodes)
    steps = []
    for number, each in enumerate(failure.inputs):
        node = node_of(each)
        if id(each) in reached or (node is not None and node in inner):
            continue
        made = recorded_by(node)
        place = failure.where.place if made is None else made.place
        steps.append(_step(place, f"input {number} ({described(each)}) is not part of the graph of the outputs"))
    return steps[:SHOWN]


def _of_call(words: str, calls: Calls) -> Section:
    failed = calls.failed
    assert failed is not None
    steps = []
    for number, (what, place, op) in enumerate(failed.given):
        text = f"tensor {number} is {what}"
        if place is None or not place.lines:
            steps.append(Step("", 0, "", text))
        else:
            steps.append(_step(place, f"{text}; `{op}` made it here"))
    steps.append(_step(failed.place, f"`{failed.op}` is called with {'it' if len(steps) == 1 else 'them'}"))
    if failed.op == "backward":
        title = f"backward was refused: {_short(words)}"
    else:
        title = f"torch refused `{failed.op}`: {_short(words)}"
    cure = ""
    for part, said in _CURES.items():
        if part in words:
            cure = said
            break
    return Section("refused", title, tuple(steps), cure, len(steps) - 1)


_CURES = {
    "leaf Variable that requires grad": "Write it under `torch.no_grad()`, or compute a new tensor.",
    "a view of a leaf": "Write it under `torch.no_grad()`, or compute a new tensor.",
    "can be implicitly created only for scalar": "Reduce it first (`mean()`, `sum()`), or give backward a gradient.",
    "is a view and is being modified inplace": "Compute a new tensor, or `clone()` the view before it is written.",
    "numpy() on Tensor that requires grad": "Call `detach()` first, where no gradient is wanted through it.",
}


def of_broken(broken: Broken) -> Section:
    """The first gradient, or loss, that was not finite."""
    steps: list[Step] = []
    if broken.kind == "loss":
        title = "a loss was NaN or infinite before its backward began"
        said = "is the first in the graph whose values are not finite, as far as the graph has saved them"
    else:
        title = "a gradient became NaN or infinite"
        said = f"recorded `{broken.node}`, whose backward made the first gradient that is not finite"
    if broken.made is not None:
        steps.append(_step(broken.made.place, f"`{broken.made.op}` {said}"))
    steps.append(_step(broken.where.place, f"in the backward from here, number {broken.where.number} of the run"))
    cure = "Look at what it is given: a division by zero, `sqrt` or `norm` at zero, `log` of zero, an overflow."
    return Section("not-finite", title, tuple(steps), cure, 0)


def of_growing(found: Growing) -> Section:
    """A graph that grows, or graphs that are kept."""
    steps: list[Step] = []
    if found.kind == "grows":
        title = f"a graph grows from backward to backward: {found.first} nodes, then {found.last}"
        if found.old is not None and found.new is not None:
            steps.append(_step(found.new.place, f"`{found.new.op}` reads a value of an earlier iteration"))
            steps.append(_step(found.old.place, f"`{found.old.op}` made it, with its graph"))
        cure = "`detach()` it where it is carried over to the next iteration."
    else:
        title = f"{found.last} graphs of the same loss are alive after their backward"
        if found.holder:
            steps.append(Step("", 0, "", f"{found.holder} holds them"))
        cure = "Keep `loss.item()`, or `loss.detach()`, instead of the loss."
    steps.append(_step(found.where.place, f"backward number {found.where.number} of the run"))
    return Section(found.kind, title, tuple(steps), cure, 0)


def of_optimizer(stepped: Stepped, calls: Calls) -> Section | None:
    """The parameters that never had a gradient; None if there are none."""
    names = [*stepped.without.values()]
    if not names or not stepped.steps:
        return None
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    text = f"`{stepped.kind}.step()` had no gradient for {shown}"
    title = (
        f"{len(names)} of {stepped.total} parameters of an optimizer never had a gradient, in {stepped.steps} "
        f"{'step' if stepped.steps == 1 else 'steps'}"
    )
    cure = "Are they used by the loss, and not cut off by `detach()`, `no_grad` or a copy in between?"
    steps = [_step(stepped.place, text)]
    for origin, leaves in calls.cuts.values():
        if leaves & stepped.without.keys():
            steps.append(_step(origin.place, f"{origin.cut}, and some of them are behind it"))
    return Section("no-gradient", title, tuple(steps[:SHOWN]), cure, 1 if len(steps) > 1 else 0)


def _step(place: Place, text: str) -> Step:
    line = place.line
    if line is None:
        return Step("", 0, "", text)
    callers = [f"{each.path}:{each.line}" for each in place.lines if each is not line and each.mine]
    return Step(line.path, line.line, line.source, text, tuple(callers[:4]))


def _same(one: Place, other: Place) -> bool:
    return bool(one.line and other.line and one.line[:2] == other.line[:2])


def _short(words: str) -> str:
    first = words.strip().partition("\n")[0]
    return first if len(first) <= 160 else first[:159] + "…"


def _broken(node: Any, words: str) -> str | None:
    """The attribute of a node that cannot be read, with just these words."""
    wanted = words.partition(" Hint: ")[0]
    for name, value in saved_by(node):
        if isinstance(value, RuntimeError) and str(value).partition(" Hint: ")[0] == wanted:
            return name
    return None


def _is_freed(node: Any) -> bool:
    return any(isinstance(value, RuntimeError) and "freed" in str(value) for _, value in saved_by(node))


def _raw(node: Any, attribute: str) -> torch.Tensor | None:
    """What a node has saved, whatever its version."""
    try:
        data = getattr(getattr(node, f"_raw_saved_{attribute}", None), "data", None)
    except RuntimeError:
        return None
    return data if isinstance(data, torch.Tensor) else None


def _operand(made: Recorded, attribute: str, version: int, data: torch.Tensor | None) -> Operand | None:
    """Which tensor of the call a node has saved: by storage, else by its version."""
    same = [] if data is None else [each for each in made.operands if each.storage == storage_of(data)]
    found = same or [each for each in made.operands if each.version == version]
    results = [each for each in found if (each.position < 0) == (attribute == "result")]
    return next(iter(results or found), None)


def _size(operand: Operand | None) -> str:
    return "a tensor" if operand is None else f"shape {'×'.join(map(str, operand.shape)) or 'scalar'}"
