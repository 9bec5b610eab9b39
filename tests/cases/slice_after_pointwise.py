# ruff: noqa
"""Programs for TLN701."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode


def output_layer_of_a_language_model():
    """Holds: counter.get_total_flops() == 2 * 3 * 10 * 8 * 50"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 50)

        def forward(self, hidden):
            return self.fc(hidden)[:, -1, :]  # smell: [TLN701]

    with FlopCounterMode(display=False) as counter:
        Head()(torch.rand(3, 10, 8))


def result_with_a_name():
    """Holds: counter.get_total_flops() == 2 * 2 * 4 * 6 * 5 * 5"""
    project = nn.Conv2d(4, 6, 1)
    with FlopCounterMode(display=False) as counter:
        y = project(torch.rand(2, 4, 5, 5))
        corner = y[:, :, :2, :2]  # smell: [TLN701]


def activation():
    """Holds: made.numel() == 40"""
    x = torch.rand(4, 10)
    made = torch.sigmoid(x)
    first = torch.sigmoid(x)[:, 0]  # strict: [TLN701]


def function_of_a_weight():
    """Holds: counter.get_total_flops() == 2 * 4 * 7 * 3 * 5"""
    weight = torch.rand(5, 3)
    sequence = torch.rand(4, 7, 3)
    with FlopCounterMode(display=False) as counter:
        last = F.linear(sequence, weight)[:, -1]  # smell: [TLN701]


def last_step_of_a_convolution():
    """Holds: counter.get_total_flops() == 2 * 3 * 20 * 2 * 4"""
    net = nn.Conv1d(2, 4, kernel_size=(1,))
    with FlopCounterMode(display=False) as counter:
        y = net(torch.rand(3, 2, 20))[..., -1:]  # smell: [TLN701]


def causal_convolution():
    class Causal(nn.Module):
        def __init__(self, k):
            super().__init__()
            self.conv = nn.Conv1d(2, 2, 3, padding=2)
            self.any = nn.Conv1d(2, 2, k, padding=k - 1)

        def forward(self, x):
            return self.conv(x)[:, :, : x.size(2)] + self.any(x)[..., :-2]

    Causal(3)(torch.rand(1, 2, 8))


def gates():
    fc = nn.Linear(4, 8)
    h = fc(torch.rand(2, 4))
    i, g = h[:, :4], h[:, 4:]
    only = fc(torch.rand(2, 4))[:, :4]
    last_feature = fc(torch.rand(2, 3, 4))[..., -1]


def rank_unknown():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 2)

        def forward(self, x):
            return self.fc(x)[:, -1]

    Net()(torch.rand(3, 4))


def positions_that_talk_to_each_other():
    x = torch.rand(2, 4, 8)
    norm = nn.BatchNorm1d(4)(x)[:2]
    attention = torch.softmax(x, -1)[:, 0]
    total = torch.cumsum(x, -1)[..., -1]
    strided = nn.Conv1d(4, 4, 1, stride=2)(x)[:, :, :2]
    padded = nn.Conv1d(4, 4, 1, padding=1)(x)[:, :, 1:]


def read_twice():
    x = torch.rand(2, 8)
    p = torch.sigmoid(x)
    first = p[:, 0]
    loss = p.mean()


def nothing_left_out():
    x = torch.rand(2, 8)
    y = torch.exp(x)[:, :]
    z = torch.exp(x)[:, None]


def masks():
    x = torch.rand(2, 8)
    y = torch.exp(x)[x > 0.5]


def what_causal_padding_adds():
    """Behind the convolution, and what follows it position by position."""

    class Mixer(nn.Module):
        def __init__(self, kernel):
            super().__init__()
            self.conv = nn.Conv1d(4, 4, kernel, groups=4, padding=kernel - 1)
            self.act = nn.SiLU()

        def forward(self, x):
            return self.act(self.conv(x).transpose(1, 2))[:, : x.size(2), :]

    class Separable(nn.Module):
        def __init__(self, kernel):
            super().__init__()
            self.kernel = kernel
            self.depth = nn.Conv1d(4, 4, kernel, groups=4, padding=kernel - 1)
            self.point = nn.Conv1d(4, 6, 1)

        def forward(self, x):
            x = self.point(self.depth(x))
            return x[:, :, : -(self.kernel - 1)]

    Mixer(3)(torch.rand(1, 4, 8))
    Separable(3)(torch.rand(1, 4, 8))


def every_fourth_position():
    """Holds: counter.get_total_flops() == 2 * 8 * 64 * 2"""
    grain, flow = nn.Conv1d(2, 8, 1), torch.rand(1, 2, 64)
    with FlopCounterMode(display=False) as counter:
        thin = grain(flow)[:, :, ::4]  # smell: [TLN701]


def every_so_many_rows():
    """Holds: counter.get_total_flops() == 2 * 8 * 64 * 2"""
    grain, flow = nn.Linear(2, 8), torch.rand(64, 2)
    every = 4
    with FlopCounterMode(display=False) as counter:
        thin = grain(flow)[::every]  # smell: [TLN701]


def one_step_of_a_sequence():
    """Holds: counter.get_total_flops() == 2 * 4 * 10 * 8 * 8"""
    fc = nn.Linear(8, 8)
    with FlopCounterMode(display=False) as counter:
        first = fc(torch.rand(4, 10, 8)).select(1, 0)  # smell: [TLN701]


def first_two_steps():
    """Holds: counter.get_total_flops() == 2 * 4 * 10 * 8 * 8"""
    fc = nn.Linear(8, 8)
    with FlopCounterMode(display=False) as counter:
        out = fc(torch.rand(4, 10, 8))
        first = out.narrow(1, 0, 2)  # smell: [TLN701]


def nothing_is_left_out():
    grain, flow = nn.Linear(2, 8), torch.rand(64, 2)
    every = 1
    same = grain(flow)[::every]
    all_of_them = grain(flow)[::1]
    features = grain(flow).narrow(1, 0, 2)
    channel = nn.Conv1d(2, 8, 1)(torch.rand(1, 2, 6)).select(1, 0)
    whole = torch.tanh(flow).narrow(0, 0, 64)
    hidden = grain(flow)
    both = hidden.select(0, 0), hidden.select(0, 1)

    def thinned(x, stride=1):
        return grain(x)[::stride]

    thinned(flow)


def logits_of_all_but_the_last():
    """Holds: counter.get_total_flops() == 2 * 3 * 6 * 8 * 16"""
    head = nn.Linear(8, 16)
    with FlopCounterMode(display=False) as counter:
        logits = head(torch.rand(3, 6, 8))
        shifted = logits[:, :-1]  # strict: [TLN220, TLN701]
