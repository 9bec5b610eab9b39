"""Which containers of a file stay as they are written, and what can be run to get at them."""

from __future__ import annotations

import pytest

from torchlint.model.python.registries import changed, plain
from torchlint.syntax import ir
from torchlint.syntax.lowering import program_of


def _program(text: str) -> list[ir.Statement]:
    return program_of(text).body


@pytest.mark.parametrize(
    "use",
    [
        "x = acts['relu']",
        "x = acts.get('relu')",
        "if 'relu' in acts: pass",
        "for name in acts: print(name)",
        "for name, kind in acts.items(): print(kind)",
        "names = [name for name in acts]",
        "makers = Makers(acts)",
        "n = len(acts)",
        "def build(name):\n    return acts[name]()",
    ],
)
def test_what_only_reads(use: str) -> None:
    assert "acts" not in changed(_program(f"acts = {{'relu': 1}}\n{use}\n"))


@pytest.mark.parametrize(
    "use",
    [
        "acts['relu'] = 2",
        "acts.update(relu=2)",
        "acts.setdefault('elu', 2)",
        "del acts['relu']",
        "acts |= {'elu': 2}",
        "both = (acts, others)",
        "register(acts)",
        "def register(name, kind):\n    acts[name] = kind",
        "def everything():\n    return acts",
        "same = acts",
        "config = {'acts': acts}",
    ],
)
def test_what_may_change_it(use: str) -> None:
    assert "acts" in changed(_program(f"acts = {{'relu': 1}}\n{use}\n"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{'relu': nn.ReLU, 'leaky': (nn.LeakyReLU, {'slope': 0.2})}", True),
        ("dict(relu=nn.ReLU)", True),
        ("{kind for name, kind in KINDS.items()}", True),
        ("functools.partial(nn.GELU, approximate='tanh')", True),
        ("nn.SiLU if HAS_SILU else Swish", True),
        ("Makers(KINDS)", True),
        ("load('kinds.json')", False),
        ("{'relu': make()}", False),
        ("dict(**others)", False),
        ("Registry('kinds')", False),
        ("[make(name) for name in names]", False),
    ],
)
def test_what_runs_nobodys_code(value: str, expected: bool) -> None:
    (statement,) = _program(f"x = {value}\n")
    assert isinstance(statement, ir.Assign)
    assert plain(statement.value) is expected
