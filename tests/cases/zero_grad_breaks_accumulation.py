# ruff: noqa
"""Programs for TLN405."""

import torch
import torch.nn.functional as F
from torch import nn


def zeroed_on_every_micro_batch():
    """Holds: abs(moved - 1) < 1e-5"""

    def train(model, loader, optimizer, accumulation_steps):
        for i, x in enumerate(loader):
            optimizer.zero_grad()  # warning: [TLN405]
            loss = model(x).sum()
            loss.backward()
            if (i + 1) % accumulation_steps == 0:
                optimizer.step()

    net = nn.Linear(2, 1)
    start = net.bias.item()
    train(net, [torch.ones(1, 2)] * 4, torch.optim.SGD(net.parameters(), lr=1.0), 4)
    moved = start - net.bias.item()


def step_after_the_micro_batches():
    """Holds: abs(start - net.bias.item() - 1) < 1e-5"""
    net = nn.Linear(2, 1)
    start = net.bias.item()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    for batch in [torch.ones(4, 2)]:
        for micro in batch.chunk(4):
            optimizer.zero_grad()  # warning: [TLN405]
            net(micro).sum().backward()
        optimizer.step()


def zeroed_per_epoch():
    """Holds: net.bias.grad.item() == 3"""

    def fit(model, loader, optimizer, epochs):
        for epoch in range(epochs):
            optimizer.zero_grad()
            for x in loader:
                model(x).sum().backward()
                optimizer.step()  # warning: [TLN405]

    net = nn.Linear(2, 1)
    fit(net, [torch.ones(1, 2)] * 3, torch.optim.SGD(net.parameters(), lr=0.1), 2)


def zeroed_once_before_the_loop():
    """Holds: net.bias.grad.item() == 3"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    optimizer.zero_grad()
    for _ in range(3):
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()  # warning: [TLN405]


def in_a_trainer():
    """Holds: trainer.net.bias.grad.item() == 2"""

    class Trainer:
        def __init__(self):
            self.net = nn.Linear(2, 1)
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def epoch(self, loader):
            for x in loader:
                loss = self.net(x).sum()
                loss.backward()
                self.optimizer.step()  # warning: [TLN405]

        def fit(self, loader):
            for _ in range(2):
                self.optimizer.zero_grad()
                self.epoch(loader)

    trainer = Trainer()
    trainer.fit([torch.ones(1, 2)] * 2)


def right_accumulation():
    def train(model, loader, optimizer, k):
        optimizer.zero_grad()
        for i, x in enumerate(loader):
            (model(x).sum() / k).backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()

    net = nn.Linear(2, 1)
    train(net, [torch.ones(1, 2)] * 4, torch.optim.SGD(net.parameters(), lr=1.0), 2)


def zeroed_at_the_start_of_a_group():
    def train(model, loader, optimizer, k):
        for i, x in enumerate(loader):
            if i % k == 0:
                optimizer.zero_grad()
            (model(x).sum() / k).backward()
            if (i + 1) % k == 0:
                optimizer.step()

    net = nn.Linear(2, 1)
    train(net, [torch.ones(1, 2)] * 4, torch.optim.SGD(net.parameters(), lr=1.0), 2)


def step_skipped_on_bad_gradients():
    def train(model, loader, optimizer):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if torch.isfinite(norm):
                optimizer.step()

    net = nn.Linear(2, 1)
    train(net, [torch.ones(1, 2)] * 2, torch.optim.SGD(net.parameters(), lr=1.0))


def generator_every_fifth_step():
    def train(g, d, opt_g, opt_d, z, n_critic):
        for i in range(6):
            opt_d.zero_grad()
            opt_g.zero_grad()
            d(g(z).detach()).mean().backward()
            opt_d.step()
            if i % n_critic == 0:
                (-d(g(z)).mean()).backward()
                opt_g.step()

    g, d = nn.Linear(2, 2), nn.Linear(2, 1)
    train(g, d, torch.optim.SGD(g.parameters(), 0.1), torch.optim.SGD(d.parameters(), 0.1), torch.rand(3, 2), 2)


def gradients_are_read_every_time():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    saliency = []
    for x in torch.rand(3, 1, 2):
        optimizer.zero_grad()
        net(x).sum().backward()
        saliency.append(net.weight.grad.clone())
    optimizer.step()


def accumulated_per_epoch():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        optimizer.zero_grad()
        for x in torch.rand(3, 1, 2):
            net(x).sum().backward()
        optimizer.step()


def optimizer_and_count_are_arguments():
    """Holds: all(alone)"""
    alone = []

    def train(model, optimizer, loader, accumulation):
        for index, x in enumerate(loader):
            optimizer.zero_grad(set_to_none=True)  # warning: [TLN405]
            loss = F.mse_loss(model(x), x) / accumulation
            loss.backward()
            if (index + 1) % accumulation == 0:
                last = torch.autograd.grad(F.mse_loss(model(x), x) / accumulation, model.weight)[0]
                alone.append(torch.allclose(model.weight.grad, last))
                optimizer.step()

    model = nn.Linear(2, 2)
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.rand(4, 3, 2), 2)


def norm_is_printed_before_the_step():
    """Holds: all(alone)"""
    alone = []
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, x in enumerate(torch.rand(4, 3, 2)):
        optimizer.zero_grad()  # warning: [TLN405]
        loss = F.mse_loss(model(x), x) / 2
        loss.backward()
        if (index + 1) % 2 == 0:
            print(model.weight.grad.norm())
            last = torch.autograd.grad(F.mse_loss(model(x), x) / 2, model.weight)[0]
            alone.append(torch.allclose(model.weight.grad, last))
            optimizer.step()


def every_kth_is_skipped_or_logged():
    def skip(model, optimizer, loader, k):
        for i, x in enumerate(loader):
            optimizer.zero_grad()
            F.mse_loss(model(x), x).backward()
            if (i + 1) % k == 0:
                continue
            optimizer.step()

    def log(model, optimizer, loader, k):
        for i, x in enumerate(loader):
            optimizer.zero_grad()
            F.mse_loss(model(x), x).backward()
            optimizer.step()
            if (i + 1) % k == 0:
                print(i)

    def accumulate(model, optimizer, loader, k):
        for i, x in enumerate(loader):
            if i % k == 0:
                optimizer.zero_grad()
            F.mse_loss(model(x), x).backward()
            if (i + 1) % k == 0:
                optimizer.step()

    model = nn.Linear(2, 2)
    for train in (log, accumulate):
        train(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.rand(4, 3, 2), 2)


def every_gradient_is_kept_for_a_plot():
    def train(model, optimizer, loader, k):
        norms = []
        for i, x in enumerate(loader):
            optimizer.zero_grad()
            F.mse_loss(model(x), x).backward()
            norms.append(model.weight.grad.norm())
            if (i + 1) % k == 0:
                optimizer.step()
        return norms

    model = nn.Linear(2, 2)
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.rand(4, 3, 2), 2)


def zeroed_in_the_loop_unless_the_caller_wants_it_otherwise():
    def fit(net, data, optimizer, fresh=True):
        for x in data:
            if fresh:
                optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()

    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    fit(net, torch.rand(3, 4, 2), optimizer)
    fit(net, torch.rand(3, 4, 2), optimizer, fresh=False)


def zeroed_around_the_loop_that_steps():
    """Holds: net.weight.grad is not None"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def fit(epochs):
        for _ in range(epochs):
            optimizer.zero_grad()
            for x in torch.rand(3, 4, 2):
                net(x).pow(2).mean().backward()
                optimizer.step()  # warning: [TLN405]

    fit(2)
