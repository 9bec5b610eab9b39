"""
Torch's own words about autograd, by which its errors are known, and how they are quoted.

Sources: torch/csrc/autograd/saved_variable.cpp, variable.cpp, VariableTypeUtils.h, torch/autograd/__init__.py.
"""

from __future__ import annotations

from torchlint.verify.protocol import Raised

FREED = "Trying to backward through the graph a second time"
OVERWRITTEN = "modified by an inplace operation"
BASE_WRITTEN = "its base has been modified inplace"


def message(raised: Raised) -> str:
    """`RuntimeError in line 7: …`, torch's own words on one line, without its explanations and hints."""
    where = f" in line {raised.lines[-1]}" if raised.lines else f" in its {raised.phase}"
    if not raised.lines and raised.phase == "program":
        where = ""
    text = " ".join(raised.message.partition(" Hint: ")[0].split())
    if FREED in text:
        text = text.partition(" (or directly")[0]
    return f"{raised.type}{where}: {text[:400].rstrip('.')}"
