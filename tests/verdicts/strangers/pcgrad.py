import torch
from torch import nn

torch.manual_seed(0)

net = nn.Linear(5, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(40, 5)
goal = torch.randn(40, 2)


def grads_of(column):
    loss = (net(x)[:, column] - goal[:, column]).pow(2).mean()
    loss.backward()
    return [p.grad for p in net.parameters()]


for step in range(5):
    optimizer.zero_grad()
    first = grads_of(0)
    optimizer.zero_grad(set_to_none=False)
    second = grads_of(1)
    with torch.no_grad():
        for p, g1, g2 in zip(net.parameters(), first, second):
            dot = (g1 * g2).sum()
            p.grad = g1 + g2 if dot >= 0 else 0.5 * (g1 + g2)
    optimizer.step()
    print(step, [round(g.norm().item(), 4) for g in first])
