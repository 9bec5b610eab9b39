import torch
from torch import nn


class ScaledLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, scale):
        ctx.save_for_backward(x, weight)
        ctx.scale = scale
        return scale * (x @ weight.t()) + bias

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        gx = ctx.scale * (grad @ weight)
        gw = ctx.scale * (grad.t() @ x)
        gb = grad.sum(dim=0)
        return gx, gw, gb


class Layer(nn.Module):
    def __init__(self, n_in, n_out, scale=0.5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.scale = scale

    def forward(self, x):
        return ScaledLinear.apply(x, self.weight, self.bias, self.scale)


torch.manual_seed(0)
layer = Layer(4, 2)
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(5):
    opt.zero_grad()
    loss = layer(torch.randn(8, 4)).square().mean()
    loss.backward()
    opt.step()
    print(loss.item())
