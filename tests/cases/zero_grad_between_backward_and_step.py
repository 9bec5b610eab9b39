# ruff: noqa
"""Programs for TLN403."""

import torch
from torch import nn


def plain_loop():
    """Holds: model.bias.item() == before"""
    model = nn.Linear(2, 1)
    before = model.bias.item()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        output = model(torch.rand(4, 2))
        loss = output.mean()
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()  # error: [TLN403]


def in_a_method():
    """Holds: (learner.net.weight == before).all()"""

    class Learner:
        def __init__(self):
            self.net = nn.Linear(2, 2)
            self.optim = torch.optim.Adam(self.net.parameters(), lr=1.0)

        def update(self, x, y):
            loss = nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.optim.zero_grad()
            self.optim.step()  # error: [TLN403]
            return loss.item()

    learner = Learner()
    before = learner.net.weight.detach().clone()
    learner.update(torch.rand(3, 2), torch.rand(3, 2))


def everything_a_parameter():
    """Holds: (net.weight == before).all()"""

    def train(model, loader, criterion, optimizer):
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()  # error: [TLN403]

    net = nn.Linear(2, 1)
    before = net.weight.detach().clone()
    train(net, [(torch.rand(4, 2), torch.rand(4, 1))] * 2, nn.MSELoss(), torch.optim.SGD(net.parameters(), lr=0.1))


def clipped_in_between():
    """Holds: (net.weight == before).all()"""

    def train(model, loader, optimizer):
        for x in loader:
            model(x).sum().backward()
            optimizer.zero_grad()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()  # error: [TLN403]

    net = nn.Linear(2, 1)
    before = net.weight.detach().clone()
    train(net, [torch.rand(4, 2)], torch.optim.SGD(net.parameters(), lr=0.1))


def usual_order():
    def train(model, loader, optimizer):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()

    net = nn.Linear(2, 1)
    train(net, [torch.rand(4, 2)] * 2, torch.optim.SGD(net.parameters(), lr=0.1))


def the_other_optimizer_is_zeroed():
    def train(g, d, opt_g, opt_d, x):
        for _ in range(2):
            opt_d.zero_grad()
            d(g(x).detach()).mean().backward()
            opt_g.zero_grad()
            opt_d.step()
            d(g(x)).mean().backward()
            opt_g.step()

    g, d = nn.Linear(2, 2), nn.Linear(2, 1)
    train(g, d, torch.optim.SGD(g.parameters(), 0.1), torch.optim.SGD(d.parameters(), 0.1), torch.rand(3, 2))


def gradients_put_back():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    grads = []
    for x in torch.rand(3, 4, 2):
        net(x).sum().backward()
        grads.append([p.grad.clone() for p in net.parameters()])
        optimizer.zero_grad()
    for p, *parts in zip(net.parameters(), *grads):
        p.grad = torch.stack(parts).median(dim=0).values
    optimizer.step()


def backward_inside_unseen_code():
    def train(agent, x, opt_actor, opt_critic):
        opt_critic.zero_grad()
        agent.critic(x).sum().backward()
        opt_critic.step()
        opt_actor.zero_grad()
        agent.actor_gradients(x)
        opt_actor.step()

    class Agent:
        def __init__(self):
            self.critic, self.actor = nn.Linear(2, 1), nn.Linear(2, 1)

        def actor_gradients(self, x):
            self.actor(x).sum().backward()

    agent = Agent()
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (agent.actor, agent.critic)]
    train(agent, torch.rand(3, 2), *optimizers)


def zeroed_first_when_resumed():
    def train(model, loader, optimizer, first):
        for i, x in enumerate(loader):
            model(x).sum().backward()
            if first and i == 0:
                optimizer.zero_grad()
                continue
            optimizer.step()
            optimizer.zero_grad()

    net = nn.Linear(2, 1)
    train(net, [torch.rand(4, 2)] * 3, torch.optim.SGD(net.parameters(), lr=0.1), True)


def warm_up_pass():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.rand(1, 2)).sum().backward()
    optimizer.zero_grad()
    for _ in range(2):
        net(torch.rand(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
