# ruff: noqa
"""Programs for TLN312."""

import copy

import torch
from torch import nn


def best_is_the_last():
    """Holds: best_net is net"""
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best_acc, best_net = -1.0, None
    for epoch in range(3):
        opt.zero_grad()
        loss = net(torch.ones(4, 2)).square().mean()
        loss.backward()
        opt.step()
        acc = -loss.item()
        if acc > best_acc:
            best_acc = acc
            best_net = net  # warning: [TLN312]
    print(best_net(torch.ones(1, 2)))


def in_a_function():
    """Holds: fitted is model"""

    def fit(model, epochs):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        best, best_model = float("inf"), None
        for epoch in range(epochs):
            for x in torch.ones(2, 3, 2):
                optimizer.zero_grad()
                loss = model(x).square().mean()
                loss.backward()
                optimizer.step()
            if loss < best:
                best, count = loss.item(), 0
                best_model = model  # warning: [TLN312]
        return best_model

    model = nn.Linear(2, 1)
    fitted = fit(model, 2)


def of_a_trainer():
    """Holds: trainer.best_model is trainer.model"""

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.best_model = None
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

        def train_epoch(self):
            self.optimizer.zero_grad()
            loss = self.model(torch.ones(4, 2)).square().mean()
            loss.backward()
            self.optimizer.step()
            return loss.item()

        def run(self):
            best = float("inf")
            for epoch in range(3):
                loss = self.train_epoch()
                if loss < best:
                    best = loss
                    self.best_model = self.model  # warning: [TLN312]

        def predict(self, x):
            return self.best_model(x)

    trainer = Trainer(nn.Linear(2, 1))
    trainer.run()


def trained_by_a_function():
    """Holds: best_model is model"""

    def train_one_epoch(model, optimizer):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 2)).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best = float("inf")
    for epoch in range(3):
        loss = train_one_epoch(model, optimizer)
        if loss < best:
            best = loss
            best_model = model  # warning: [TLN312]
    torch.save(best_model.state_dict(), "/dev/null")


def copied():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best_net = net
    for epoch in range(3):
        opt.zero_grad()
        net(torch.ones(4, 2)).square().mean().backward()
        opt.step()
        best_net = copy.deepcopy(net)
    print(best_net(torch.ones(1, 2)))


def a_model_per_round():
    best, best_model = float("inf"), None
    for rate in (0.1, 0.2):
        model = nn.Linear(2, 1)
        opt = torch.optim.SGD(model.parameters(), lr=rate)
        loss = model(torch.ones(4, 2)).square().mean()
        loss.backward()
        opt.step()
        if loss.item() < best:
            best = loss.item()
            best_model = model
    print(best_model(torch.ones(1, 2)))


def of_several_models():
    models = [nn.Linear(2, 1), nn.Linear(2, 1)]
    best, best_model = float("inf"), None
    for number, model in enumerate(models):
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            opt.zero_grad()
            loss = model(torch.ones(4, 2)).square().mean()
            loss.backward()
            opt.step()
        if loss.item() < best:
            best = loss.item()
            best_model = model
    print(best_model(torch.ones(1, 2)))


def left_at_once():
    model = nn.Linear(2, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    best_model = None
    for epoch in range(10):
        opt.zero_grad()
        loss = model(torch.ones(4, 2)).square().mean()
        loss.backward()
        opt.step()
        if loss.item() < 10.0:
            best_model = model
            break
    print(best_model)


def saved_at_once():
    model = nn.Linear(2, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    best = float("inf")
    for epoch in range(3):
        opt.zero_grad()
        loss = model(torch.ones(4, 2)).square().mean()
        loss.backward()
        opt.step()
        if loss.item() < best:
            best = loss.item()
            best_model = model
            torch.save(best_model.state_dict(), "/dev/null")


def only_evaluated():
    model = nn.Linear(2, 1)
    best, best_model = float("inf"), None
    for x in torch.ones(3, 4, 2):
        with torch.no_grad():
            error = model(x).square().mean().item()
        if error < best:
            best, best_model = error, model
            best_input = x
    print(best_model, best_input)


def what_is_no_model():
    model = nn.Linear(2, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    best = float("inf")
    for epoch in range(3):
        opt.zero_grad()
        loss = model(torch.ones(4, 2)).square().mean()
        loss.backward()
        opt.step()
        value = loss.item()
        if value < best:
            best = value
            best_epoch = epoch
    print(best, best_epoch)
