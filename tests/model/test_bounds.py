"""
The bounds of an exponent (`observers/numerics/bounds`), with torch as judge: where TLN605 says nothing of
`log(1 + exp(e))`, no input makes it infinite.
"""

from __future__ import annotations

import random

import pytest
import torch

from .. import expectations

_UNARY = (
    "-{0}", "{0}.abs()", "torch.relu({0})", "{0} ** 2", "{0}.pow(3)", "{0}.square()", "torch.tanh({0})",
    "F.softplus({0})", "F.logsigmoid({0})", "torch.sigmoid({0})", "torch.cos({0})", "{0}.clamp(max=5.0)",
    "{0}.clamp(min=-5.0)", "{0}.clamp(-3, 7)", "{0} / 3", "{0} * -2.0", "{0} + 1.5", "4 - {0}", "{0}.unsqueeze(0)",
    "{0}[:2]", "{0}.sum()", "{0}.mean()", "{0} - {0}.max()", "torch.norm({0})", "{0}.detach()",
)  # fmt: skip
_BINARY = (
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "torch.minimum({0}, {1})", "torch.maximum({0}, {1})",
    "torch.where(x > y, {0}, {1})",
)  # fmt: skip
_INPUTS = ((-1e3, 1e3, 0.5), (1e3, -1e3, -0.5), (30.0, 25.0, 60.0), (-30.0, -25.0, -60.0), (0.0, 1.0, -1.0))


def _exponent(choose: random.Random, depth: int) -> str:
    if depth == 0:
        return choose.choice("xy")
    if choose.random() < 0.25:
        both = (_exponent(choose, 1), _exponent(choose, 1))
        return f"({choose.choice(_BINARY).format(*both)})"
    return f"({choose.choice(_UNARY).format(_exponent(choose, depth - 1))})"


def _overflows(exponent: str) -> bool:
    for first in _INPUTS:
        for second in _INPUTS:
            names = {"x": torch.tensor(first), "y": torch.tensor(second), "torch": torch, "F": torch.nn.functional}
            try:
                value = eval(exponent, names)
            except (RuntimeError, IndexError):  # shapes that do not fit
                continue
            if value.exp().isinf().any():
                return True
    return False


@pytest.mark.parametrize("seed", range(4))
def test_what_is_silent_never_overflows(seed: int) -> None:
    choose = random.Random(seed)
    exponents = [_exponent(choose, choose.randint(1, 4)) for _ in range(60)]
    lines = [
        f"def f{number}(x, y):\n    return torch.log(1 + torch.exp({each}))\n" for number, each in enumerate(exponents)
    ]
    program = "import torch\nimport torch.nn.functional as F\n\n" + "\n".join(lines)
    report = expectations.lint(program, strict=True)
    found = {finding.span.line for finding in report.findings if finding.code == "TLN605"}
    silent = [each for number, each in enumerate(exponents) if 5 + 3 * number not in found]
    assert found
    assert len(silent) > 10
    assert [each for each in silent if _overflows(each)] == []
