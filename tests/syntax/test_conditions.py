"""Keys of conditions: equal where the truth is equal, different where it may differ, absent where anything happens."""

from __future__ import annotations

import itertools
import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlint.syntax import ir
from torchlint.syntax.conditions import Key, key
from torchlint.syntax.lowering import program_of


def key_of(text: str) -> Key | None:
    statement = program_of(f"({text})\n").body[0]
    assert isinstance(statement, ir.ExpressionStatement)
    return key(statement.value)


def pure(text: str) -> Key:
    found = key_of(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", ("x", {"x"}, False)),
        ("not x", ("x", {"x"}, True)),
        ("not not x", ("x", {"x"}, False)),
        ("x is not None", ("x is None", {"x"}, True)),
        ("not x is not None", ("x is None", {"x"}, False)),
        ("x != y", ("x == y", {"x", "y"}, True)),
        ("x not in y", ("x in y", {"x", "y"}, True)),
        ("x <= 1", ("x <= 1", {"x"}, False)),
        ("self.training", ("self.training", {"self", "self.training"}, False)),
        ("not self.a.b[0].c", ("self.a.b[0].c", {"self", "self.a", "self.a.b"}, True)),
        ("x.shape[-1] % 2 == 0", ("(x.shape[-1] % 2) == 0", {"x", "x.shape"}, False)),
        ("isinstance(x, (A, b.C))", ("isinstance(x, (A, b.C,))", {"x", "A", "b", "b.C"}, False)),
        ("hasattr(x, 'y')", ("hasattr(x, 'y')", {"x"}, False)),
        ("len(x) > 0", ("0 < len(x)", {"x"}, False)),
        ("a and b", ("a and b", {"a", "b"}, False)),
        ("a or b", ("not a and not b", {"a", "b"}, True)),
        ("True", ("True", set(), False)),
        ("not 0", ("0", set(), True)),
        ("0 < x < 2", ("0 < x < 2", {"x"}, False)),
        ("x[1:2, ..., ::-1]", ("x[(1:2:, ..., ::-1,)]", {"x"}, False)),
        ("-x == 1", ("(-x) == 1", {"x"}, False)),
        ("x in {1, 2}", ("x in {1, 2}", {"x"}, False)),
    ],
)
def test_key(text: str, expected: tuple[str, set[str], bool]) -> None:
    assert key_of(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a == 1", "1 == a"),
        ("a is b", "b is a"),
        ("a < b", "b > a"),
        ("a <= b", "b >= a"),
        ("a != b", "not b == a"),
        ("a and b", "b and a"),
        ("(a and b) and c", "a and (b and c)"),
        ("a or (b or c)", "c or b or a"),
        ("not (a and b)", "not a or not b"),
        ("a and not b", "not (not a or b)"),
        ("a and (b or c)", "not (not a or (not c and not b))"),
        ("bool(a)", "a"),
        ("a or a", "a and a"),
        ("a['x']", 'a["x"]'),
        ("a is not None and b", "not (not b or None is a)"),
        ("(not a) == b", "(not a) == b"),
    ],
)
def test_same_condition_has_the_same_key(one: str, other: str) -> None:
    assert pure(one) == pure(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a >= b", "a < b"),  # with NaN both are false
        ("a", "a is not None"),
        ("a == 1", "a == 1.0"),
        ("a == 1", "a == True"),
        ("a == '1'", "a == 1"),
        ("a == b'x'", "a == 'x'"),
        ("a == b + c", "a == c + b"),
        ("a + b == c", "a + (b == c)"),
        ("a * (b + c)", "a * b + c"),
        ("(a == b) == c", "a == b == c"),
        ("(a or b) == c", "(b or a) == c"),
        ("(not a) == b", "(not not a) == b"),
        ("a[0]", "a['0']"),
        ("a[1:]", "a[:1]"),
        ("a[1]", "a[1,]"),
        ("a in (b, c)", "a in [b, c]"),
        ("a == 1e999", "a == inf"),
        ("a == ...", "a == Ellipsis"),
        ("a and b or c", "a and (b or c)"),
        ("a.b", "a[b'b']"),
        ("a == (b,)", "a == b"),
    ],
)
def test_other_condition_has_another_key(one: str, other: str) -> None:
    assert pure(one)[0] != pure(other)[0]


@pytest.mark.parametrize(
    "text",
    [
        "f(x)", "x.any()", "torch.is_grad_enabled()", "(x := 1)", "x[i]", "x[f()]", "x[-i]", "x[1, i]", "x[:i]",
        "lambda: x", "[a for a in b]", "f'{x}'", "len(*x)", "isinstance(x, f())", "a and f()", "not f()", "a == f()",
        "a < b < f()", "(a, *b)", "{**a}", "a if b else c", "await x", "(yield)", "a + f()", "-f()", "f().a",
        "bool()(x)",
        "bool(f())", "getattr(x, 'y')()",
    ],
)  # fmt: skip
def test_impure_has_none(text: str) -> None:
    assert key_of(text) is None


def test_absurd_depth_has_none_and_absurd_length_has_one() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        assert key_of("a" + " + b" * 500) is None
        assert key_of("not " * 200 + "a") is None
        assert key_of("a" + ".b" * 200) is None
        assert pure(" and ".join(["b", "a"] * 500)) == ("a and b", {"a", "b"}, False)
    finally:
        sys.setrecursionlimit(limit)


NAMES = ["a", "b", "c"]
_ATOMS = st.sampled_from(
    [*NAMES, "a == b", "a != b", "b < c", "c > b", "a is None", "a is not None", "c == 1", "0 <= a"]
)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner.map("(not {})".format),
        inner.map("bool({})".format),
        *(st.tuples(inner, inner).map(lambda two, op=op: f"({two[0]} {op} {two[1]})") for op in ("and", "or", "==")),
        st.tuples(inner, inner, inner).map(lambda three: f"({' and '.join(three)})"),
    )


VALUES = [None, 0, 1, 2.5, math.nan]


def truths(text: str) -> list[object]:
    """The truth of an expression for each choice of values; an exception's type where it raises."""
    found: list[object] = []
    for values in itertools.product(VALUES, repeat=len(NAMES)):
        try:
            found.append(bool(eval(text, {}, dict(zip(NAMES, values, strict=True)))))
        except TypeError:
            found.append(TypeError)
    return found


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.recursive(_ATOMS, _compound, max_leaves=6))
def test_text_is_python_with_the_truth_it_claims(condition: str) -> None:
    text, reads, negated = pure(condition)
    assert reads <= set(NAMES)
    for original, positive in zip(truths(condition), truths(text), strict=True):
        # The order of a conjunction is lost, and with it which operand is never evaluated.
        if TypeError not in (original, positive):
            assert original is (positive is not negated)
