import torch
from torch import nn


class Binarise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return torch.ones_like(grad_output)


class BinaryCoder(nn.Module):
    def __init__(self, n_in=10, bits=6):
        super().__init__()
        self.to_bits = nn.Linear(n_in, bits)
        self.from_bits = nn.Linear(bits, n_in)

    def forward(self, x):
        return self.from_bits(Binarise.apply(self.to_bits(x)))


torch.manual_seed(0)
coder = BinaryCoder()
opt = torch.optim.Adam(coder.parameters(), lr=1e-2)
data = torch.randn(128, 10)
for epoch in range(20):
    opt.zero_grad()
    loss = nn.functional.mse_loss(coder(data), data)
    loss.backward()
    opt.step()
print("loss", loss.item())
