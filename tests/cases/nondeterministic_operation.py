# ruff: noqa
"""Programs for TLN809."""

import torch
from torch import nn
import torch.nn.functional as F


def unpooling_layer():
    """Raises: max_unpooling2d_forward_out does not have a deterministic implementation"""
    torch.use_deterministic_algorithms(True)
    pool = nn.MaxPool2d(2, return_indices=True)
    unpool = nn.MaxUnpool2d(2)
    x, indices = pool(torch.rand(1, 1, 4, 4))
    y = unpool(x, indices)  # error: [TLN809]


def unpooling_function():
    """Raises: does not have a deterministic implementation"""

    def decode(x, indices):
        return F.max_unpool1d(x, indices, 2)  # error: [TLN809]

    torch.use_deterministic_algorithms(mode=True)
    x, indices = F.max_pool1d(torch.rand(1, 1, 4), 2, return_indices=True)
    decode(x, indices)


def by_a_function_of_the_file():
    """Raises: put_ does not have a deterministic implementation"""

    def reproducible(seed):
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True)

    reproducible(0)
    table = torch.zeros(2, 3)
    table.put_(torch.tensor([0]), torch.tensor([1.0]), accumulate=False)  # error: [TLN809]


def in_a_decoder():
    """Raises: max_unpooling2d_forward_out does not have a deterministic implementation"""
    torch.use_deterministic_algorithms(True)

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.unpool = nn.MaxUnpool2d(2)

        def forward(self, x, indices):
            return self.unpool(x, indices)  # error: [TLN809]

    x, indices = F.max_pool2d(torch.rand(1, 1, 4, 4), 2, return_indices=True)
    Decoder()(x, indices)


def only_warned():
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.zeros(4).put_(torch.tensor([1]), torch.ones(1))


def switched_off_again():
    torch.use_deterministic_algorithms(True)
    x = torch.rand(3) @ torch.rand(3)
    torch.use_deterministic_algorithms(False)
    torch.zeros(4).put_(torch.tensor([1]), torch.ones(1))


def accumulated_on_the_cpu():
    torch.use_deterministic_algorithms(True)
    torch.zeros(4).put_(torch.tensor([1]), torch.ones(1), accumulate=True)


def by_a_flag():
    def run(deterministic):
        torch.use_deterministic_algorithms(deterministic)
        return torch.zeros(4).put_(torch.tensor([1]), torch.ones(1))

    run(False)


def not_on_the_cpu():
    torch.use_deterministic_algorithms(True)
    x = torch.rand(1, 1, 4, 4, requires_grad=True)
    F.interpolate(x, scale_factor=2, mode="bilinear").sum().backward()


def on_another_path():
    def run(deterministic, x):
        if deterministic:
            torch.use_deterministic_algorithms(True)
        else:
            x.put_(torch.tensor([1]), torch.ones(1))
        return x

    run(False, torch.zeros(4))


def pooled_to_one():
    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    layers = nn.Sequential(nn.Conv2d(1, 2, 3), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten()).to(device)
    layers(torch.rand(1, 1, 8, 8, device=device)).sum().backward()


def pooled_to_one_by_a_function():
    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.rand(1, 1, 8, 8, 8, device=device, requires_grad=True)
    y = F.adaptive_avg_pool3d(x, 1) + F.adaptive_avg_pool3d(x, output_size=[1, 1, 1])
    y.sum().backward()


def pooled_to_one_in_a_network():
    class Head(nn.Module):
        def __init__(self, size=1):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3, 1, 1))
            self.pool = nn.AdaptiveAvgPool2d(size)

        def forward(self, x):
            return self.pool(x * self.weight).flatten(1)

    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    Head().to(device)(torch.rand(2, 3, 4, 4, device=device)).sum().backward()
