# correct: 167_integers_require_grad.py
# cure: The number is a float.

import torch


class Quadratic:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        return sum(c * x**i for i, c in enumerate(self.coefficients))


def minimise(f, steps, lr):
    x = torch.tensor([4.0], requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        f(x).backward()
        optimizer.step()
    return x


print(minimise(Quadratic([1, -2, 1]), steps=20, lr=0.1))
