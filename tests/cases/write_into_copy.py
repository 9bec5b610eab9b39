# ruff: noqa
"""Programs for TLN214."""

import time

import torch
from torch import nn


def negative_scores_set_to_zero():
    """Holds: (scores < 0).any()"""
    scores = torch.tensor([1.0, -1.0, 3.0])
    scores[scores < 0].zero_()  # warning: [TLN214]


def padding_row():
    """Holds: table.weight[0].abs().sum() > 0"""
    table = nn.Embedding(4, 3)
    with torch.no_grad():
        table.weight[[0]].fill_(0)  # warning: [TLN214]


def scaled_by_index():
    """Holds: (values == 1).all()"""
    values, index = torch.ones(5), torch.tensor([0, 3])
    values[index].mul_(2).add_(1)  # warning: [TLN214]


def a_mask_and_then_a_column():
    """Holds: (boxes == 0).all()"""
    boxes, keep = torch.zeros(3, 4), torch.tensor([True, False, True])
    boxes[keep][:, 2] = 7.0  # warning: [TLN214]
    boxes[keep][:, 2] += 7.0  # warning: [TLN214]


def initialised_in_vain():
    """Holds: (head.bias != 3).any()"""
    head = nn.Linear(2, 4)
    nn.init.constant_(head.bias[torch.tensor([0, 1])], 3.0)  # warning: [TLN214]


def of_a_module():
    """Holds: (net.memory == 1).all()"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("memory", torch.ones(4, 2))

        def forget(self):
            stale = torch.tensor([1, 2])
            self.memory[stale].fill_(0.0)  # warning: [TLN214]

    net = Net()
    net.forget()


def through_data():
    """Holds: (w == 1).all()"""
    w = nn.Parameter(torch.ones(3))
    w.data[torch.tensor([0])].clamp_(max=0)  # warning: [TLN214]


def views():
    t = torch.ones(4, 3)
    t[0].fill_(0)
    t[1:3].mul_(2)
    t[:, 0].zero_()
    t[..., None].add_(1)
    t[torch.tensor(2)].fill_(5)
    assert t[2, 0] == 5


def assigned():
    t, i = torch.ones(4, 3), torch.tensor([0, 2])
    t[i] = 0
    t[i] += 1
    t[i, 0] *= 2
    t[t > 1] = 1


def the_copy_is_used():
    t, i = torch.ones(4, 3), torch.tensor([0, 2])
    rows = t[i].mul_(2)
    print(t[i].add_(1).sum())
    rows[0] = 3
    rows[:, 1].zero_()
    last = [t[i].clamp_(0)]


def what_only_returns():
    """A dropped result is another rule's."""
    t = torch.ones(4)
    print(t[t > 0].sum())


def flags():
    t = torch.ones(4)
    t[torch.tensor([0])].requires_grad_()


def timed():
    t, i = torch.ones(4, 3), torch.tensor([0, 2])
    start = time.perf_counter()
    t[i].mul_(2)
    print(time.perf_counter() - start)


def repeated():
    t, i = torch.ones(4, 3), torch.tensor([0, 2])
    for _ in range(10):
        t[i].mul_(2)


def of_lists():
    groups = {True: [torch.ones(2)], False: [torch.zeros(2)]}
    groups[True][0].fill_(3)
    tensors = [torch.ones(2), torch.ones(3)]
    tensors[1].zero_()
    assert tensors[1].sum() == 0


def an_index_that_may_be_a_number():
    def reset(t, i):
        t = torch.as_tensor(t)
        t[i].zero_()
        return t

    assert reset(torch.ones(3), 1)[1] == 0


def of_a_class_of_its_own():
    class Table:
        def __init__(self):
            self.rows = torch.ones(4, 2)

        def __getitem__(self, index):
            return self.rows[min(index) : max(index)]

    table = Table()
    table[[0, 2]].fill_(0)
    assert table.rows[0, 0] == 0


def mask_of_a_parameter_of_a_function():
    """Holds: (words != 1).all()"""
    words = torch.arange(2, 42)

    def drop(tokens, p):
        tokens = tokens.clone()
        dropped = torch.rand(tokens.shape) < p
        tokens[dropped].fill_(1)  # warning: [TLN214]
        return tokens

    words = drop(words, 0.5)


def parameter_of_a_function_under_its_own_mask():
    """Holds: (scores < 0).any()"""

    def clip(values):
        values[values < 0].zero_()  # warning: [TLN214]
        return values

    scores = clip(torch.tensor([-1.0, 2.0]))


def parameter_of_a_function_under_an_index_that_nobody_knows():
    def halve(layers, i, part):
        layers[i > 0].mul_(0.5)
        layers[part].mul_(0.5)
        layers[torch.tensor(1)].mul_(0.5)

    def chosen(values):
        kept = values[values > 0].mul_(0.5)
        return kept

    halve([torch.ones(3), torch.ones(3)], 1, 0)
    chosen(torch.ones(3))
