# ruff: noqa
"""Programs for TLN404."""

import torch
from torch import nn


def step_before_backward():
    """Holds: (net.weight == before).all()"""

    def train(model, loader, criterion, optimizer):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            optimizer.step()  # warning: [TLN404]
            loss.backward()

    net = nn.Linear(2, 1)
    before = net.weight.detach().clone()
    train(net, [(torch.rand(4, 2), torch.rand(4, 1))] * 2, nn.MSELoss(), torch.optim.SGD(net.parameters(), lr=0.1))


def clipped_after_the_step():
    """Holds: abs(net.bias.item() - before) > 100"""

    def train(model, loader, optimizer):
        for x in loader:
            optimizer.zero_grad()
            (model(x).sum() * 1000).backward()
            optimizer.step()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # warning: [TLN404]

    net = nn.Linear(2, 1)
    before = net.bias.item()
    train(net, [torch.ones(1, 2)], torch.optim.SGD(net.parameters(), lr=1.0))


def clipped_while_scaled():
    """Holds: abs(net.bias.item() - before) < 1e-3"""
    net = nn.Linear(2, 1)
    before = net.bias.item()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cpu")
    for _ in range(2):
        optimizer.zero_grad()
        loss = net(torch.ones(1, 2)).sum()
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # warning: [TLN404]
        scaler.step(optimizer)
        scaler.update()


def scheduler_first():
    """Warns: Detected call of `lr_scheduler.step()` before `optimizer.step()`"""

    def one_epoch(model, loader, optimizer):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()

    net = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for epoch in range(2):
        scheduler.step()  # warning: [TLN404]
        one_epoch(net, [torch.rand(1, 2)], optimizer)


def scaler_is_a_parameter():
    """Holds: abs(net.bias.item() - before) < 1e-3"""

    def step(model, x, optimizer, scaler):
        optimizer.zero_grad()
        scaler.scale(model(x).sum()).backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)  # warning: [TLN404]
        scaler.step(optimizer)

    net = nn.Linear(2, 1)
    before = net.bias.item()
    step(net, torch.ones(1, 2), torch.optim.SGD(net.parameters(), lr=1.0), torch.amp.GradScaler("cpu"))


def unscaled_before_clipping():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cpu")
    for _ in range(2):
        optimizer.zero_grad()
        scaler.scale(net(torch.ones(1, 2)).sum()).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def norm_is_measured_after_the_step():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        norm = nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
        print(norm.item())


def clipped_for_the_second_optimizer():
    a, b = nn.Linear(2, 2), nn.Linear(2, 1)
    opt_a, opt_b = torch.optim.SGD(a.parameters(), 0.1), torch.optim.SGD(b.parameters(), 0.1)
    for _ in range(2):
        opt_a.zero_grad()
        opt_b.zero_grad()
        b(a(torch.rand(1, 2))).sum().backward()
        nn.utils.clip_grad_norm_(a.parameters(), 1.0)
        opt_a.step()
        nn.utils.clip_grad_norm_(b.parameters(), 1.0)
        opt_b.step()


def schedule_is_resumed():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for _ in range(5):
        scheduler.step()
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        scheduler.step()


def step_of_the_batch_before():
    def train(model, loader, optimizer):
        pending = False
        for x in loader:
            if pending:
                optimizer.step()
            optimizer.zero_grad()
            model(x).sum().backward()
            pending = True

    net = nn.Linear(2, 1)
    train(net, [torch.rand(1, 2)] * 3, torch.optim.SGD(net.parameters(), lr=0.1))


def other_network_learns_later():
    def train(agent, critic, opt_actor, opt_critic, x):
        for _ in range(2):
            opt_actor.zero_grad()
            agent.accumulate(x)
            opt_actor.step()
            opt_critic.zero_grad()
            critic(x).sum().backward()
            opt_critic.step()

    class Agent:
        def __init__(self):
            self.net = nn.Linear(2, 1)

        def accumulate(self, x):
            self.net(x).sum().backward()

    agent, critic = Agent(), nn.Linear(2, 1)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (agent.net, critic)]
    train(agent, critic, *optimizers, torch.rand(3, 2))


def clipped_after_the_step_and_the_norm_is_printed():
    """Holds: abs(net.bias.item() - before) > 100"""
    LIMIT = 1.0
    net = nn.Linear(2, 1)
    before = net.bias.item()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    for _ in range(2):
        optimizer.zero_grad()
        (net(torch.ones(1, 2)).sum() * 1000).backward()
        optimizer.step()
        norm = nn.utils.clip_grad_norm_(net.parameters(), LIMIT)  # warning: [TLN404]
        print(norm.item())


def norm_is_measured_with_a_limit_that_is_never_met():
    def train(net, optimizer, limit):
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            print(nn.utils.clip_grad_norm_(net.parameters(), max_norm=1e9).item())
            print(nn.utils.clip_grad_norm_(net.parameters(), limit).item())

    net = nn.Linear(2, 1)
    train(net, torch.optim.SGD(net.parameters(), lr=1.0), float("inf"))


def scheduler_of_another_class():
    """Warns: Detected call of `lr_scheduler.step()` before `optimizer.step()`"""

    def train(model, optimizer, scheduler, batches):
        for batch in batches:
            scheduler.step()  # warning: [TLN404]
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, eval("torch.optim.lr_scheduler.StepLR")(optimizer, 3), [torch.ones(1, 2)])


def scheduler_of_a_class_of_ours():
    class WarmUpScheduler:
        def __init__(self, optimizer):
            self.optimizer, self.at = optimizer, -1

        def step(self):
            self.at += 1
            self.optimizer.param_groups[0]["lr"] = 0.1 * (self.at + 1)

    def train(model, optimizer, scheduler, batches):
        for batch in batches:
            scheduler.step()
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, WarmUpScheduler(optimizer), [torch.ones(1, 2)])


def scheduler_of_another_class_beside_one_of_torchs():
    """Warns: Detected call of `lr_scheduler.step()` before `optimizer.step()`"""

    class WarmUpScheduler(torch.optim.lr_scheduler.LambdaLR):
        def step(self, epoch=None):
            super().step(epoch)

    def train(model, optimizer, scheduler, batches):
        for batch in batches:
            scheduler.step()  # warning: [TLN404]
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, eval("WarmUpScheduler")(optimizer, lambda epoch: 1.0), [torch.ones(1, 2)])
