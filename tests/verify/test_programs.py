"""Texts with one thing changed, and where statements stand."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlint.rule import Finding, Level, TextEdit, TraceLine
from torchlint.syntax.tree import Span
from torchlint.verify import instrument, programs
from torchlint.verify.programs import Program
from torchlint.verify.protocol import (
    Backward,
    Execution,
    Outcome,
    Raised,
    Request,
    Seen,
    WatchedStatement,
    Write,
    decode,
    encode,
)

TEXT = """\
import torch
if torch.ones(1):
    ü = "ä"; total.backward(
        retain_graph=True,
    )  # why
    total.backward(None, True, create_graph=False)
class Net:
    @property
    def f(self):
        for x in self: x.mul_(2)
        return 1
"""


def statement(text: str, line: int, column: int = 1) -> programs.Statement:
    found = Program(text).statement_at(line, column)
    assert found is not None
    return found


def test_statements_are_found_by_place() -> None:
    assert ast.unparse(statement(TEXT, 3).node).startswith("total.backward")
    assert ast.unparse(statement(TEXT, 3, 5).node) == "ü = 'ä'"
    assert ast.unparse(statement(TEXT, 3, 14).node).startswith("total.backward")
    assert statement(TEXT, 3, 14).end_line == 5
    assert ast.unparse(statement(TEXT, 10, 24).node) == "x.mul_(2)"
    inner = statement(TEXT, 10, 24)
    assert (inner.classes, inner.functions, inner.in_loop) == (("Net",), ("f",), True)
    assert isinstance(statement(TEXT, 10, 9).node, ast.For)
    assert statement(TEXT, 2).end_line == 2
    assert Program("\n\n# nothing\n").statement_at(2) is None


def test_arguments_are_left_out_and_lines_kept() -> None:
    program = Program(TEXT)
    text = programs.without_argument(program, statement(TEXT, 3, 14), "retain_graph", 1)
    assert text is not None
    assert len(text.splitlines()) == len(TEXT.splitlines())
    assert 'ü = "ä"; total.backward()' in text
    assert "# why" in text
    assert ast.unparse(statement(text, 6).node) == ast.unparse(statement(TEXT, 6).node)
    text = programs.without_argument(program, statement(TEXT, 6), "retain_graph", 1)
    assert text is not None
    assert "total.backward(None, False, create_graph=False)" in text
    assert programs.without_argument(program, statement(TEXT, 10, 24), "retain_graph", 1) is None


def test_two_backwards_become_one() -> None:
    text = "a.backward(retain_graph=True)\nx = 1\n(b * 2).backward()\nc.backward(g)\n"
    program = Program(text)
    first, second, third = (statement(text, line) for line in (1, 3, 4))
    first, second, third = (program.statement_at(line) or first for line in (1, 3, 4))
    assert programs.summed(program, first, second) == "pass\nx = 1\n((a) + (b * 2)).backward()\nc.backward(g)\n"
    assert programs.summed(program, second, first) is None
    assert programs.summed(program, first, third) is None


def test_edits_of_a_fix() -> None:
    text = "c *= 2\nd = c\nc *= 3"
    edits = (TextEdit(Span(3, 1, 3, 7), "c = c * 3"), TextEdit(Span(1, 1, 1, 7), "c = c * 2"))
    assert Program(text).edited(edits) == "c = c * 2\nd = c\nc = c * 3"
    assert Program(text).edited((TextEdit(Span(2, 1, 3, 1), ""),)) == "c *= 2\nc *= 3"


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("c *= 2", "c"),
        ("c[0] += 1", "c"),
        ("self.h[:, 1] = 2", "self.h"),
        ("c.mul_(2)", "c"),
        ("c.data.mul_(2)", "c"),
        ("z = c.mul_(2)", "c"),
        ("c.mul(2)", None),
        ("optimizer.step()", None),
        ("f(x)[0] = 1", None),
        ("c.__iadd__(1)", None),
    ],
)
def test_what_a_statement_writes(text: str, target: str | None) -> None:
    assert programs.written(ast.parse(text).body[0]) == target


def test_names_in_a_finding() -> None:
    trace = (TraceLine("a.py", 1, 1, "`detach()` shares memory with `self.c`"),)
    finding = Finding("a.py", Span(1, 1, 1, 2), "X", "x", Level.ERROR, "`c` and `c` and `d[0]`, `*`, `f(x)`", trace)
    assert programs.quoted_names(finding) == ["c", "d[0]", "self.c"]
    assert programs.places_in(ast.parse("a.b[0] = f(c, lambda q: q)").body[0]) == ["a.b[0]", "a.b", "a", "f", "c"]
    assert programs.assigned(ast.parse("a, self.b = c[0] = f()").body[0]) == ["a", "self.b"]
    assert programs.grad_places(ast.parse("x.y.grad.data.zero_()").body[0]) == ["x.y.grad"]
    assert programs.dropped_receiver(ast.parse("x.clamp(0)").body[0]) == "x"
    assert programs.dropped_receiver(ast.parse("f().clamp(0)").body[0]) is None


PROBED = '''\
"""doc"""
from __future__ import annotations
events = []
def f(n):
    while True:
        try:
            if n > 1: raise ValueError("n")
            elif n: return "one"
            else: break
        except KeyError: pass
        finally: events.append(n)
    return "zero"
class A:
    __private = 1
    value = __private + 1
results = [f(0), f(1)]
f(2)
results.append(3); results.append(4)
'''


def _run(
    watches: list[WatchedStatement], catch: list[tuple[int, int]]
) -> tuple[dict[str, object], list[tuple[str, object]]]:
    import builtins

    log: list[tuple[str, object]] = []
    for name in (instrument.BEFORE, instrument.AFTER, instrument.CAUGHT):
        setattr(builtins, name, lambda what, name=name: log.append((name, what)))
    setattr(builtins, instrument.VALUE, lambda index, value: (log.append((instrument.VALUE, value)), value)[1])
    space: dict[str, object] = {}
    try:
        exec(instrument.instrument(PROBED, "probed", watches, catch), space)
    finally:
        for name in (instrument.BEFORE, instrument.AFTER, instrument.CAUGHT, instrument.VALUE):
            delattr(builtins, name)
    return space, log


def test_probes_change_nothing_and_see_everything() -> None:
    statements = Program(PROBED).statements
    watches = [WatchedStatement(s.line, s.column, capture=True) for s in statements]
    failing = next(s for s in statements if s.line == 17)
    space, log = _run(watches, [(failing.line, failing.column)])
    assert space["results"] == ["zero", "one", 3, 4]
    assert space["events"] == [0, 1, 2]
    assert space["__doc__"] == "doc"
    errors = [what for name, what in log if name == instrument.CAUGHT]
    assert [str(e) for e in errors] == ["n"]
    lines = []
    trace = errors[0].__traceback__ if isinstance(errors[0], ValueError) else None
    while trace is not None:
        lines.append(trace.tb_lineno)
        trace = trace.tb_next
    assert lines == [17, 7]
    seen = {watches[index].line for name, index in log if name == instrument.BEFORE and isinstance(index, int)}
    unseen = {s.line for s in statements} - seen
    assert unseen == {1, 2, 10}, "what must stay first can't be watched, and the KeyError never came"


def test_definitions_only() -> None:
    text = "x = 1 / 0\nprint(hidden)\nclass A: pass\nif __name__ == '__main__': raise SystemExit\nfor i in A: pass\n"
    import builtins

    setattr(builtins, instrument.CAUGHT, lambda error: None)
    try:
        space: dict[str, object] = {"__name__": "m"}
        exec(instrument.instrument(text, "text", definitions_only=True), space)
    finally:
        delattr(builtins, instrument.CAUGHT)
    assert "A" in space
    assert "i" not in space


FACTS = st.dictionaries(st.sampled_from(["kind", "type"]), st.text(max_size=3))
NAMED = st.dictionaries(st.text(max_size=3), FACTS, max_size=2)
COUNT = st.integers(0, 9)
RAISED = st.builds(Raised, st.text(), st.text(), st.tuples(COUNT), st.text())
OUTCOMES = st.builds(
    Outcome,
    st.sampled_from(["ended", "raised", "time"]),
    st.none() | RAISED,
    st.tuples(RAISED),
    st.tuples(st.text()),
    st.tuples(st.builds(Seen, COUNT, COUNT, st.tuples(st.builds(Execution, NAMED, NAMED, st.none() | FACTS)))),
    st.tuples(
        st.builds(
            Write,
            *(COUNT, st.tuples(COUNT), st.text(), COUNT, COUNT, st.booleans(), st.booleans(), st.text()),
            *(st.booleans(), st.text(), st.booleans(), COUNT),
        )
    ),
    st.tuples(st.builds(Backward, COUNT, st.tuples(COUNT, COUNT), st.booleans(), st.tuples(COUNT), NAMED, NAMED)),
    st.none() | NAMED,
    st.none() | NAMED,
)
REQUESTS = st.builds(
    Request,
    st.text(),
    watches=st.tuples(st.builds(WatchedStatement, COUNT, COUNT, st.tuples(st.text()), st.booleans(), st.booleans())),
    catch=st.tuples(st.tuples(COUNT, COUNT)),
    probes=st.tuples(st.text()),
)


@settings(max_examples=30, deadline=None)
@given(OUTCOMES, REQUESTS)
def test_frames_carry_everything(outcome: Outcome, request: Request) -> None:
    assert decode(Outcome, encode(outcome)) == outcome
    assert decode(Request, encode(request)) == request
