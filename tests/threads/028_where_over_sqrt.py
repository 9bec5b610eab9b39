# thread: https://github.com/pytorch/pytorch/issues/187297
# diagnosis: where chooses the other branch, but the square root of negative values is differentiated all the same.
# mistake: 17
# expected: TLN604
# symptom: prints gradient is nan: True

import torch
import torch.nn as nn


class SignedRoot(nn.Module):
    def __init__(self, floor):
        super().__init__()
        self.floor = floor

    def forward(self, level):
        return torch.where(level > self.floor, torch.sqrt(level), level)


height = torch.tensor([-1.5, -4.0, 2.0], requires_grad=True)
SignedRoot(floor=0.0)(height).sum().backward()
print("gradient is nan:", height.grad.isnan().any().item())
