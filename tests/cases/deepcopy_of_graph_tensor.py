# ruff: noqa
"""Programs for TLN115."""

import copy

import torch
from torch import nn


def output_before_an_update():
    """Raises: Only Tensors created explicitly by the user"""
    net = nn.Linear(2, 1)
    out = net(torch.rand(3, 2))
    before = copy.deepcopy(out)  # error: [TLN115]


def states_in_a_list():
    """Raises: Only Tensors created explicitly by the user"""
    cell = nn.Linear(2, 2)
    states = [torch.zeros(1, 2)]
    states.append(torch.tanh(cell(states[-1])))
    kept = copy.deepcopy(states)  # error: [TLN115]


def target_network_of_a_recurrent_agent():
    """Raises: Only Tensors created explicitly by the user"""

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Linear(2, 2)
            self.hidden = torch.zeros(1, 2)

        def forward(self, x):
            self.hidden = torch.tanh(self.cell(self.hidden) + x)
            return self.hidden

    agent = Agent()
    agent(torch.rand(1, 2))
    target = copy.deepcopy(agent)  # error: [TLN115]


def best_results():
    """Raises: Only Tensors created explicitly by the user"""
    net = nn.Linear(2, 1)
    loss = net(torch.rand(3, 2)).pow(2).mean()
    results = {"step": 3, "loss": loss}
    best = copy.deepcopy(results)  # error: [TLN115]


def scaled_parameter():
    """Raises: Only Tensors created explicitly by the user"""

    class Prior(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(2))
            self.double = 2 * self.scale

    prior = Prior()
    other = copy.deepcopy(prior)  # error: [TLN115]


def parameters_copied():
    net = nn.Linear(2, 1)
    target, weight = copy.deepcopy(net), copy.deepcopy(net.weight)
    state = copy.deepcopy(net.state_dict())


def detached_state_kept():
    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Linear(2, 2)

        def forward(self, x):
            h = torch.tanh(self.cell(x))
            self.hidden = h.detach()
            return h

    agent = Agent()
    agent(torch.rand(1, 2))
    target = copy.deepcopy(agent)


def shallow_copy():
    out = nn.Linear(2, 1)(torch.rand(3, 2))
    other = copy.copy(out)
    pair = copy.copy([out])


def data_copied():
    batch = {"x": torch.rand(3, 2), "y": torch.rand(3) * 2}
    other = copy.deepcopy(batch)


def made_without_recording():
    net = nn.Linear(2, 1)
    with torch.no_grad():
        out = net(torch.rand(3, 2))
    other = copy.deepcopy(out)


def copies_itself():
    class Tracked:
        def __init__(self, value):
            self.value = value

        def __deepcopy__(self, memo):
            return Tracked(self.value.detach().clone())

    other = copy.deepcopy(Tracked(nn.Linear(2, 1)(torch.rand(3, 2))))


def kept_by_a_descriptor_from_elsewhere():
    class Detached:
        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            return instance.__dict__[self.name]

        def __set__(self, instance, value):
            instance.__dict__[self.name] = value.detach()

    class Prior(nn.Module):
        double = eval("Detached")()

        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(2))
            self.double = 2 * self.scale

    copy.deepcopy(Prior())
