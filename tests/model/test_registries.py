"""Which containers of a file stay as they are written, and what can be run to get at them."""

from __future__ import annotations

import pytest

from torchlint.model.python.registries import Changed, plain
from torchlint.syntax import ir
from torchlint.syntax.lowering import program_elsewhere, program_of


def _changes(text: str, name: str) -> bool:
    """Whether a file may change a container, whose functions are read; and the same of one that is another's."""
    said = [name in Changed(program.body) for program in (program_of(text), program_elsewhere(text))]
    assert said[0] == said[1]
    return said[0]


def test_functions_that_do_not_name_it_are_left_unread() -> None:
    body = program_elsewhere("acts, kinds = {}, {}\ndef f():\n    acts.clear()\ndef g():\n    kinds.clear()\n").body
    functions = [each for each in body if isinstance(each, ir.FunctionDef)]
    containers = Changed(body)
    assert [each.inside is None for each in functions] == [True, True]
    assert "acts" in containers
    assert [each.inside is None for each in functions] == [False, True]
    assert "kinds" in containers
    assert "acts" in containers


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
    assert not _changes(f"acts = {{'relu': 1}}\n{use}\n", "acts")


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
    assert _changes(f"acts = {{'relu': 1}}\n{use}\n", "acts")


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
    (statement,) = program_of(f"x = {value}\n").body
    assert isinstance(statement, ir.Assign)
    assert plain(statement.value) is expected
