# thread: https://github.com/marlbenchmark/on-policy/issues/19
# diagnosis: The running statistics are Parameters, and update assigns tensors to their names.
# mistake: 28
# expected: TLN307
# symptom: raises TypeError: cannot assign 'torch.FloatTensor' as parameter

import torch
import torch.nn as nn


class PopArt(nn.Module):
    def __init__(self, inputs, outputs, beta=0.99):
        super().__init__()
        self.beta = beta
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * 0.1)
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.mean = nn.Parameter(torch.zeros(outputs), requires_grad=False)
        self.mean_sq = nn.Parameter(torch.zeros(outputs), requires_grad=False)
        self.stddev = nn.Parameter(torch.ones(outputs), requires_grad=False)

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)

    @torch.no_grad()
    def update(self, targets):
        self.mean.mul_(self.beta).add_(targets.mean(0) * (1 - self.beta))
        self.mean_sq.mul_(self.beta).add_(targets.pow(2).mean(0) * (1 - self.beta))
        self.stddev = (self.mean_sq - self.mean**2).sqrt().clamp(min=1e-4)


head = PopArt(4, 1)
head.update(torch.randn(10, 1))
