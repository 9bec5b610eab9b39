"""Which test of a file is said to keep a place from what an old torch does not have."""

from __future__ import annotations

import pytest
from expectations import lint

HEAD = """# /// script
# dependencies = ["torch>=2.0"]
# ///
import torch
from torch import nn

def layer(x, is_new=torch.compile):
"""
USE = "nn.LayerNorm(3, bias=False)"
ASKS = "if is_legacy(torch): return"


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        (f"{ASKS}\nprint({USE})", False),  # whoever leaves has been asked about
        (f"if is_legacy(torch): x = None\nif x: return {USE}", True),
        (f"print({USE})\n{ASKS}", False),
        (f"while x:\n    print({USE})\n    {ASKS}", False),
        (f"def made(): return {USE}\n{ASKS}\nmade()", True),
        (f"made = lambda: {USE}\n{ASKS}\nmade()", True),
        (f"if x:\n    {ASKS}\nelse:\n    print({USE})", False),
        (f"while x:\n    if x.first:\n        {ASKS}\n    else:\n        print({USE})", True),
    ],
)
def test_a_test_that_comes_later_keeps_nothing(body: str, asks: bool) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    messages = [each.message for each in lint(text).findings if each.code == "TLN907"]
    if body.startswith(ASKS):
        assert not messages
    else:
        assert ["asks for it" in each for each in messages] == [asks]
