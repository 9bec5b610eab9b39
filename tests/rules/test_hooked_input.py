"""What a hooked module was given may be written: torch raises where a backward looks at it, and only there."""

from __future__ import annotations

import expectations

from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection

PROGRAM = """
import torch
from torch import nn

pool = nn.AvgPool1d(2)
pool.register_full_backward_hook(print)
x = nn.Linear(4, 4)(torch.rand(1, 4))
y = pool(x)
x += 1
if input():
    y.sum().backward()
"""


def test_the_backward_is_part_of_the_proof() -> None:
    (found,) = check_text("/a.py", PROGRAM, expectations.own(), Selection(frozenset({"TLN512"}))).findings
    assert found.span.line == PROGRAM.splitlines().index("x += 1") + 1
    assert [step.line for step in found.trace] == [len(PROGRAM.splitlines())]
