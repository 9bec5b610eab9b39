"""TLN809 of poolings, which only a GPU refuses: to another size than 1 they are warned of, and to 1 they are a mean."""

from __future__ import annotations

import pytest
from expectations import lint

TEXT = """
import torch
from torch import nn
import torch.nn.functional as F

def train(size, n):
    torch.use_deterministic_algorithms(True)
    x = torch.rand(1, 3, 8, 8, 8, device="cuda", requires_grad=True)
    y = {}
    y.sum().backward()
"""


@pytest.mark.parametrize(
    ("call", "is_told"),
    [
        ("nn.AdaptiveAvgPool3d(2)(x)", True),
        ("nn.AdaptiveAvgPool3d((1, 1, 2))(x)", True),
        ("F.adaptive_avg_pool3d(x, (None, 7, 7))", True),
        ("F.adaptive_avg_pool2d(x[0], output_size=4)", True),
        ("nn.AdaptiveMaxPool2d(1)(x[0])", True),
        ("nn.AdaptiveAvgPool3d(1)(x)", False),
        ("nn.AdaptiveAvgPool3d((1, 1, 1))(x)", False),
        ("nn.AdaptiveAvgPool2d(output_size=[1, 1])(x[0])", False),
        ("F.adaptive_avg_pool2d(x[0], output_size=1)", False),
        ("nn.AdaptiveAvgPool3d(size)(x)", False),
        ("F.adaptive_avg_pool3d(x, (n, n, n))", False),
    ],
)
def test_pooling(call: str, is_told: bool) -> None:
    found = [(each.code, each.level.value) for each in lint(TEXT.format(call)).findings]
    assert found == ([("TLN809", "warning")] if is_told else [])
