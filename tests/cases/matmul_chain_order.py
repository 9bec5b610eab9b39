# ruff: noqa
"""Programs for TLN702."""

import torch
import torch.nn as nn
from torch.utils.flop_counter import FlopCounterMode


def low_rank_layer():
    """Holds: counter.get_total_flops() > 300_000_000"""

    class LowRank(nn.Module):
        def __init__(self):
            super().__init__()
            self.u = nn.Parameter(torch.randn(512, 8))
            self.v = nn.Parameter(torch.randn(8, 512))

        def forward(self):
            return self.u @ self.v @ torch.ones(512, 64)  # smell: [TLN702]

    layer = LowRank()
    with FlopCounterMode(display=False) as counter:
        layer()
        for _ in range(8):
            layer()


def functions_instead_of_operators():
    """Holds: counter.get_total_flops() == 2 * (64 * 64 * 64 + 64 * 64)"""
    a, b, v = torch.randn(64, 64), torch.randn(64, 64), torch.randn(64, 1)
    with FlopCounterMode(display=False) as counter:
        y = torch.mm(torch.mm(a, b), v)  # smell: [TLN702]


def methods():
    """Holds: counter.get_total_flops() == 2 * (64 * 64 * 64 + 64 * 64)"""
    a, b, v = torch.randn(64, 64), torch.randn(64, 64), torch.randn(64, 1)
    with FlopCounterMode(display=False) as counter:
        y = a.mm(b).mm(v)  # smell: [TLN702]


def jacobians_of_layers():
    """Holds: counter.get_total_flops() > 2 * 3 * 32**3"""
    j1, j2, j3, j4 = (torch.randn(32, 32) for _ in range(4))
    x = torch.randn(32, 1)
    with FlopCounterMode(display=False) as counter:
        tangent = (j4 @ j3 @ j2 @ j1 @ x).squeeze()  # smell: [TLN702]


def from_the_right_with_a_row():
    """Holds: counter.get_total_flops() > 2 * 32**3"""
    row = torch.randn(1, 32)
    a, b = torch.randn(32, 32), torch.randn(32, 32)
    with FlopCounterMode(display=False) as counter:
        y = row @ (a @ b)  # smell: [TLN702]


def projection_with_a_vector():
    """Holds: counter.get_total_flops() >= 2 * 300 * 300 * 2"""

    def project(basis, x):
        q = torch.randn(300, 2)
        p = torch.randn(300)
        return q @ q.T @ p  # smell: [TLN702]

    with FlopCounterMode(display=False) as counter:
        project(None, None)


def batch_size_is_not_known():
    x = torch.randn(4, 8)

    def forward(x):
        return x @ torch.randn(8, 3) @ torch.randn(3, 5)

    forward(x)


def cheapest_already():
    a, b, v = torch.randn(100, 100), torch.randn(100, 10), torch.randn(10, 1)
    a @ (b @ v)
    v.T @ b.T @ a.T
    torch.linalg.multi_dot([a, b, v])


def product_with_a_name():
    a, b, v = torch.randn(100, 100), torch.randn(100, 10), torch.randn(10, 1)
    ab = a @ b
    first = ab @ v
    second = ab @ (v * 2)


def attention():
    q, k, v = (torch.randn(2, 16, 8) for _ in range(3))
    y = torch.softmax(q @ k.transpose(1, 2), dim=-1) @ v
    z = (q @ k.transpose(1, 2)).tril() @ v


def small_rotations():
    r1, r2, p = torch.eye(3), torch.eye(3), torch.ones(3)
    p = r1 @ r2 @ p


def numpy_arrays():
    import numpy as np

    a, b, v = np.ones((100, 100)), np.ones((100, 10)), np.ones((10, 1))
    y = a @ b @ v


def square_matrices():
    a, b, c = torch.randn(50, 50), torch.randn(50, 50), torch.randn(50, 50)
    y = a @ b @ c
