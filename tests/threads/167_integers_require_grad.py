# thread: https://github.com/pytorch/pytorch/issues/53466
# diagnosis: A tensor is made of whole numbers and told to require grad.
# mistake: 19
# expected: TLN118
# symptom: raises RuntimeError: Only Tensors of floating point and complex dtype can require gradients

import torch


class Quadratic:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        return sum(c * x**i for i, c in enumerate(self.coefficients))


def minimise(f, steps, lr):
    x = torch.tensor([4], requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
    return x


print(minimise(Quadratic([1, -2, 1]), steps=20, lr=0.1))
