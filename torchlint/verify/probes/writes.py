"""
Probes for in-place writes: of a tensor in a graph, of an argument, of shared memory, unseen by autograd; and for none.

Pure functions of a case and what the child saw.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from torchlint.rule import Observed
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words, is_data
from torchlint.verify.probe import Probe
from torchlint.verify.protocol import Execution, Facts, Outcome, Write


def _subject(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    name = claim.subject or programs.written(statement) or ""
    return (name,) if name and programs.is_place(name) else ()


def _of_subject(case: Case, claim: Observed, outcome: Outcome) -> list[Write]:
    """The writes of the finding's own statement, of the named tensor where that can be told."""
    memories = {
        execution.before[name].get("memory")
        for name in _subject(claim, case.own.node)
        for execution in case.executions(outcome)
        if is_data(execution.before.get(name))
    }
    return [write for write in case.writes(outcome) if not memories or write.memory in memories]


def graph_written(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """A tensor that is recorded, or becomes so, was written at the place."""
    writes = _of_subject(case, claim, outcome)
    for write in writes:
        if write.grad_mode and (write.requires_grad or write.requires_grad_after):
            was = f"recorded by {write.grad_fn}" if write.grad_fn else "not recorded before"
            now = f"recorded by {write.grad_fn_after}" if write.grad_fn_after else "a leaf"
            return DraftVerdict(
                "confirmed",
                f"`{write.op}` wrote a tensor that was {was} and is now {now}; its version went "
                f"{write.before} → {write.after}{in_words(outcome)}",
            )
    if not case.seen(outcome, case.own).finished:
        return None
    if writes:
        return DraftVerdict("refuted", f"`{writes[0].op}` wrote a tensor that is in no graph, before or after")
    return DraftVerdict("refuted", "the statement ran, and no tensor was written in place")


def argument_written(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement wrote the named argument of its function; where `other` is named, that is read later."""
    for execution in case.executions(outcome):
        for name in _subject(claim, case.own.node):
            old, new = execution.before.get(name), execution.after.get(name)
            if not case.own.functions or not _given(case, outcome, name, execution):
                continue
            if old is None or new is None or not is_data(old) or old.get("memory") != new.get("memory"):
                continue
            if old.get("version") == new.get("version") and old["numbers"] == new["numbers"]:
                continue
            if claim.other and case.read_after(outcome, claim.other, execution.end) is None:
                return DraftVerdict(
                    "inconclusive", f"`{name}` was written, but `{claim.other}` was not read after that"
                )
            change = f"its version went {old['version']} → {new['version']}: it was {old['shown']}, is {new['shown']}"
            return DraftVerdict("confirmed", f"`{name}` was written in place, {change}{in_words(outcome)}")
    for write in case.writes(outcome):
        if write.argument and any(b.order < write.order < b.end for b in outcome.backwards):
            words = f"`{write.op}` wrote a tensor that backward had given it; its version went "
            return DraftVerdict("confirmed", f"{words}{write.before} → {write.after}{in_words(outcome)}")
    return None


def incoming_written(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """While a backward runs the statement writes the subject, another name of a tensor that its function was given."""
    for execution in case.executions(outcome):
        old, new = (facts.get(claim.subject) for facts in (execution.before, execution.after))
        if old is None or new is None or not is_data(old) or old["numbers"] == new.get("numbers"):
            continue
        running = any(each.order < execution.order < each.end for each in outcome.backwards)
        names = [n for n, f in execution.before.items() if n != claim.subject and f.get("identity") == old["identity"]]
        if running and names and case.own.functions[-1:] == ("backward",):
            words = f"`{claim.subject}` is `{names[0]}`, and was written: it was {old['shown']}, is {new['shown']}"
            return DraftVerdict("confirmed", words + in_words(outcome))
    return None


def _given(case: Case, outcome: Outcome, name: str, execution: Execution) -> bool:
    """Whether a name still meant, before the statement, the tensor that it meant when its function began."""
    if case.entry is case.own:
        return True
    began = [each for each in case.executions(outcome, case.entry) if each.order < execution.order]
    start = began[-1].before.get(name) if began else None
    now = execution.before.get(name)
    return start is not None and now is not None and is_data(start) and start.get("memory") == now.get("memory")


def _two(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return tuple(name for name in (*_subject(claim, statement), claim.other) if name and programs.is_place(name))


def alias_changed(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """`other` shares the memory of the subject that the statement writes, changes with it, and is read after that."""
    apart = False
    for execution in case.executions(outcome):
        old, new = execution.before.get(claim.other), execution.after.get(claim.other)
        written = execution.before.get(claim.subject) if claim.subject else None
        if written is not None and written["kind"] == "missing":  # the model's name for it is none of the program's
            written = None
        if old is None or new is None or not is_data(old) or new.get("memory") != old.get("memory"):
            continue
        if written is not None and (not is_data(written) or written["identity"] == old["identity"]):
            continue
        if written is not None and written.get("memory") != old.get("memory"):
            apart = True
            continue
        hit = [w for w in case.writes(outcome) if w.memory == old.get("memory")]
        if old["numbers"] == new["numbers"] and not hit:
            apart = apart or not execution.raised
            continue
        if case.read_after(outcome, claim.other, execution.end) is None:
            return DraftVerdict("inconclusive", f"`{claim.other}` changes with the write, and is not read after that")
        partner = f" with `{claim.subject}`" if claim.subject else " that the statement writes"
        change = f"it was {old['shown']}, is {new['shown']}"
        if old["numbers"] == new["numbers"]:
            change = "the values came out the same"
        return DraftVerdict("confirmed", f"`{claim.other}` shares memory{partner}: {change}{in_words(outcome)}")
    return DraftVerdict("refuted", "the write ran, and nothing that shares its memory changed") if apart else None


def kept_changed(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """`other`, bound by the statement to a gradient or a container of some, holds other values where it is read."""
    if not programs.reads_gradient(case.own.node) or (claim.subject and not claim.subject.endswith(".grad")):
        return None
    made = [e for e in case.executions(outcome) if not e.raised and claim.other in e.after]
    for execution in made:
        old, gradient = execution.after[claim.other], execution.after.get(claim.subject)
        if not _memories(old) or (is_data(gradient) and gradient is not None and gradient["memory"] not in _held(old)):
            continue
        for statement in (*case.places[1:], *case.readers):
            for later in case.executions(outcome, statement):
                new = later.before.get(claim.other)
                if new is None or later.order <= execution.end or _memories(new) != _memories(old):
                    continue
                if new.get("numbers") != old.get("numbers"):
                    words = f"`{claim.other}` was {_shown(old)} when it was kept, and is {_shown(new)} where it is read"
                    return DraftVerdict("confirmed", f"{words}, in line {statement.line}{in_words(outcome)}")
    return None


def _held(found: Facts) -> tuple[int, ...]:
    return (found["memory"],) if is_data(found) else tuple(found.get("memories", ()))


def _memories(found: Facts) -> object:
    return found.get("memory") or found.get("memories") or None


def _shown(found: Facts) -> str:
    return found["shown"] or "[" + ", ".join(f"{number:.5g}" for number in (found.get("numbers") or [])[:4]) + ", …]"


def unseen_write(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The values of the subject changed and its version did not; with `other` "saved", a backward used the new ones."""
    for execution, old, new in _changes(case, claim, outcome):
        if old["numbers"] == new["numbers"] or old.get("version") != new.get("version"):
            continue
        words = (
            f"`{claim.subject}` was {old['shown']}, is {new['shown']}, and its version is {new['version']} as before"
        )
        if claim.other != "saved":
            return DraftVerdict("confirmed", words + in_words(outcome))
        for backward in outcome.backwards:
            if backward.order < execution.end or backward.raised:
                continue
            memories = (old.get("memory"), new.get("memory"))  # another one where `.data` was assigned
            if any(memory in memories and node < execution.first for node, memory in backward.saved):
                read = f"; the backward in line {backward.line} computed with the new values, without an error"
                return DraftVerdict("confirmed", words + read + in_words(outcome))
    return None


def _changes(case: Case, claim: Observed, outcome: Outcome) -> Iterator[tuple[Execution, Facts, Facts]]:
    for execution in case.executions(outcome):
        old, new = execution.before.get(claim.subject), execution.after.get(claim.subject)
        if old is not None and new is not None and is_data(old) and is_data(new):
            yield execution, old, new


def result_dropped(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement's value is a tensor (or a truth value) that is lost, and nothing was written."""
    for execution in case.executions(outcome):
        value = execution.value
        if value is None:
            continue
        for name, old in execution.before.items():
            new = execution.after.get(name, old)
            if value["identity"] == old["identity"]:
                return DraftVerdict("refuted", f"the call returns `{name}` itself")
            if _changed(old, new):
                return DraftVerdict("refuted", f"the call changes `{name}`: it was {old['shown']}, is {new['shown']}")
        writes = case.writes(outcome)
        if writes:
            return DraftVerdict("refuted", f"the call writes a tensor in place, by `{writes[0].op}`")
        if value["kind"] not in ("tensor", "number"):
            return DraftVerdict("refuted", f"the call returns {value['type']}, not a tensor")
        same = "".join(f"; `{name}` is as before: {f['shown']}" for name, f in execution.before.items() if f["shown"])
        return DraftVerdict("confirmed", f"the result, a {value['type']} {value['shown']}, is lost{same}")
    return None


def _changed(old: Facts, new: Facts) -> bool:
    return any(old.get(key) != new.get(key) for key in ("version", "numbers", "requires_grad", "grad_fn"))


def _receiver(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    name = claim.subject or programs.dropped_receiver(statement) or ""
    return (name,) if name and programs.is_place(name) else ()


def kept_on_context(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The subject, an attribute of a Function's context, is a tensor; with `other` "written", it is written later."""
    _, is_context = _context(claim, case.own.node)
    for execution in case.executions(outcome):
        kept = execution.after.get(claim.subject)
        if kept is None or kept["kind"] != "tensor" or not execution.before.get(is_context, {}).get("truth"):
            continue
        if claim.other != "written":
            words = f"`{claim.subject}` is a tensor that `saved_tensors` does not hold: its version is not checked"
            return DraftVerdict("confirmed", words + in_words(outcome))
        for write in outcome.writes:
            if write.memory == kept["memory"] and write.order > execution.end:
                words = f"`{write.op}` in line {write.line} wrote what `{claim.subject}` keeps; no version is checked"
                return DraftVerdict("confirmed", words + in_words(outcome))
        return DraftVerdict(
            "inconclusive", f"`{claim.subject}` is a tensor, and was not written after that in this run"
        )
    return None


def _context(claim: Observed, statement: ast.stmt) -> tuple[str, str]:
    owner = claim.subject.partition(".")[0]
    return claim.subject, f"isinstance({owner}, torch.autograd.function.FunctionCtx)"


def write_lost(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement writes into what an index of the subject gave, and not the subject's memory: that is as before."""
    if not _indexes(case.own.node, claim.subject):
        return None
    for execution in case.executions(outcome):
        old, new = execution.before.get(claim.subject), execution.after.get(claim.subject)
        if old is None or new is None or not is_data(old) or not is_data(new):
            continue
        writes = case.writes(outcome)
        if any(write.memory == old.get("memory") for write in writes) or old["numbers"] != new["numbers"]:
            return DraftVerdict("refuted", f"`{claim.subject}` was written: it was {old['shown']}, is {new['shown']}")
        given = isinstance(case.own.node, ast.Assign) and ast.unparse(case.own.node.targets[0]).endswith(".data")
        if (writes or given) and not execution.raised:
            op = writes[0].op if writes else ".data ="
            words = f"`{op}` wrote another tensor; `{claim.subject}` is as before: {new['shown']}"
            return DraftVerdict("confirmed", words + in_words(outcome))
    return None


def _indexes(statement: ast.stmt, subject: str) -> bool:
    """Whether a statement writes what an index of the subject gives: `s[i].fill_(0)`, `s[i][j] = 0`, `zeros_(s[i])`."""
    written: list[ast.expr] = []
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        written = [*call.args[:1], *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
    elif isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        written = [target.value for target in targets if isinstance(target, (ast.Subscript, ast.Attribute))]
    parts = (node for each in written for node in ast.walk(each) if isinstance(node, ast.Subscript))
    return any(ast.unparse(part.value) == subject for part in parts)


def source_overwritten(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """After the assignment the subject does not hold what `other`, its source, held before."""
    same = False
    for execution in case.executions(outcome):
        source, written = execution.before.get(claim.other), execution.after.get(claim.subject)
        if execution.raised or source is None or written is None or not is_data(source) or not is_data(written):
            continue
        same = source["numbers"] == written["numbers"]
        if not same:
            words = f"`{claim.other}` was {source['shown']}, and `{claim.subject}` has become {written['shown']}"
            return DraftVerdict("confirmed", words + in_words(outcome))
    return (
        DraftVerdict("inconclusive", f"`{claim.subject}` holds what `{claim.other}` held, in this run")
        if same
        else None
    )


_OF_PARTS = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.Constant,
    ast.UnaryOp,
    ast.USub,
    ast.Load,
)


def _part(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    """The subject; also a part of one: to take it does nothing but read."""
    try:
        nodes = ast.walk(ast.parse(claim.subject, mode="eval").body)
    except SyntaxError:
        return ()
    return (claim.subject,) if all(isinstance(node, _OF_PARTS) for node in nodes) else ()


def _plain(text: str) -> str:
    return ast.unparse(ast.parse(text, mode="eval").body)


def _parts(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    """The two parts, where the statement assigns the one to the other, and to evaluate them does nothing but read."""
    texts = (claim.subject, claim.other)
    match statement:
        case ast.Assign([target], value) if (ast.unparse(target), ast.unparse(value)) == tuple(map(_plain, texts)):
            pass
        case _:
            return ()
    nodes = [node for text in texts for node in ast.walk(ast.parse(text, mode="eval").body)]
    return texts if all(isinstance(node, _OF_PARTS) for node in nodes) else ()


def old_value_read(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """`other`, which the statement does not bind, holds other values after it than before, and is read after that."""
    name = claim.other
    if name in programs.assigned(case.own.node) or _is_for_effect(case.own.node, name):
        return DraftVerdict("refuted", f"the statement means `{name}` to change")
    same = False
    for execution in case.executions(outcome):
        old, new = execution.before.get(name), execution.after.get(name)
        if old is None or new is None or _memories(old) is None or _memories(old) != _memories(new):
            continue
        hit = [write for write in case.writes(outcome) if write.memory in _held(old)]
        if old.get("numbers") == new.get("numbers"):
            same = same or bool(hit)
            continue
        within = bool(case.finding.trace) and case.own.covers(case.finding.trace[-1].line)
        if not within and case.read_after(outcome, name.partition("[")[0], execution.end) is None:
            return DraftVerdict("inconclusive", f"`{name}` changes with the statement, and is not read after that")
        words = f"`{name}` was {_shown(old)} before the statement, and is {_shown(new)} where it is read"
        return DraftVerdict("confirmed", words + in_words(outcome))
    if same:
        return DraftVerdict("inconclusive", f"the values of `{name}` came out the same")
    if case.seen(outcome, case.own).finished and not case.writes(outcome):
        return DraftVerdict("refuted", "the statement ran, and no tensor was written in place")
    return None


def _is_for_effect(statement: ast.stmt, name: str) -> bool:
    """`x.mul_(2)`, `F.relu_(x)`, `act(x)` as a statement: the tensor that it is given is meant to change."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    receiver: ast.expr = call.func
    while isinstance(receiver, (ast.Attribute, ast.Call)):
        receiver = receiver.func if isinstance(receiver, ast.Call) else receiver.value
    return any(isinstance(each, ast.Name) and each.id == name for each in (receiver, *call.args))


def kept_again(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement puts a tensor into the subject that is in it already, and that was written since."""
    made = [each for each in case.executions(outcome) if not each.raised and claim.subject in each.after]
    for execution in made:
        held = list(execution.after[claim.subject].get("memories") or ())
        twice = {memory for memory in held if held.count(memory) > 1}
        between = [
            each.op for each in outcome.writes if each.memory in twice and made[0].order < each.order < execution.end
        ]
        stepped = [each for each in outcome.steps if each.kind == "step" and made[0].order < each.order < execution.end]
        if twice and (between or stepped):
            wrote = f"`{between[-1]}`" if between else "`step()`"
            words = (
                f"{len(held) - len(set(held)) + 1} elements of `{claim.subject}` are one tensor, which {wrote} wrote"
            )
            return DraftVerdict("confirmed", words + in_words(outcome))
    if len(made) < 2 or any("memories" not in each.after[claim.subject] for each in made):
        return None
    return DraftVerdict("refuted", f"`{claim.subject}` holds no tensor twice that was written in between")


def _other(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (claim.other,) if programs.is_place(claim.other) else ()


def _container(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (claim.subject,) if programs.is_place(claim.subject) else ()


PROBES: Mapping[str, Probe] = {
    "graph-written": Probe(graph_written, _subject),
    "argument-written": Probe(argument_written, _subject, entry=True, reads=True),
    "incoming-written": Probe(incoming_written, _subject, variables=True),
    "alias-written": Probe(alias_changed, _two, reads=True),
    "kept-written": Probe(kept_changed, _two, everywhere=True, reads=True),
    "old-value-read": Probe(old_value_read, _other, reads=True),
    "kept-again": Probe(kept_again, _container),
    "kept-on-context": Probe(kept_on_context, _context),
    "unseen-write": Probe(unseen_write, _part),
    "write-lost": Probe(write_lost, _subject),
    "source-overwritten": Probe(source_overwritten, _parts),
    "result-dropped": Probe(result_dropped, _receiver, capture=True),
}
