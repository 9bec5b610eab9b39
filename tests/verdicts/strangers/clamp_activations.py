import torch
from torch import nn

torch.manual_seed(0)
w = nn.Parameter(torch.randn(6, 6))
opt = torch.optim.SGD([w], lr=0.01)


def layer(x):
    h = x @ w
    energy = h.pow(2).mean()
    h.data.clamp_(-0.5, 0.5)
    return h, energy


for step in range(10):
    x = torch.randn(32, 6)
    opt.zero_grad()
    h, energy = layer(x)
    loss = (h.mean() - 0.1).abs() + energy
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}")
