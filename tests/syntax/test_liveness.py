"""Whether what an assignment binds may be read: every program below binds `x` in the line that ends with `# here`."""

from __future__ import annotations

import pytest

from torchlint.syntax import ir, liveness
from torchlint.syntax.lowering import program_of

READ = {
    "next line": "x = 1  # here\nprint(x)",
    "one arm": "x = 1  # here\nif a:\n    x = 2\nprint(x)",
    "test of a branch that binds it": "if x:\n    x = 1  # here\nelse:\n    pass\nprint(x)",
    "other arm": "if a:\n    pass\nelse:\n    x = 1  # here\nprint(x)",
    "next iteration": "for i in a:\n    print(x)\n    x = 1  # here",
    "after a loop that may not run": "x = 1  # here\nfor i in a:\n    x = 2\nprint(x)",
    "after a break": "while True:\n    x = 1  # here\n    break\nprint(x)",
    "continue": "for i in a:\n    print(x)\n    x = 1  # here\n    continue",
    "handler": "x = 1  # here\ntry:\n    x = f()\nexcept E:\n    print(x)",
    "finally": "try:\n    x = 1  # here\n    x = f()\nfinally:\n    print(x)",
    "suppressed": "x = 1  # here\nwith suppress(E):\n    x = f()\nprint(x)",
    "function": "x = 1  # here\ndef f():\n    return x",
    "locals": "x = 1  # here\nprint(locals())",
    "augmented": "x = 1  # here\nx += 1",
    "own value": "x = 1  # here\nx = x + 1",
    "element": "x = []  # here\nx[0] = 1",
    "deleted": "x = 1  # here\ndel x",
    "comprehension": "x = 1  # here\ny = [x for i in a]",
    "match": "x = 1  # here\nmatch a:\n    case 1:\n        x = 2\nprint(x)",
}
LOST = {
    "bound anew": "x = 1  # here\nx = 2\nprint(x)",
    "in both arms": "x = 1  # here\nif a:\n    x = 2\nelse:\n    x = 3\nprint(x)",
    "in one of the same arm": "if a:\n    x = 1  # here\n    x = 2\nelse:\n    x = 3\nprint(x)",
    "never": "x = 1  # here\nprint(y)",
    "in each iteration": "for i in a:\n    x = 1  # here\n    x = 2\n    print(x)",
    "at the end of an iteration": "for i in a:\n    x = 0\n    print(x)\n    x = 1  # here",
    "in a block of a context": "with autocast():\n    x = 1  # here\n    x = 2\nprint(x)",
}


def _may_be_read(text: str) -> bool:
    program = program_of(text)
    line = next(number for number, each in enumerate(text.splitlines(), start=1) if each.endswith("# here"))
    found = [
        each
        for each in ir.everything(program.body)
        if isinstance(each, ir.Assign) and getattr(each.at, "lineno", 0) == line
    ]
    assert len(found) == 1
    return liveness.may_be_read(program.body, found[0], "x")


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_it_may_be_read(text: str) -> None:
    assert _may_be_read(text)


@pytest.mark.parametrize("text", LOST.values(), ids=LOST)
def test_it_is_lost(text: str) -> None:
    assert not _may_be_read(text)
