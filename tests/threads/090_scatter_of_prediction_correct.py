# correct: 090_scatter_of_prediction.py
# cure: The prediction is made without a graph.

import numpy as np
import torch

n = 40
x = torch.ones(n, 2)
x[:, 0].uniform_(-1.0, 1)
y = x @ torch.tensor([3.0, 2]) + torch.rand(n)
a = torch.tensor([-1.0, 1], requires_grad=True)


def points_of_line(x, a):
    order = np.argsort(x[:, 0].numpy())
    with torch.no_grad():
        return x[:, 0].numpy()[order], np.asarray(x @ a)[order]


def update(lr):
    loss = ((x @ a - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        a.sub_(lr * a.grad)
        a.grad.zero_()


for t in range(5):
    update(lr=1e-1)
print(points_of_line(x, a))
