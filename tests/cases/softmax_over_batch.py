# ruff: noqa
"""Programs for TLN607."""

import torch
import torch.nn.functional as F
from torch import nn


def attention_over_the_batch():
    """Holds: not torch.allclose(chorus(birds)[:1], chorus(birds[:1]))"""
    listen = nn.Linear(6, 1)

    def chorus(birds):
        loud = listen(birds).squeeze(2).softmax(dim=0)  # warning: [TLN607]
        return torch.bmm(loud.unsqueeze(1), birds).squeeze(1)

    birds = torch.rand(4, 9, 6)
    chorus(birds)


def classes_over_the_batch():
    """Holds: not torch.allclose(song.grad.sum(1), torch.zeros(4), atol=1e-6)"""
    song = torch.rand(4, 3, requires_grad=True)
    F.nll_loss(F.log_softmax(song, dim=0), torch.tensor([0, 1, 2, 0])).backward()  # warning: [TLN607]


def layer_of_a_head():
    """Holds: not torch.allclose(net(x).exp().sum(1), torch.ones(4))"""
    net = nn.Sequential(nn.Linear(3, 2), nn.LogSoftmax(dim=0))
    x = torch.rand(4, 3)
    loss = nn.NLLLoss()(net(x), torch.tensor([0, 1, 1, 0]))  # warning: [TLN607]


def heads_by_matmul():
    """Holds: not torch.allclose(weights.sum(-1), torch.ones(2, 4))"""
    query, key, value = torch.rand(2, 4, 3), torch.rand(2, 4, 3), torch.rand(2, 4, 3)
    weights = torch.softmax(query @ key.transpose(1, 2), dim=0)  # warning: [TLN607]
    out = weights @ value


def attention_over_the_sequence():
    scores, values = torch.rand(4, 9), torch.rand(4, 9, 6)
    first = torch.bmm(scores.softmax(1).unsqueeze(1), values)
    sequence_first = torch.rand(9, 4)
    second = torch.bmm(sequence_first.softmax(0).t().unsqueeze(1), values)
    third = torch.bmm(sequence_first.softmax(0).transpose(0, 1).unsqueeze(1), values)


def one_sequence():
    values = torch.rand(4, 9, 6)
    energies = torch.rand(9)
    fourth = torch.bmm(energies.softmax(0).unsqueeze(0).unsqueeze(0), values[:1])
    fifth = energies.softmax(0) @ values[0]
    columns = torch.rand(9, 9).softmax(0) @ torch.rand(9, 2)


def mixture_of_experts():
    experts = (torch.rand(3, 4, 1).softmax(0) * torch.rand(3, 4, 5)).sum(0)


def losses_of_other_ranks():
    energies = torch.rand(9)
    one = F.nll_loss(energies.log_softmax(0), torch.tensor(3))
    images = F.nll_loss(torch.rand(2, 3, 4, 4).log_softmax(1), torch.zeros(2, 4, 4, dtype=torch.long))


def sizes_of_the_caller():
    def scored(logits, target):
        return F.nll_loss(F.log_softmax(logits, dim=0), target)

    scored(torch.rand(3), torch.tensor(1))
