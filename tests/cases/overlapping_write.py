# ruff: noqa
"""Programs for TLN215."""

import numpy as np
import torch
from torch import nn


def shifted_right():
    """Holds: (tokens[0] == 0).all()"""
    tokens = torch.arange(10).view(2, 5)
    tokens[:, 1:] = tokens[:, :-1]  # warning: [TLN215]


def one_batch_of_three_dimensions():
    """Holds: (frames[1, :, 0] == frames[1, 0, 0]).all()"""
    frames = torch.arange(24.0).view(2, 4, 3)
    frames[:, 1:, :] = frames[:, :-1, :]  # warning: [TLN215]


def along_the_first_dimension():
    """Raises: refer to a single memory location"""
    queue = torch.zeros(8, 3)
    queue[1:] = queue[:-1]  # warning: [TLN215]


def to_the_front():
    """Raises: refer to a single memory location"""
    queue = torch.zeros(8)
    queue[:-2] = queue[2:]  # warning: [TLN215]


def a_running_sum():
    """Raises: refer to a single memory location"""
    values = torch.ones(6)
    values[1:] += values[:-1]  # warning: [TLN215]


def one_row():
    """Raises: refer to a single memory location"""
    ids = torch.arange(6).view(1, 6)
    ids[:, :-1] = ids[:, 1:]  # warning: [TLN215]


def its_own_index():
    """Raises: refer to a single memory location"""
    order = torch.tensor([2, 0, 1])
    order[order] = 5  # warning: [TLN215]


def history_of_a_module():
    """Holds: (history.seen[0] == history.seen[0, 0]).all()"""

    class History(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.rand(4, 8))

        def forward(self, x):
            self.seen[:, 1:] = self.seen[:, :-1]  # warning: [TLN215]
            return x

    history = History()
    history(torch.ones(4))


def copied_first():
    queue = torch.arange(6.0)
    queue[1:] = queue[:-1].clone()
    queue[1:] = queue[:-1] + 0
    queue[:] = queue.roll(1)


def halves():
    x = torch.arange(12.0).view(2, 6)
    x[:, 3:] = x[:, :3]
    x[0] = x[1]
    x[:1] = x[1:]


def rows_without_overlap():
    state = torch.zeros(2, 3, 4)
    state[1:] = state[:-1]


def to_the_front_along_columns():
    """Comes out right, by the order of the copy."""
    seen = torch.arange(12.0).view(2, 6)
    seen[:, :-1] = seen[:, 1:]
    assert seen[0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 5.0]


def blocks_of_unknown_size():
    def push(x, n):
        x = torch.as_tensor(x)
        x[n:] = x[:-n]
        x[4:] = x[:-4]

    push(torch.arange(8.0), 4)


def another_tensor():
    x, y = torch.zeros(2, 6), torch.ones(2, 6)
    x[:, 1:] = y[:, :-1]


def arrays():
    a = np.arange(6.0)
    a[1:] = a[:-1]
    assert a[5] == 4


def a_mask_at_its_own_places():
    mask = torch.tensor([True, False])
    mask[mask] = False
    x = torch.tensor([1.0, -1.0])
    x[x < 0] = 0


def channels_mixed():
    image = torch.zeros(4, 4, 3)
    image[:, :, [0, 1, 2]] = image[:, :, [2, 1, 0]]


def added_in_place_to_a_part():
    """Raises: refer to a single memory location"""
    line = torch.zeros(6, 2)
    line[1:].mul_(0.9).add_(line[:-1], alpha=0.1)  # warning: [TLN215]


def copied_onto_a_part():
    """Raises: refer to a single memory location"""

    class Line:
        def __init__(self, depth):
            self.kept = torch.zeros(depth, 2)

        def push(self, row):
            self.kept[1:].copy_(self.kept[:-1])  # warning: [TLN215]
            self.kept[0] = row

    Line(4).push(torch.ones(2))


def copied_along_another_dimension():
    """Holds: (frames[:, 0] == frames[:, 2]).all()"""
    frames = torch.arange(12.0).view(3, 4)
    frames[:, 1:].copy_(frames[:, :-1])  # warning: [TLN215]


def its_first_row_is_taken_off():
    """Raises: refer to a single memory location"""
    track = torch.rand(5, 2)
    track -= track[0]  # warning: [TLN215]


def divided_by_its_last_row():
    """Raises: refer to a single memory location"""
    prices = torch.rand(5, 2) + 1
    prices.div_(prices[-1:])  # warning: [TLN215]


def parts_of_one_tensor_that_do_not_overlap():
    track = torch.rand(4, 2)
    track[1:] -= track[0]
    track[1:].sub_(track[:1])
    track[:2].copy_(track[2:])
    track[1:].add_(track[1:])


def operands_in_memory_of_their_own():
    track = torch.rand(4, 2)
    track[1:].add_(track[:-1] * 0.5)
    track[1:].copy_(track[:-1].clone())
    track -= track[[0]]
    track -= track[0].clone()
    track -= track[0] * 2
    row = torch.rand(1, 3)
    row -= row[0][None]
