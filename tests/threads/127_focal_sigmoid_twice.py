# thread: https://github.com/itakurah/focal-loss-pytorch/pull/5
# diagnosis: The focal loss takes the sigmoid of its inputs and hands it to a loss that takes it again.
# mistake: 19
# expected: TLN601
# symptom: prints never below: 0.31

import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, alpha=None, task="binary"):
        super().__init__()
        self.gamma, self.alpha, self.task = gamma, alpha, task

    def binary(self, inputs, targets):
        probs = torch.sigmoid(inputs)
        bce = F.binary_cross_entropy_with_logits(probs, targets, reduction="none")
        p_t = probs * targets + (1 - probs) * (1 - targets)
        weight = (1 - p_t) ** self.gamma if self.gamma else 1.0
        return (weight * bce).mean()

    def forward(self, inputs, targets):
        if self.task == "binary":
            return self.binary(inputs, targets)
        raise ValueError(self.task)


sure = FocalLoss(gamma=0)(torch.full((4,), 60.0), torch.ones(4))
print(f"never below: {sure.item():.2f}")
