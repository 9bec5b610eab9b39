# thread: https://github.com/jorge-pessoa/pytorch-gdn/issues/2
# diagnosis: A Function is instantiated and called, with forward and backward that are no static methods.
# mistake: 13, 18, 31
# expected: TLN502
# symptom: raises RuntimeError: Legacy autograd function with non-static forward method is deprecated

import torch
from torch import nn
from torch.autograd import Function


class LowerBound(Function):
    def forward(ctx, inputs, bound):
        b = torch.ones(inputs.size()) * bound
        ctx.save_for_backward(inputs, b)
        return torch.max(inputs, b)

    def backward(ctx, grad_output):
        inputs, b = ctx.saved_tensors
        passes = (inputs >= b) | (grad_output < 0)
        return passes.type(grad_output.dtype) * grad_output, None


class Normalization(nn.Module):
    def __init__(self, channels, beta_min=1e-6):
        super(Normalization, self).__init__()
        self.bound = beta_min**0.5
        self.beta = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        beta = LowerBound()(self.beta, self.bound)
        return x / torch.sqrt(beta.view(1, -1, 1, 1) ** 2 + x**2)


Normalization(3)(torch.randn(1, 3, 4, 4)).mean().backward()
