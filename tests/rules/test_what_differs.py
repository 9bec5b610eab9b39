"""TLN902 says in what that differs which takes the place of something."""

from __future__ import annotations

import pytest
from expectations import lint


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("torch.range(0, 5)", "which leaves out the end"),
        ("torch.range(0, end=5)", "which leaves out the end"),
        ("torch.range(*given)", "which leaves out the end"),
        ("torch.range(5)", "takes a start and an end: TypeError"),
        ("torch.triangular_solve(a, b)", "which is no drop-in"),
    ],
)
def test_what_differs(call: str, said: str) -> None:
    [found] = lint(f"import torch\n\nmade = {call}\n", path="/nowhere/x.py", codes=["TLN902"]).findings
    assert said in found.message
