"""
Reads the log of a training loop: which gradients a `step` uses, which are lost, and which calls stand on the wrong
side of it.

Pure functions of the log. Wherever code that the model doesn't follow could have zeroed, filled or stepped in
between, nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torchlint.model.events import Event
from torchlint.model.events.trace import Step
from torchlint.model.events.training import (
    CalledOutOfOrder,
    GradientsCarried,
    GradientsDiscarded,
    SteppedWithoutGradients,
)
from torchlint.model.observers.moments import Iteration, Log, Moment
from torchlint.model.state.guards import ALWAYS, conjoin, covered
from torchlint.model.state.values import Instance, Optimizer
from torchlint.syntax import cst, ir


def read(log: Log, decision: Callable[[int], object]) -> Iterator[Event]:
    """
    Everything the order of the moments shows.

    Parameters
    ----------
    decision
        The condition that a branch was numbered for (`Machine.decision`).
    """
    steps = log.of("step")
    if steps:
        yield from _each_place(steps, lambda step: _carried(log, step))
        yield from _each_place(steps, lambda step: _without_gradients(log, step))
        yield from _each_place(log.of("zero"), lambda zero: _discarded(log, zero, decision))
        yield from _each_place(log.of("clip"), lambda clip: _clipped(log, clip))
        yield from _each_place(log.of("schedule"), lambda schedule: _scheduled(log, schedule))


def _each_place(moments: list[Moment], look: Callable[[Moment], Event | None]) -> Iterator[Event]:
    """One event per place of the program, if the moments that have it leave no way around."""
    found: dict[int, list[tuple[Moment, Event]]] = {}
    for moment in moments:
        event = look(moment)
        if event is not None:
            found.setdefault(id(moment.origin), []).append((moment, event))
    for each in found.values():
        certain = [event for moment, event in each if moment.assumed <= moment.path]
        if certain or covered([moment.assumed for moment, _ in each], ALWAYS):
            yield (certain or [each[0][1]])[0]


# -- gradients that are added to those of the iteration before


def _carried(log: Log, step: Moment) -> Event | None:
    for index in reversed(range(len(step.iterations))):
        iteration = step.iterations[index]
        found = _carried_in(log, step, iteration)
        if found is None:
            continue
        inside = [moment for moment in log.moments if moment.within(iteration)]
        if any(log.may_touch(moment, step) for moment in inside):
            return None
        if any(moment.kind == "zero" and log.zeroes(moment, step) != "no" for moment in inside):
            return None
        if _zeroes_otherwise(inside, step, index - len(step.iterations)):
            return None
        # one that only comes after the loop, and is not come to again, resets nothing for this step; nor does one in
        # the other arm of a decision
        outer = step.iterations[:index]
        reached = (
            each
            for each in log.of("zero")
            if conjoin(each.path, step.path) is not None
            and (each.time < step.time or any(each.within(o) for o in outer))
        )
        outside = next((zero for zero in reached if log.zeroes(zero, step) != "no"), None)
        backward = Step(found.origin.origin, "its gradients are added to those of the iteration before")
        return GradientsCarried(
            node=step.origin.origin,
            statement=step.line,
            trace=(backward,)
            if outside is None
            else (Step(outside.origin.origin, "zeroed here, outside the loop"), backward),
            optimizer=step.name,
            backward=backward,
            zeroed="never" if outside is None else "outside",
            nameable=bool(step.name),
            known=isinstance(step.owner, (Optimizer, Instance)),
        )
    return None


def _zeroes_otherwise(inside: Sequence[Moment], step: Moment, level: int) -> bool:
    """
    Whether the loop around a step (the last one is -1) holds a zeroing that this run does not make: it stands under a
    test that is not met, so that its author has thought of both. One that is made there is another optimizer's.
    """
    if not isinstance(step.function, ir.FunctionDef):
        return False
    inner = ir.walk(step.function.body)
    loops = [
        each
        for each in inner
        if isinstance(each, (ir.For, ir.While)) and any(part is step.origin for part in ir.walk(each.body))
    ]
    made = {id(moment.origin) for moment in inside if moment.kind == "zero"}
    return -level <= len(loops) and any(
        isinstance(part, ir.Call)
        and isinstance(part.function, ir.Attribute)
        and part.function.attr == "zero_grad"
        and id(part) not in made
        for part in ir.walk(loops[level].body)
    )


def _carried_in(log: Log, step: Moment, iteration: Iteration) -> Moment | None:
    """The backward of this iteration that adds to a gradient which the iteration before has stepped with."""
    if iteration.number == 0:
        return None
    before = iteration.number - 1
    chain: list[Moment] = []
    for moment in log.moments[: step.time]:
        if not moment.possible_with(step):
            continue
        is_step = moment.kind == "step" and moment.owner is step.owner and moment.origin is step.origin
        is_backward = moment.kind == "backward" and log.feeds(moment, step) != "no"
        if is_backward and moment.within(iteration, before) and not chain:
            chain = [moment]
        elif is_step and moment.within(iteration, before) and len(chain) == 1:
            chain.append(moment)
        elif is_backward and len(chain) >= 2 and moment.within(iteration, iteration.number):
            places = [each.origin for each in log.of("backward") if each.within(iteration, before)]
            if any(moment.origin is place for place in places):
                return moment
    return None


# -- steps that have nothing to use


def _without_gradients(log: Log, step: Moment) -> Event | None:
    earlier = [moment for moment in log.moments[: step.time] if moment.possible_with(step)]
    zero = next((m for m in reversed(earlier) if m.kind == "zero" and m.owner is step.owner), None)
    if zero is None or step.owner is None or not zero.path | zero.assumed <= step.path | step.assumed:
        return None
    between = log.between(zero, step)
    if any(moment.kind in ("backward", "step", "written") for moment in between):
        return None
    if any(log.may_touch(moment, step) for moment in between):
        return None
    if not any(moment.kind == "unknown" for moment in between):
        before = _wasted(log, zero, step)
        if before is not None:
            return _stepped_without(step, zero, before, "before")
    after = _too_late(log, zero, step)
    return _stepped_without(step, zero, after, "after") if after is not None else None


def _wasted(log: Log, zero: Moment, step: Moment) -> Moment | None:
    """The backward whose gradients a zeroing throws away just before the step."""
    for moment in reversed(log.moments[: zero.time]):
        if not moment.possible_with(zero):
            continue
        if moment.kind == "step" and moment.owner is step.owner:
            return None
        if log.may_touch(moment, step):
            return None
        if moment.kind == "backward" and log.feeds(moment, step) != "no":
            others = [m for m in log.moments[moment.time : step.time] if m.kind == "step" and m.owner is not step.owner]
            same = moment.iterations == zero.iterations and moment.path <= step.path
            return moment if same and not others else None
    return None


def _too_late(log: Log, zero: Moment, step: Moment) -> Moment | None:
    """The backward that follows the step in the same iteration and belongs to it."""
    if not step.iterations or zero.iterations != step.iterations:
        return None
    rest = [m for m in log.moments[step.time + 1 :] if m.iterations[: len(step.iterations)] == step.iterations]
    for index, moment in enumerate(rest):
        if log.may_touch(moment, step):
            return None
        if moment.kind == "backward":
            later = any(each.kind == "step" for each in rest[index:])
            fits = moment.iterations == step.iterations and log.feeds(moment, step) != "no"
            return moment if fits and not later else None
        if moment.kind == "step" and moment.owner is not step.owner:
            return None
    return None


def _stepped_without(step: Moment, zero: Moment, backward: Moment, when: str) -> Event:
    words = "its gradients are zeroed before the step" if when == "before" else "its gradients come after the step"
    first = Step(backward.origin.origin, words)
    second = Step(zero.origin.origin, "the gradients are zeroed here")
    return SteppedWithoutGradients(
        node=step.origin.origin,
        statement=step.line,
        trace=(first, second) if when == "before" else (second, first),
        optimizer=step.name,
        backward=first,
        when="before" if when == "before" else "after",
        zeroing=zero.origin.origin,
        zeroing_statement=zero.line,
        backward_statement=backward.line,
        together=_together(step, zero) and _together(step, backward),
    )


def _together(one: Moment, other: Moment) -> bool:
    """Whether two are simple statements of one block: the same function, path and iterations."""
    return (
        one.function is other.function
        and one.path == other.path
        and one.iterations == other.iterations
        and isinstance(one.line, cst.SimpleStatementLine)
        and isinstance(other.line, cst.SimpleStatementLine)
    )


# -- gradients that are zeroed before any step has used them


def _discarded(log: Log, zero: Moment, decision: Callable[[int], object]) -> Event | None:
    if not zero.iterations or zero.iterations[-1].number == 0:
        return None
    iteration = zero.iterations[-1]
    inside = [moment for moment in log.moments if moment.within(iteration)]
    steps = [m for m in log.of("step") if m.owner is zero.owner and m.owner is not None]
    own = {id(moment.origin) for moment in inside if moment.kind in ("zero", "step") and moment.owner is zero.owner}
    if not steps or any(log.may_touch(moment, steps[0]) for moment in inside if id(moment.origin) not in own):
        return None  # a call of an unknown optimizer is its own zeroing or step, and no other code
    wiped = [
        moment
        for moment in inside
        if moment.kind == "backward"
        and moment.within(iteration, iteration.number - 1)
        and len(moment.iterations) == len(zero.iterations)
        and all(log.feeds(moment, step) != "no" for step in steps)
    ]
    if not wiped or any(_used(moment, steps) for moment in log.between(wiped[-1], zero)):
        return None
    if any(moment.kind == "zero" and moment.owner is not zero.owner for moment in inside):
        return None
    if not _follows(zero, wiped[-1], inside):
        return None
    stepped = [m for m in log.between(wiped[-1], zero) if m.kind == "step" and m.owner is zero.owner]
    if any(not _counted(step, decision) for step in stepped):
        return None
    within = [step for step in steps if step.within(iteration)]
    later = [step for step in steps if step.time > zero.time and not step.within(iteration)]
    if within:
        fits = all(_every_few(step, zero, wiped, inside, decision) for step in within)
    else:
        fits = bool(later) and len(later[0].iterations) <= len(zero.iterations) - 1 and _plain(zero, wiped[-1])
        fits = fits and not any(m.kind in ("step", "zero") for m in log.between(inside[-1], later[0]))
    if not fits:
        return None
    backward = Step(wiped[-1].origin.origin, "its gradients are zeroed in the next iteration, before any step")
    return GradientsDiscarded(
        node=zero.origin.origin, statement=zero.line, trace=(backward,), optimizer=zero.name, backward=backward
    )


def _used(read: Moment, steps: list[Moment]) -> bool:
    """Whether gradients are read elsewhere than on the way to a step, as one reads their norm before it."""
    return read.kind == "read" and not any(
        step.iterations == read.iterations and step.time > read.time and step.path <= read.path for step in steps
    )


def _follows(zero: Moment, backward: Moment, inside: list[Moment]) -> bool:
    """Whether in an iteration the zeroing comes first and a backward of the same place after it."""
    number = zero.iterations[-1].number
    return any(
        moment.origin is backward.origin and moment.time > zero.time and moment.within(zero.iterations[-1], number)
        for moment in inside
    )


def _plain(*moments: Moment) -> bool:
    """Whether they happen in every iteration, on no condition."""
    return all(moment.path <= moment.iterations[-1].path for moment in moments)


def _every_few(
    step: Moment, zero: Moment, wiped: list[Moment], inside: list[Moment], decision: Callable[[int], object]
) -> bool:
    """Whether a step is taken only every k-th iteration (`if (i + 1) % k == 0`), the rest in each."""
    if not step.iterations or not _plain(zero, *wiped):
        return False
    extra = {key for key, _ in step.path - step.iterations[-1].path}
    if not extra:
        return _skipped(step, wiped[-1], inside)
    counting = _counted(step, decision)
    if not counting:
        return False
    backwards = [moment for moment in inside if moment.kind == "backward"]
    return not any(key in counting for moment in backwards for key, _ in moment.path)


def _counted(step: Moment, decision: Callable[[int], object]) -> set[int]:
    """The conditions of a step that are true in every k-th iteration."""
    extra = {key for key, arm in step.path - step.iterations[-1].path if arm == 1} if step.iterations else set()
    return {key for key in extra if isinstance(key, int) and _counts(decision(key))}


def _skipped(step: Moment, wiped: Moment, inside: list[Moment]) -> bool:
    """Whether the iterations were followed one by one, and that of the lost backward did the same but for the step."""
    lost, used = wiped.iterations[-1], step.iterations[-1]
    places = {id(m.origin) for m in inside if m.kind == "backward" and m.within(lost, lost.number)}
    same = {id(m.origin) for m in inside if m.kind == "backward" and m.within(used, used.number)} == places
    return same and not any(m.kind == "step" and m.within(lost, lost.number) for m in inside)


def _counts(key: object) -> bool:
    text = key[0] if isinstance(key, tuple) and key else ""
    return isinstance(text, str) and " % " in text and " == " in text


# -- calls on the wrong side of the step


def _clipped(log: Log, clip: Moment) -> Event | None:
    if id(clip.origin) not in log.dropped and id(clip.origin) not in log.limiting:
        return None
    before = [m for m in log.moments[: clip.time] if m.possible_with(clip)]
    backward = next((m for m in reversed(before) if m.kind == "backward"), None)
    if backward is None:
        return None
    between = log.between(backward, clip)
    if any(m.kind in ("unknown", "written") and "update" not in m.name for m in between):
        return None
    steps = [m for m in between if m.kind == "step"]
    if steps:
        return _clipped_late(log, clip, steps[-1], backward)
    return _clipped_scaled(log, clip, backward, between)


def _clipped_late(log: Log, clip: Moment, step: Moment, backward: Moment) -> Event | None:
    if step.iterations != clip.iterations or backward.iterations != clip.iterations:
        return None
    for moment in log.moments[clip.time + 1 :]:
        if moment.kind in ("zero", "backward"):
            break
        if moment.kind in ("step", "unknown"):
            return None
    return CalledOutOfOrder(
        node=clip.origin.origin,
        statement=clip.line,
        trace=(Step(step.origin.origin, "the gradients are used here"),),
        what="clip-after-step",
        call=clip.name,
        optimizer=step.name,
        scaler="",
        other=step.line,
        together=_together(clip, step),
    )


def _clipped_scaled(log: Log, clip: Moment, backward: Moment, between: list[Moment]) -> Event | None:
    if not backward.via or any(m.kind == "unscale" for m in between):
        return None
    step = next((m for m in log.moments[clip.time + 1 :] if m.kind in ("step", "unscale", "backward")), None)
    if step is None or step.kind != "step" or step.via != backward.via or not step.possible_with(clip):
        return None
    return CalledOutOfOrder(
        node=clip.origin.origin,
        statement=clip.line,
        trace=(Step(backward.origin.origin, f"the gradients of this backward are scaled by `{backward.via}`"),),
        what="clip-before-unscale",
        call=clip.name,
        optimizer=step.name,
        scaler=backward.via,
        other=step.line,
        together=_together(clip, step),
    )


def _scheduled(log: Log, schedule: Moment) -> Event | None:
    owner = next((optimizer for each, optimizer in log.schedulers if each is schedule.owner), None)
    steps = [m for m in log.of("step") if owner is None or m.owner is owner or not isinstance(owner, Optimizer)]
    if any(step.time < schedule.time for step in steps) or not schedule.iterations:
        return None
    if schedule.path - schedule.iterations[-1].path:
        return None
    if not isinstance(owner, Optimizer) and any(step.owner is not steps[0].owner for step in steps):
        return None  # which of them it schedules is not known
    depth = len(schedule.iterations)
    for step in steps:
        if step.iterations[:depth] == schedule.iterations and step.possible_with(schedule):
            between = log.between(schedule, step)
            if any(m.kind == "unknown" and step.owner in m.reach for m in between):
                return None
            return CalledOutOfOrder(
                node=schedule.origin.origin,
                statement=schedule.line,
                trace=(Step(step.origin.origin, "the optimizer's first step comes after it"),),
                what="schedule-before-step",
                call=f"{schedule.name}.step",
                optimizer=step.name,
                scaler="",
                other=step.line,
                together=_together(schedule, step),
                named=schedule.name if owner is None else "",
            )
    return None
