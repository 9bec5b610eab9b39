# correct: 114_time_scaled_before_the_loop.py
# cure: What requires grad is the result.

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.stack = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, x, t):
        return self.stack(torch.cat([t, x], dim=1))


net = Field(10)
x = torch.empty(20, 1).uniform_(-1, 1).requires_grad_()
start, width = 1.0, 3.0
t = (start + width * torch.rand(20, 1)).requires_grad_()

opt = torch.optim.Adam(net.parameters(), lr=0.01)
for iteration in range(2):
    loss = torch.mean(torch.square(net(x, t)))
    opt.zero_grad()
    loss.backward()
    opt.step()
