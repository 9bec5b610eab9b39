"""What an object holds is kept as long as the same values stand in its attributes, and no longer."""

from __future__ import annotations

import expectations
import libcst as cst
import pytest

from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection
from torchlint.model.state.guards import ALWAYS
from torchlint.model.state.held import held_by
from torchlint.model.state.trail import Trail
from torchlint.model.state.values import Choice, Class, Constant, Instance, Sequence, Unknown
from torchlint.syntax import ir


def an_object() -> Instance:
    name = cst.Name("State")
    return Instance(Class(ir.ClassDef(name, name, "State", [], [], []), "State", (), {}))


def test_what_an_object_holds_is_sorted() -> None:
    whole, other, nothing = an_object(), Unknown(), Sequence("list", ())
    part = Unknown(part_of=whole)
    whole.attributes = {"a": Constant(1), "b": Choice(((ALWAYS, Constant(None)), (ALWAYS, other))), "c": part}
    whole.attributes |= {"d": nothing, "e": an_object()}
    held = held_by(whole)
    assert held.unknown == [other, part]
    assert held.leading == [part, nothing, whole.attributes["e"]]
    assert held.modules == [whole.attributes["e"]]
    assert held_by(whole) is held


def test_what_is_set_is_seen_and_what_is_undone() -> None:
    trail, whole, first, second = Trail(), an_object(), Unknown(), Unknown()
    whole.attributes["a"] = first
    assert held_by(whole).unknown == [first]
    mark = trail.mark()
    trail.set(whole.attributes, "a", second)
    assert held_by(whole).unknown == [second]
    trail.undo(mark)
    assert held_by(whole).unknown == [first]
    trail.delete(whole.attributes, "a")
    assert held_by(whole).unknown == []


PROGRAM = """
import torch
from elsewhere import act


class State:
    def __init__(self):
        self.on = False


w = torch.zeros(2, requires_grad=True)
state = State()
act(state)
state.on = False
{again}
if state.on:
    w.add_(1)
"""


@pytest.mark.parametrize(("again", "codes"), [("", []), ("act(state)", ["TLN203"])])
def test_a_switch_that_was_set_again_is_turned_again(again: str, codes: list[str]) -> None:
    text = PROGRAM.format(again=again)
    found = check_text("/a.py", text, expectations.own(), Selection(frozenset({"TLN203"}))).findings
    assert [each.code for each in found] == codes
