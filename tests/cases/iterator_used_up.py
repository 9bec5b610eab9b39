# ruff: noqa
"""Programs for TLN314."""

import itertools

import torch
from torch import nn


def clipped_after_the_optimizer():
    """Holds: norm == 0"""
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    trained = (p for name, p in model.named_parameters() if "bias" not in name)
    optimizer = torch.optim.SGD(trained, lr=0.1)
    model(torch.rand(4, 2)).sum().backward()
    norm = nn.utils.clip_grad_norm_(trained, 1.0)  # warning: [TLN314]
    optimizer.step()


def clipped_in_each_iteration():
    """Holds: norms[0] > 0 and norms[1] == 0"""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    parameters = model.parameters()
    norms = []
    for batch in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        model(batch).sum().backward()
        norms.append(nn.utils.clip_grad_norm_(parameters, 1.0))  # warning: [TLN314]
        optimizer.step()


def two_networks_in_a_chain():
    """Holds: shadow == []"""
    body, head = nn.Linear(2, 2), nn.Linear(2, 1)
    parameters = itertools.chain(body.parameters(), head.parameters())
    optimizer = torch.optim.Adam(parameters)
    shadow = [p.detach().clone() for p in parameters]  # warning: [TLN314]


def pairs_compared_twice():
    """Holds: moved == 0"""
    model, other = nn.Linear(2, 1), nn.Linear(2, 1)
    pairs = zip(model.parameters(), other.parameters())
    for p, q in pairs:
        print(p.shape, q.shape)
    moved = sum((p - q).abs().sum() for p, q in pairs)  # warning: [TLN314]


def kept_on_an_object():
    """Holds: agent.penalty() == 0"""

    class Agent:
        def __init__(self):
            self.model = nn.Linear(2, 1)
            self.weights = self.model.parameters()
            self.optimizer = torch.optim.SGD(self.weights, lr=0.1)

        def penalty(self):
            return sum(p.abs().sum() for p in self.weights)  # warning: [TLN314]

    agent = Agent()
    agent.penalty()


def listed():
    model = nn.Linear(2, 1)
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    model(torch.rand(4, 2)).sum().backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    print(sum(p.numel() for p in parameters))


def called_anew():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(torch.rand(4, 2)).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


def bound_anew_in_each_iteration():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(torch.rand(4, 2)).sum().backward()
        parameters = filter(lambda p: p.grad is not None, model.parameters())
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()


def first_one_looked_at():
    model = nn.Linear(2, 1)
    parameters = model.parameters()
    device = next(parameters).device
    rest = [p.shape for p in parameters]
    print(device, rest)


def left_early():
    model = nn.Linear(2, 1)
    parameters = model.parameters()
    for p in parameters:
        if p.dim() == 2:
            break
    print([p.shape for p in parameters])


def parameters_that_are_a_list():
    class Pair:
        def __init__(self):
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 1)

        def parameters(self):
            return [*self.a.parameters(), *self.b.parameters()]

    pair = Pair()
    parameters = pair.parameters()
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    print(sum(p.numel() for p in parameters))


def whose_parameters_nobody_knows():
    def train(agent, batches):
        parameters = agent.parameters()
        optimizer = torch.optim.SGD(parameters, lr=0.1)
        for batch in batches:
            optimizer.zero_grad()
            agent(batch).sum().backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()


def on_one_of_two_paths():
    import random

    model = nn.Linear(2, 1)
    parameters = model.parameters()
    if random.random() < 0.5:
        optimizer = torch.optim.SGD(parameters, lr=0.1)
    else:
        optimizer = None
        print(sum(p.numel() for p in parameters))


def range_gone_through_twice():
    steps = range(3)
    model = nn.Linear(2, 1)
    sizes = [p.numel() for p in model.parameters()]
    print([i for i in steps], [i for i in steps], sizes)
