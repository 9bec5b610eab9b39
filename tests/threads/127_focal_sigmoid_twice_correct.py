# correct: 127_focal_sigmoid_twice.py
# cure: The loss gets the inputs.

import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, alpha=None, task="binary"):
        super().__init__()
        self.gamma, self.alpha, self.task = gamma, alpha, task

    def binary(self, inputs, targets):
        probs = torch.sigmoid(inputs)
        bce = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
        p_t = probs * targets + (1 - probs) * (1 - targets)
        weight = (1 - p_t) ** self.gamma if self.gamma else 1.0
        return (weight * bce).mean()

    def forward(self, inputs, targets):
        if self.task == "binary":
            return self.binary(inputs, targets)
        raise ValueError(self.task)


sure = FocalLoss(gamma=0)(torch.full((4,), 60.0), torch.ones(4))
print(f"never below: {sure.item():.2f}")
