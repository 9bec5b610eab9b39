"""
What a run proves once it is over: saved tensors that were overwritten, freed graphs that were read, writes, graphs
that were retained.

Emits the events of what the transfer functions noted. Changes nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from torchlint.condition import Condition, without_reflection
from torchlint.model.autograd.autograd import Autograd, RefusedWhere, Retained, SavedRead, Visited, WriteRecord
from torchlint.model.autograd.edges import possible_edges
from torchlint.model.autograd.turns import Turns, clears_in_each_round, is_same_in_each_round
from torchlint.model.autograd.walk import MOST_NODES, TANGLED, joined, walk
from torchlint.model.autograd.writes import saved_step, saved_words
from torchlint.model.events import (
    AutogradRefused,
    BackwardCalled,
    FreedGraphRead,
    GraphRetained,
    InplaceWrite,
    RetainedUse,
    SavedTensorRead,
)
from torchlint.model.events.trace import Step
from torchlint.model.state.alternatives import emit_covered
from torchlint.model.state.callers import of_data
from torchlint.model.state.guards import ALONE, ALWAYS, Guard, Truth, conjoin, covered, unconditional
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import GraphNode, Saved, Tensor, Value, Write, alternatives, reachable_tensors
from torchlint.syntax import cst

_ABOUT_MODE = re.compile("train|eval|infer|grad|export|script|trac(?!k)|onnx|jit|compil")
"""Conditions that may say whether anybody differentiates: what rests on one of them alone is not proven."""
_TRAINING = re.compile(r"self\.training")
_BACKWARDS = re.compile(r"backward|\bgrad\(")
_BY_TEXT = re.compile(r"\b(exec|eval|globals|locals|vars)\(")
"""Ways to get at a variable that do not write its name as one: who reads a graph through it is not known."""


def conclude(autograd: Autograd, results: list[Value]) -> None:
    """
    The run is over: raise the events that need to know all of it. `results` is what a function is run for; nothing
    where it was the script.
    """
    emit_covered(autograd.machine)
    _conclude_freed(autograd)
    broken = _conclude_reads(autograd)
    if autograd.refused_where:
        _conclude_refused(autograd, broken)
        autograd.refused_where.clear()
    _forget_dropped(autograd, results)
    _conclude_writes(autograd, broken, is_lost=bool(results) and not any(map(_has_graph, results)))
    _conclude_retained(autograd, broken)
    autograd.saved_reads.clear()
    autograd.write_records.clear()
    autograd.retained.clear()
    autograd.freed_reads.clear()
    autograd.filled_beside.clear()
    for hook in autograd.machine.watch.concluded:
        hook()


def _conclude_freed(autograd: Autograd) -> None:
    told: set[int] = set()
    for (call, saves), found in sorted(autograd.freed_reads.items(), key=lambda item: -item[0][1].value):
        if saves is Truth.MAYBE:
            found = [each for each in found if each[2].unseen]
        if call in told or not found:
            continue
        sure = [event for _, _, event in found if event.truth is Truth.YES] or _by_cases(found)
        if sure:
            told.add(call)
            autograd.machine.emit(min(sure, key=lambda event: len(event.conditions)), whatever=True)


def _by_cases(found: list[tuple[Guard, Guard, FreedGraphRead]]) -> list[FreedGraphRead]:
    """
    What is certain because the values that a variable may have leave no way around. The cases must rest on one basis:
    of two that two different paths come to, nobody knows that the program comes to both.
    """
    cases: dict[Guard, list[tuple[Guard, FreedGraphRead]]] = {}
    for need, basis, event in found:
        cases.setdefault(basis, []).append((need - basis, event))
    return [
        replace(some[0][1], truth=Truth.YES) for some in cases.values() if covered([need for need, _ in some], ALWAYS)
    ]


def _conclude_reads(autograd: Autograd) -> dict[int, Truth]:
    by_write: dict[int, list[SavedRead]] = {}
    for read in autograd.saved_reads:
        by_write.setdefault(id(read.write.origin), []).append(read)
    runs: dict[int, list[Write]] = {}
    for record in autograd.write_records:
        if id(record.write.origin) in by_write:
            runs.setdefault(id(record.write.origin), []).append(record.write)
    broken: dict[int, Truth] = {}
    for key, reads in by_write.items():
        sure = [read for read in reads if read.need <= read.basis]
        if not sure:
            sure = _for_all_values(reads)
        broken[key] = Truth.YES if sure else Truth.MAYBE
        if sure:
            best = min(sure, key=lambda read: (len(read.conditions), read.implicit))
            _tell_read(autograd, best, _own_decision(autograd, best, sure, runs.get(key, ())))
            continue
        for read, rest in _ways(reads):
            decision = _one_decision(autograd, read, rest)
            if decision is not None:
                broken[key] = Truth.YES
                autograd.machine.open_write = True  # whoever knows more may know which arm is taken
                _tell_read(autograd, read, decision)
                break
    return broken


def _for_all_values(reads: list[SavedRead]) -> list[SavedRead]:
    """
    One of the reads that leave no way around, whatever values variables have. What one of these asks for beside, such
    as an input that requires grad, is asked for by all of them together: the one that is told names it. It is one that
    rests on the least: a product with what may be a number saves nothing where it is one.
    """
    if covered([read.need - read.basis for read in reads], ALWAYS):
        for told in sorted(reads, key=lambda read: (len(read.conditions), len(read.need - read.basis))):
            within = [read for read in reads if all(each in told.conditions for each in read.conditions)]
            if covered([read.need - read.basis for read in within], ALWAYS):
                return [told]
    return []


def _own_decision(
    autograd: Autograd, read: SavedRead, sure: list[SavedRead], runs: Iterable[Write]
) -> Condition | None:
    """
    The condition under which a write in a loop runs when it does harm, if it may also run only when it does none:
    `if i % every: x += 1`.
    """
    harmful = {id(each.write) for each in sure}
    for write in runs:
        if id(write) in harmful:
            continue
        others = {key for key, _ in write.path}
        for key, arm in sorted(unconditional(read.write.path), key=repr):
            found = None if key in others else autograd.machine.condition(key)
            if found is not None:
                return Condition("branch", found, arm == 1)
    return None


def _ways(reads: list[SavedRead]) -> list[tuple[SavedRead, Guard]]:
    """
    The reads with what each rests on beside its basis; and those that together leave no way around but that of one
    decision: what a dropout gives is what it was given, or was computed from that.
    """
    ways = [(read, read.need - read.basis) for read in reads]
    by_basis: dict[Guard, list[tuple[SavedRead, Guard]]] = {}
    for read, rest in ways:
        by_basis.setdefault(read.basis, []).append((read, rest))
    for some in by_basis.values():
        if len(some) > 1:
            ways += [
                (next(read for read, rest in some if rest >= way), way)
                for way in joined([rest for _, rest in some])
                if len(way) == 1
            ]
    return ways


def _one_decision(autograd: Autograd, read: SavedRead, rest: Guard) -> Condition | None:
    """
    The one condition of the program that a proof rests on, and whether it must hold: whatever else happens, the
    program raises where that arm was taken. None if it rests on more: two decisions need not go together, but that a
    fused kernel computes an operation goes together with the arm on which the program asks for it.
    """
    if read.write.spelling in ("optimizer", "backward"):
        return None
    alone = {each.kind for each in read.conditions} & ALONE
    if alone and not (alone == {"kernel"} and rest <= read.saved.path):
        return None
    return _decision(autograd, rest, read.basis)


def _decision(autograd: Autograd, rest: Guard, basis: Guard) -> Condition | None:
    """The one condition of the program that all of `rest` is, on a path of the program; None if it is more."""
    if len(rest) != 1:
        return None
    ((number, arm),) = rest
    machine = autograd.machine
    found = machine.condition(number)
    others = [key for key, arm in unconditional(basis) if key != number and not _trains(machine, key, arm)]
    if found is None and isinstance(number, int):
        found = of_data(machine.decision(number))
        if found is not None and any(of_data(machine.decision(key)) for key in others if isinstance(key, int)):
            return None
    if found is None or _ABOUT_MODE.search(_beside_training(found) if arm == 1 else found):
        return None
    if any(machine.condition(key) is not None for key in others):
        return None
    return Condition("branch", found, arm == 1)


def _trains(machine: Machine, number: object, arm: int) -> bool:
    """Whether a decision is that `self.training` holds: where somebody differentiates, it mostly does."""
    return arm == 1 and _TRAINING.fullmatch(machine.condition(number) or "") is not None


def _beside_training(condition: str) -> str:
    """What a conjunction asks for beside `self.training`: where that holds somebody differentiates."""
    return " and ".join(each for each in condition.split(" and ") if not _TRAINING.fullmatch(each))


def _tell_read(autograd: Autograd, read: SavedRead, decision: Condition | None = None) -> None:
    write, saved = read.write, read.saved
    conditions = read.conditions if decision is None else (decision, *without_reflection(read.conditions))
    if read.implicit and not conditions:
        conditions = write.callers  # whose input requires grad has grad mode on
    if write.foreign_call is not None and write.foreign_call is saved.node.foreign_call:
        return  # another file's own affair
    through = ""
    if write.target is not saved.tensor:
        if write.target.family is not saved.tensor.family:
            through = "detach"
        else:
            through = "view" if write.target.base is not None else "base"
    autograd.machine.emit(
        SavedTensorRead(
            node=write.origin.origin,
            statement=write.line,
            trace=(
                *_shared_by(write, saved, through),
                saved_step(saved),
                Step((write.inside or write.origin).origin, _overwrites(write)),
                read.backward,
            ),
            conditions=conditions,
            moment=read.moment,
            saver=saved.node.op,
            saved=saved_words(saved),
            name=saved.name,
            write_op=write.op,
            spelling=write.spelling,
            target=autograd.machine.facts(write.target, write.name),
            target_node=write.target_node,
            through=through,
            backward=read.backward,
            implicit=read.implicit,
            for_inference=read.implicit and write.for_inference,
            grad_mode=write.grad_mode,
        )
    )


def _conclude_refused(autograd: Autograd, broken: dict[int, Truth]) -> None:
    """
    Writes that torch refuses if an input requires grad, or under one decision of the program. What overwrites what a
    backward reads is told of that.
    """
    machine = autograd.machine
    told = (each for each in machine.events if isinstance(each, AutogradRefused))
    certain = {id(each.node) for each in told if each.truth is Truth.YES}
    by_write: dict[int, list[RefusedWhere]] = {}
    for refused in autograd.refused_where:
        if broken.get(id(refused.origin)) is not Truth.YES and id(refused.event.node) not in certain:
            by_write.setdefault(id(refused.origin), []).append(refused)
    for some in by_write.values():
        if covered([each.need for each in some], ALWAYS):
            machine.emit(max(some, key=lambda each: len(each.event.conditions)).event, whatever=True)
            continue
        for refused in some:
            decision = _decision(autograd, refused.need, refused.path)
            if decision is not None:
                machine.open_write = True
                found = replace(refused.event, conditions=(decision, *refused.event.conditions))
                machine.emit(found, whatever=True)
                break


def _has_graph(value: Value) -> bool:
    """Whether somebody who holds a value may call a backward through what the program computed."""
    return any(each.grad_fn and each.requires_grad.truth() is not Truth.NO for each in reachable_tensors(value))


def _forget_dropped(autograd: Autograd, results: list[Value]) -> None:
    """
    An old value that only nodes hold whose results are dropped on the path of the write, `y = conv(x)` where nothing
    but `x` is returned, is needed by nobody.
    """
    records = [each for each in autograd.write_records if each.old_value_needed is Truth.YES and each.savers]
    if not records or not results:
        return
    starts: list[tuple[Guard, GraphNode | Tensor]] = []
    for value in results:
        for guard, option in alternatives(value):
            for tensor in reachable_tensors(option):
                ways = [(conjoin(guard, inner), node) for inner, node in possible_edges(autograd, tensor)]
                starts += [(both, node) for both, node in ways if both is not None]
    visited, _, _ = walk(autograd, starts, None)
    if len(visited) >= MOST_NODES:
        return
    for record in records:
        if all(_is_dropped(node, record.write.path | record.write.assumed, visited) for node in record.savers):
            record.old_value_needed = Truth.MAYBE


def _is_dropped(node: GraphNode, path: Guard, visited: Visited) -> bool:
    _, ways = visited.get(id(node), (node, []))
    return all(way != TANGLED and conjoin(way, path) is None for way in ways)


def _conclude_writes(autograd: Autograd, broken: dict[int, Truth], is_lost: bool) -> None:
    """`is_lost`: of all graphs of this run none is left when it is over, so that nobody can differentiate them."""
    by_write: dict[int, list[WriteRecord]] = {}
    for record in autograd.write_records:
        by_write.setdefault(id(record.write.origin), []).append(record)
    filled = _filled(autograd, broken)
    for key, records in by_write.items():
        write = records[0].write
        leaf_raises = _over_paths(records, "leaf_raises")
        if write.foreign_call is not None and leaf_raises is not Truth.YES:
            if broken.get(key) is Truth.MAYBE:
                autograd.machine.open_write = True
            continue
        raised = next((r for r in records if r.leaf_raises is Truth.YES), records[0])
        decision = None
        if leaf_raises is Truth.MAYBE and raised.leaf_raises is Truth.YES and write.foreign_call is None:
            decision = _decision(autograd, raised.write.assumed - raised.write.path, raised.write.path)
            leaf_raises = Truth.YES if decision is not None else leaf_raises
        conditions = _of_leaf(decision, raised.write.callers) if leaf_raises is Truth.YES else ()
        chosen = raised if leaf_raises is Truth.YES else records[0]
        needed = Truth.NO
        steps: list[Step] = []
        for record in records:
            needed = needed | record.old_value_needed
            steps += [s for s in record.saved_by if s not in steps]
        harm = broken.get(key, Truth.NO)
        if Truth.MAYBE in (harm, needed) and Truth.YES not in (harm, leaf_raises):
            autograd.machine.open_write = True
        if needed is Truth.YES and Truth.YES not in (harm, leaf_raises) and not is_lost:
            autograd.machine.externally_pure = False  # whoever calls may differentiate what is returned
        if needed is Truth.YES and leaf_raises is not Truth.YES:
            needed, conditions = _saved_where(autograd, records)
        created = chosen.target.created
        autograd.machine.emit(
            InplaceWrite(
                node=write.origin.origin,
                statement=write.line,
                trace=(
                    *((created,) if created is not None else ()),
                    *steps,
                    Step((write.inside or write.origin).origin, _overwrites(write)),
                ),
                truth=Truth.YES,
                conditions=conditions,
                moment=chosen.write.time,
                op=write.op,
                spelling=write.spelling,
                target=chosen.target,
                target_node=write.target_node,
                leaf_raises=leaf_raises,
                leaf_view=chosen.leaf_view,
                outdated=chosen.outdated,
                in_graph=_over_paths(records, "in_graph"),
                old_value_in_graph=_over_paths(records, "old_value_in_graph"),
                old_value_needed=needed,
                saved_by=tuple(steps),
                broken=harm,
                value_in_graph=_over_paths(records, "value_in_graph"),
                target_is_view=chosen.is_view,
                made=(write.target.base or write.target).origin.origin,
                index=write.index,
                for_inference=all(record.write.for_inference for record in records),
                grad_mode=write.grad_mode,
                handed=any(record.handed for record in records),
                filled=(is_lost and harm is not Truth.YES)
                or all(id(record.write.target.storage) in filled for record in records),
            )
        )


def _saved_where(autograd: Autograd, records: list[WriteRecord]) -> tuple[Truth, tuple[Condition, ...]]:
    """Whether an operation has saved the old value on every path, and, where it has on some, the one condition."""
    needed = _over_paths(records, "old_value_needed")
    if needed is Truth.YES:
        return needed, ()
    write = next(record.write for record in records if record.old_value_needed is Truth.YES)
    decision = _decision(autograd, write.assumed - write.path, write.path)
    return (needed, ()) if decision is None else (Truth.YES, (decision,))


def _of_leaf(decision: Condition | None, callers: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """What a write to a leaf rests on."""
    return callers if decision is None else (decision, *callers)


def _filled(autograd: Autograd, broken: dict[int, Truth]) -> set[int]:
    """The storages that are only written until they are complete (see `InplaceWrite.filled`)."""
    fresh: dict[int, bool] = {}
    for record in autograd.write_records:
        storage = id(record.write.target.storage)
        if storage not in fresh:
            fresh[storage] = True
        needed = record.read_since or record.old_value_needed is not Truth.NO
        if needed or broken.get(id(record.write.origin), Truth.NO) is Truth.YES:
            fresh[storage] = False
    return {storage for storage, is_fresh in fresh.items() if is_fresh}


def _conclude_retained(autograd: Autograd, broken: dict[int, Truth]) -> None:
    machine = autograd.machine
    by_call: dict[int, list[Retained]] = {}
    if not autograd.retained:
        return
    by_text = _BY_TEXT.search(machine.program.text) is not None
    only = len(list(islice(_BACKWARDS.finditer(machine.program.text), 2))) == 1
    for retained in autograd.retained:
        by_call.setdefault(id(retained.call), []).append(retained)
    turns = Turns(machine)
    overwritten = [
        read
        for read in autograd.saved_reads
        if read.write.spelling == "optimizer" and broken.get(id(read.write.origin)) is Truth.YES
    ]
    for group in by_call.values():
        first = group[0]
        readers = [reader for retained in group for reader in retained.readers]
        kinds = {kind for _, kind, _ in readers}
        use: RetainedUse
        if "apart" in kinds:
            use = "apart"
        elif "shared" in kinds or "again" in kinds:
            use = _of_two_losses(group, overwritten, turns)
            if use == "shared" and "shared" not in kinds:
                use = "again"
        elif "carried" in kinds:
            use = "carried"
        elif "repeated" in kinds:
            use = "repeated"
            if first.asked_for is None and clears_in_each_round(machine, first.line):
                use = "apart"
            elif first.asked_for is not None and is_same_in_each_round(machine, first.line, first.call):
                use = "unknown"  # nothing is added up
        elif by_text or any(retained.opaque or retained.escaped for retained in group):
            use = "unknown"
        else:
            use = "unread"
        steps: list[Step] = []
        lines: list[cst.CSTNode] = []
        for step, _, line in readers:
            if all(step.node is not other.node for other in steps):
                steps.append(step)
                lines.append(line)
        follows = len(lines) == 1 and machine.after(first.line) is lines[0]
        machine.emit(
            GraphRetained(
                node=first.argument,
                statement=first.line,
                trace=tuple(steps),
                argument=first.argument,
                call=first.call,
                root=first.root,
                use=use,
                readers=tuple(steps),
                carried=next((retained.carried for retained in group if retained.carried), None),
                next_statement=lines[0] if follows else None,
                only=only and not first.part,
                grad_mode=first.grad_mode,
            )
        )


def _of_two_losses(group: list[Retained], overwritten: list[SavedRead], turns: Turns) -> RetainedUse:
    """
    How two losses of one iteration share a graph that the backward of the first retains. `overwritten`: what backwards
    read that an optimizer's step has certainly broken.
    """
    readers = [(retained, step, line) for retained in group for step, _, line in retained.readers]
    for retained, step, _ in readers:
        if any(retained.time < each.write.time and each.backward.node is step.node for each in overwritten):
            return "broken"
    found = {turns.between(group[0].line, line) for _, _, line in readers}
    if "in turn" in found:
        return "turns"
    if "stepped" in found:
        return "stepped"
    return "apart" if "cleared" in found else "shared"


def _shared_by(write: Write, saved: Saved, through: str) -> tuple[Step, ...]:
    """Written through an alias: where the two came to share memory."""
    if through != "detach":
        return ()
    alias = saved.tensor.alias or write.target.alias
    if alias is None:
        return ()
    return (Step(alias.origin.origin, f"`{alias.how}` shares memory with `{alias.source.name}`"),)


def faults(event: BackwardCalled) -> Iterator[str]:
    """What torch would refuse a backward for, as far as its root tells."""
    if event.root.requires_grad is Truth.NO:
        yield "no grad"
    if event.is_scalar is Truth.NO and event.gradient_given is Truth.NO:
        yield "no scalar"


def _overwrites(write: Write) -> str:
    name = f"`{write.name}`" if write.name else "its target"
    if write.spelling == "indexed":
        return f"`[...] {'=' if write.op == '[...] =' else write.op}` writes into {name}"
    return f"`{write.op}` overwrites {name}"


def _over_paths(records: list[WriteRecord], fact: str) -> Truth:
    """What holds of a write in at least one iteration or context on all its paths."""
    joined = Truth.NO
    open_guards = []
    for record in records:
        truth: Truth = getattr(record, fact)
        need = record.write.assumed - record.write.path
        if truth is Truth.YES and need:
            open_guards.append(need)
            truth = Truth.MAYBE
        joined = joined | truth
    if joined is Truth.MAYBE and covered(open_guards, ALWAYS):
        return Truth.YES
    return joined
