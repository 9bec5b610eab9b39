"""A value that somebody may have put another in the place of."""

from __future__ import annotations

import libcst as cst

from torchlint.model.state.another import or_another
from torchlint.model.state.tensors import GRAD_NO, unknown_guard
from torchlint.model.state.values import Choice, Constant, Tensor, Unknown
from torchlint.syntax import ir


def test_what_may_be_anything_already_stays_as_it_is() -> None:
    once = or_another(Constant(True))
    assert isinstance(once, Choice)
    assert [type(each) for _, each in once.alternatives] == [Constant, Unknown]
    assert or_another(once) is once


def test_one_that_is_certain_on_its_path_is_not() -> None:
    known = Choice(((frozenset({(1, 1)}), Constant(None)), (unknown_guard(), Unknown())))
    other = or_another(known)
    assert isinstance(other, Choice)
    assert len(other.alternatives) == 3
    assert or_another(other) is other


def test_nor_one_that_comes_from_elsewhere() -> None:
    node = ir.Name(cst.Name("x"), "x")
    known = Choice(((unknown_guard(), Constant(None)), (unknown_guard(), Unknown(source=node))))
    assert or_another(known) is not known


def test_nor_one_that_does_not_come_from_the_same_tensors() -> None:
    node = ir.Name(cst.Name("x"), "x")
    one, other = (Tensor(origin=node, line=cst.Name("x"), born=0, made_by="torch.rand", own=GRAD_NO) for _ in range(2))
    known = or_another(Constant(None), [one])
    assert or_another(known) is known
    assert or_another(known, [one]) is known
    assert or_another(known, [one, other]) is not known
