# correct: 029_where_over_exp.py
# cure: The exponential gets only what lies below zero.

import torch


def soft_linear(x):
    """Exponential below zero, linear above."""
    return torch.where(x <= 0, torch.exp(x.clamp(max=0)), 1 + x)


def loss_at(weights, stimulus):
    return soft_linear(stimulus @ weights).mean()


weights = torch.tensor([40.0, 25.0], requires_grad=True)
stimulus = torch.tensor([[2.0, 1.0], [3.0, 0.5], [-1.0, 0.0]])
loss_at(weights, stimulus).backward()
print("gradient is nan:", weights.grad.isnan().any().item())
