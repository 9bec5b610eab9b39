# expected: ok
import torch


def optimize(x):
    y = torch.nn.functional.hardtanh(x)
    y.requires_grad_()
    return torch.optim.SGD([y])
