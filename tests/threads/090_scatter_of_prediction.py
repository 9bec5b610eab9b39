# thread: https://github.com/fastai/course-v3/issues/455
# diagnosis: A prediction of a leaf that requires grad is given to NumPy for a plot.
# mistake: 19, 32
# expected: TLN111
# symptom: raises RuntimeError: Can't call numpy() on Tensor that requires grad

import numpy as np
import torch

n = 40
x = torch.ones(n, 2)
x[:, 0].uniform_(-1.0, 1)
y = x @ torch.tensor([3.0, 2]) + torch.rand(n)
a = torch.tensor([-1.0, 1], requires_grad=True)


def points_of_line(x, a):
    order = np.argsort(x[:, 0].numpy())
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
