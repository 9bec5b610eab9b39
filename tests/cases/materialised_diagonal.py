# ruff: noqa
"""Programs for TLN703."""

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


def scale_layer():
    """Holds: y.grad_fn.name() == 'MmBackward0'"""

    class Scale(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(16))

        def forward(self, x):
            return x @ torch.diag(self.scale)  # strict: [TLN703]

    y = Scale(16)(torch.rand(4, 16))


def degree_matrix_of_a_graph():
    """Holds: counter.get_total_flops() == 2 * 2 * 30**3"""
    adjacency = torch.rand(30, 30)
    degree = adjacency.sum(dim=1)
    with FlopCounterMode(display=False) as counter:
        d = torch.diag(degree.pow(-0.5))
        normalised = d @ adjacency @ d  # strict: [TLN703, TLN703]


def identity_times_a_number():
    """Holds: counter.get_total_flops() == 2 * 10 * 10 * 3"""
    x = torch.rand(10, 3)
    with FlopCounterMode(display=False) as counter:
        y = (torch.eye(10) * 0.5) @ x  # strict: [TLN703]


def batch_of_diagonals():
    """Holds: counter.get_total_flops() == 2 * 4 * 5 * 5 * 3"""
    sigma, r = torch.rand(4, 5), torch.rand(4, 3, 5)
    with FlopCounterMode(display=False) as counter:
        scaled = torch.matmul(r, torch.diag_embed(sigma))  # strict: [TLN703]


def reconstruction():
    """Holds: counter.get_total_flops() == 2 * 8 * 8 * 8 * 2"""

    def truncate(w, rank):
        u, s, v = torch.svd(w)  # strict: [TLN902]
        return u[:, :rank] @ torch.diag(s) @ v.t()  # strict: [TLN703]

    with FlopCounterMode(display=False) as counter:
        truncate(torch.rand(8, 8), 8)


def method_of_a_vector():
    """Holds: counter.get_total_flops() == 2 * 6 * 6"""
    v, x = torch.rand(6), torch.rand(6, 1)
    with FlopCounterMode(display=False) as counter:
        y = v.diag() @ x  # strict: [TLN703]


def added_to_a_covariance():
    k = torch.rand(5, 5)
    noise = torch.rand(5)
    k = k @ k.T + torch.diag(noise) + 1e-4 * torch.eye(5)
    torch.linalg.cholesky(k)


def diagonal_of_a_matrix():
    a = torch.rand(5, 5)
    y = torch.diag(a) @ a


def diagonal_of_what():
    def weight(c, x):
        return torch.diag(c) @ x

    weight(torch.rand(3, 3), torch.rand(3))


def read_elsewhere_too():
    d = torch.diag(torch.rand(4))
    y = d @ torch.rand(4, 2)
    logdet = torch.linalg.slogdet(d + torch.ones(4, 4))


def off_the_main_diagonal():
    shift = torch.diag(torch.ones(3), 1)
    y = shift @ torch.rand(4, 2)
    z = torch.diag(torch.ones(3), diagonal=-1) @ torch.rand(4, 2)


def filled_afterwards():
    d = torch.diag(torch.rand(4))
    d[0, 1] = 1.0
    y = d @ torch.rand(4, 2)


def handed_out():
    class Prior(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("precision", torch.diag(torch.rand(3)))

        def forward(self, x):
            return self.precision @ x

    Prior()(torch.rand(3, 1))


def a_batch_of_diagonals():
    """Holds: torch.allclose(weighted, trust[..., None] * sites)"""
    trust, sites = torch.rand(5, 40), torch.rand(5, 40, 3)
    weighted = torch.bmm(torch.diag_embed(trust), sites)  # strict: [TLN703]


def a_batch_of_matrices():
    trust, sites = torch.rand(5, 40), torch.rand(5, 40, 3)
    weighted = torch.bmm(torch.diag_embed(trust, offset=1), torch.rand(5, 41, 3))
    filled = torch.diag_embed(trust)
    filled[:, 0] = 1.0
    product = torch.bmm(filled, sites)
    kept = torch.diag_embed(trust)
    both = torch.bmm(kept, sites), kept.inverse()


def in_a_chain():
    """Holds: torch.allclose(gram, (sites.T * trust) @ sites, atol=1e-5)"""
    trust, sites = torch.rand(40), torch.rand(40, 3)
    gram = torch.linalg.multi_dot([sites.T, torch.diag(trust), sites])  # strict: [TLN703]


def a_chain_without_one():
    trust, sites = torch.rand(40), torch.rand(40, 3)
    diagonal = torch.diag(trust)
    gram = torch.linalg.multi_dot([sites.T, diagonal + 1.0, sites])
    other = torch.linalg.multi_dot([sites.T, torch.diag(torch.rand(40, 40))[:, None], torch.rand(1, 3)])
