# ruff: noqa
"""Programs for TLN110."""

import io

import torch
from torch import nn


def step_forgotten():
    """Holds: (net.weight == before).all()"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    before = net.weight.detach().clone()
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        optimizer.step  # error: [TLN110]


def zeroing_forgotten():
    """Holds: net.weight.grad.abs().sum() > 0"""
    net = nn.Linear(2, 1)
    net(torch.rand(3, 2)).sum().backward()
    net.zero_grad  # error: [TLN110]


def loss_of_a_function():
    """Holds: all(p.grad is None for p in net.parameters())"""
    net = nn.Linear(2, 1)

    def train_step(model, x, y):
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward  # error: [TLN110]
        return loss.item()

    train_step(net, torch.rand(3, 2), torch.rand(3, 1))


def checkpoint_of_methods():
    """Holds: callable(torch.load(buffer, weights_only=False)["model"])"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    buffer = io.BytesIO()
    torch.save({"model": net.state_dict, "optimizer": optimizer.state_dict()}, buffer)  # error: [TLN110]
    buffer.seek(0)


def evaluation_mode():
    """Holds: net.training"""
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    net.eval  # error: [TLN110]
    with torch.no_grad():
        out = net(torch.rand(1, 2))


def no_grad_as_a_statement():
    """Holds: out.requires_grad"""

    class Tester:
        def __init__(self):
            self.net = nn.Linear(2, 2)

        def run(self, x):
            torch.no_grad()  # error: [TLN110]
            return self.net(x)

    out = Tester().run(torch.rand(1, 2))


def context_not_called():
    """Raises: does not support the context manager protocol"""
    net = nn.Linear(2, 1)
    with torch.inference_mode:  # error: [TLN110]
        net(torch.rand(3, 2))


def called():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.zero_grad()
    net(torch.rand(3, 2)).sum().backward()
    optimizer.step()
    torch.save(net.state_dict(), io.BytesIO())


def method_handed_over():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.rand(3, 2)).sum()
    for act in (optimizer.zero_grad, loss.backward, optimizer.step):
        act()


def property_called_step():
    class Clock:
        def __init__(self):
            self.count = 0

        @property
        def step(self):
            self.count += 1
            return self.count

    clock = Clock()
    clock.step
    clock.step


def no_grad_entered_by_hand():
    context = torch.no_grad()
    context.__enter__()
    out = nn.Linear(2, 1)(torch.rand(3, 2))
    context.__exit__(None, None, None)


def grad_mode_set():
    torch.set_grad_enabled(False)
    out = nn.Linear(2, 1)(torch.rand(3, 2))
    torch.set_grad_enabled(True)


def state_dict_kept():
    net = nn.Linear(2, 1)
    collect = net.state_dict
    weights = collect()


def weights_of_whatever_model():
    """Holds: callable(torch.load(buffer, weights_only=False))"""
    buffer = io.BytesIO()

    def save(model, file):
        torch.save(model.state_dict, file)  # error: [TLN110]

    save(nn.Linear(2, 1), buffer)
    buffer.seek(0)


def weights_of_whatever_is_given():
    """Holds: callable(torch.load(buffer, weights_only=False)["weights"])"""
    buffer = io.BytesIO()

    def save(model, file):
        torch.save({"weights": model.state_dict, "epoch": 3}, file)  # warning: [TLN110]

    save(vars(nn)["Lin" + "ear"](2, 1), buffer)
    buffer.seek(0)


def weights_of_the_estimator():
    class Estimator:
        def __init__(self, net):
            self.net = net
            self.state_dict = net.state_dict()

        def save(self, file):
            torch.save(self.state_dict, file)
            torch.save({"weights": self.state_dict, "epoch": 3}, file)

    Estimator(nn.Linear(2, 1)).save(io.BytesIO())


def weights_of_the_base():
    import collections

    class Estimator(collections.UserDict):
        def fit(self, net):
            self.state_dict = net.state_dict()
            return self

        def save(self, file):
            torch.save(self.state_dict, file)

    Estimator().fit(nn.Linear(2, 1)).save(io.BytesIO())


def weights_that_a_class_of_ours_holds_under_that_name():
    from dataclasses import dataclass

    @dataclass
    class Extracted:
        name: str
        state_dict: dict

    def save(part, file):
        torch.save(part.state_dict, file)

    save(Extracted("head", {"w": torch.ones(2)}), io.BytesIO())


def weights_of_whoever_takes_some():
    """Holds: callable(torch.load(buffer, weights_only=False))"""
    buffer = io.BytesIO()

    def load(
        model,
        state_dict: dict,
    ):
        model.load_state_dict(state_dict)

    def save(model, file):
        torch.save(model.state_dict, file)  # warning: [TLN110]

    save(vars(nn)["Lin" + "ear"](2, 1), buffer)
    buffer.seek(0)
