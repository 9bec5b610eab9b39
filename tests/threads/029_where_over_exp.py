# thread: https://github.com/pytorch/pytorch/issues/68425
# diagnosis: The branch that is not taken overflows, and zero times infinity reaches the gradient.
# mistake: 12
# expected: TLN604
# symptom: prints gradient is nan: True

import torch


def soft_linear(x):
    """Exponential below zero, linear above."""
    return torch.where(x <= 0, torch.exp(x), 1 + x)


def loss_at(weights, stimulus):
    return soft_linear(stimulus @ weights).mean()


weights = torch.tensor([40.0, 25.0], requires_grad=True)
stimulus = torch.tensor([[2.0, 1.0], [3.0, 0.5], [-1.0, 0.0]])
loss_at(weights, stimulus).backward()
print("gradient is nan:", weights.grad.isnan().any().item())
