"""Meta-learning: steps inside with a graph, a step outside through all of them; and a first-order variant."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def init_weights():
    shapes = [(8, 1), (8,), (1, 8), (1,)]
    return [nn.Parameter(torch.randn(shape) * 0.1) for shape in shapes]


def net(x, weights):
    x = F.linear(x, weights[0], weights[1])
    x = torch.tanh(x)
    return F.linear(x, weights[2], weights[3])


def sample_task():
    amplitude, phase = torch.rand(1) * 4 + 0.1, torch.rand(1) * 3

    def draw(k):
        x = torch.rand(k, 1) * 10 - 5
        return x, amplitude * torch.sin(x + phase)

    return draw


def inner_loop(weights, task, steps=2, alpha=0.01, create_graph=True):
    x, y = task(5)
    fast = list(weights)
    for _ in range(steps):
        loss = F.mse_loss(net(x, fast), y)
        grads = torch.autograd.grad(loss, fast, create_graph=create_graph)
        fast = [w - alpha * g for w, g in zip(fast, grads)]
    return fast


def meta_train(iterations):
    weights = init_weights()
    optimizer = torch.optim.Adam(weights, lr=1e-3)
    for iteration in range(iterations):
        meta_loss = 0
        for _ in range(3):
            task = sample_task()
            fast = inner_loop(weights, task)
            x, y = task(5)
            meta_loss = meta_loss + F.mse_loss(net(x, fast), y)
        optimizer.zero_grad()
        (meta_loss / 3).backward()
        optimizer.step()
        print(iteration, meta_loss.item())
    return weights


def reptile(iterations, epsilon=0.1):
    model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    for _ in range(iterations):
        before = {name: p.detach().clone() for name, p in model.named_parameters()}
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        task = sample_task()
        for _ in range(2):
            x, y = task(5)
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(before[name] + epsilon * (p - before[name]))
    return model


if __name__ == "__main__":
    learned = meta_train(2)
    adapted = inner_loop(learned, sample_task(), steps=1, create_graph=False)
    print(len(adapted), reptile(2))
