# ruff: noqa
"""Programs for TLN707."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def running_loss():
    """Holds: isinstance(running, float)"""
    net = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters())
    running = 0.0
    for epoch in range(2):
        for x, y in [(torch.rand(4, 3), torch.zeros(4, dtype=torch.long))] * 3:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item()  # strict: [TLN707]


def printed_in_every_step():
    """Holds: steps == 3"""

    def train(net, optimizer):
        steps = 0
        for _ in range(3):
            optimizer.zero_grad()
            loss = (net(torch.ones(1, 2)) ** 2).sum()
            loss.backward()
            optimizer.step()
            print(loss)  # strict: [TLN707]
            steps += 1
        return steps

    net = nn.Linear(2, 1)
    steps = train(net, torch.optim.SGD(net.parameters(), lr=0.1))


def accuracy_of_each_batch():
    """Holds: len(history) == 2"""
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    history = []
    y = torch.zeros(3, dtype=torch.long)
    for _ in range(2):
        out = net(torch.rand(3, 2))
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct = (out.argmax(1) == y).sum()
        history.append(float(correct))  # strict: [TLN707]


def while_loop():
    """Holds: values[0] != values[-1]"""
    x = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=0.1)
    values, step = [], 0
    while step < 3:
        optimizer.zero_grad()
        energy = (x**2).sum()
        energy.backward()
        optimizer.step()
        values.append(energy.detach().cpu())  # strict: [TLN707]
        step += 1


def every_hundredth_step():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        loss = net(torch.rand(1, 2)).sum()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(step, loss.item())


def once_per_epoch():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        total = torch.zeros(())
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(torch.rand(1, 2)).sum()
            loss.backward()
            optimizer.step()
            total += loss.detach()
        print(total.item())


def value_decides():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(torch.rand(1, 2)).sum()
        if loss.item() > 1e6:
            break
        loss.backward()
        optimizer.step()


def evaluation():
    net = nn.Linear(2, 1)
    total = 0.0
    with torch.no_grad():
        for _ in range(3):
            total += net(torch.rand(1, 2)).sum().item()
