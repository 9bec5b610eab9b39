# ruff: noqa
"""Programs for TLN704."""

import torch
from torch import nn
from torch.autograd.functional import hessian, jacobian

passes = []


def directional_derivative():
    """Holds: J.shape == (7, 5)"""
    w = torch.rand(7, 5)

    def f(x):
        return (w @ x).tanh()

    x, v = torch.rand(5), torch.rand(5)
    J = jacobian(f, x)
    y = J @ v  # smell: [TLN704]


def sensitivity_of_a_network():
    """Holds: g.shape == (3,)"""
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    x, weights = torch.rand(3), torch.rand(2)
    g = weights @ torch.autograd.functional.jacobian(net, x)  # smell: [TLN704]


def newton_step():
    """Holds: step.shape == (4,)"""

    def energy(x):
        return (x**4).sum()

    x, direction = torch.rand(4), torch.rand(4)
    step = torch.matmul(hessian(energy, x), direction)  # smell: [TLN704]


def transforms():
    """Holds: a.shape == b.shape == (4,)"""

    def f(x):
        return x.sin() * x.sum()

    x, v = torch.rand(4), torch.rand(4)
    a = torch.func.jacrev(f)(x) @ v  # smell: [TLN704]
    b = torch.func.jacfwd(f)(x) @ v  # smell: [TLN704]


def in_an_implicit_solver():
    """Holds: residual.shape == (3,)"""

    def solve(f, x):
        v = torch.ones(3)
        for _ in range(2):
            v = v - 0.1 * (jacobian(f, x) @ torch.ones(3))  # smell: [TLN704]
        return v

    residual = solve(lambda x: x**2, torch.rand(3))


def the_whole_matrix_is_read():
    def f(x):
        return x.sin()

    x, v = torch.rand(3), torch.rand(3)
    J = jacobian(f, x)
    eigenvalues = torch.linalg.eigvals(J)
    y = J @ v


def several_vectors():
    def f(x):
        return x.sin()

    x = torch.rand(3)
    pushed = jacobian(f, x) @ torch.rand(3, 3)


def products_without_the_matrix():
    def f(x):
        return x.sin()

    x, v = torch.rand(3), torch.rand(3)
    torch.func.jvp(f, (x,), (v,))
    torch.autograd.functional.vjp(f, x, v)


def what_is_v():
    def push(f, x, v):
        return jacobian(f, x) @ v

    push(lambda x: x**2, torch.rand(3), torch.rand(3, 2))


def newton_by_solving():
    def energy(x):
        return (x**4).sum() + (x**2).sum()

    x = torch.rand(3)
    H = hessian(energy, x)
    step = torch.linalg.solve(H, torch.rand(3))
