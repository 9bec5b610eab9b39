import torch


def rosenbrock(p):
    x, y = p[0], p[1]
    return (1 - x) ** 2 + 100 * (y - x ** 2) ** 2


def minimise(start, lr=1e-3, steps=200):
    point = torch.tensor(start, requires_grad=True)
    for k in range(steps):
        value = rosenbrock(point)
        grad, = torch.autograd.grad(value, point)
        point -= lr * grad
        if k % 50 == 0:
            print(k, value.item(), point.tolist())
    return point


if __name__ == "__main__":
    minimise([-1.0, 1.5])
