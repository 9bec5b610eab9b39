# correct: 131_log_of_summed_exponentials.py
# cure: logsumexp subtracts the maximum.

import math

import torch
import torch.nn as nn


class PartLikelihood(nn.Module):
    def __init__(self, parts, dim):
        super().__init__()
        self.centers = nn.Parameter(torch.zeros(parts, dim))
        self.mixing = nn.Parameter(torch.zeros(parts))

    def forward(self, x):
        squared = (x.unsqueeze(1) - self.centers).pow(2).sum(-1)
        component = -0.5 * (squared + x.size(1) * math.log(2 * math.pi))
        weighted = component + torch.log_softmax(self.mixing, dim=0)
        return torch.logsumexp(weighted, dim=1).mean()


model = PartLikelihood(3, 2)
print("likelihood is finite:", bool(torch.isfinite(model(torch.full((4, 2), 40.0)))))
