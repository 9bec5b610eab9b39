import torch
from torch import nn


def halve(grad):
    grad.mul_(0.5)
    return grad


class Sum(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fast = nn.Linear(dim, dim, bias=False)
        self.slow = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        a = self.fast(x)
        b = self.slow(x)
        if b.requires_grad:
            b.register_hook(halve)
        return a + b


torch.manual_seed(0)
model = Sum(4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 4)
for _ in range(5):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    print(loss.item(), model.fast.weight.grad.norm().item(), model.slow.weight.grad.norm().item())
