import torch


def forces_of(energy, positions):
    return -torch.autograd.grad(energy, positions)[0]
