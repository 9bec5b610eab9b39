# Its history begins with the node of the call.
# expected: ok

import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


w = torch.ones(3, requires_grad=True)
x = w * 1
y = Double.apply(x)
(x + y).sum().backward()
with torch.no_grad():
    Double.apply(w)
