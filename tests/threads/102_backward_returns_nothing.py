# thread: https://github.com/huawei-noah/AdderNet/issues/21
# diagnosis: backward computes both gradients and returns none of them.
# mistake: 18, 22
# expected: TLN503
# symptom: raises RuntimeError: returned an incorrect number of gradients

import torch
from torch.autograd import Function


class L1Match(Function):
    @staticmethod
    def forward(ctx, W, X):
        ctx.save_for_backward(W, X)
        return -(W.unsqueeze(2) - X.unsqueeze(0)).abs().sum(1)

    @staticmethod
    def backward(ctx, grad_output):
        W, X = ctx.saved_tensors
        difference = X.unsqueeze(0) - W.unsqueeze(2)
        grad_W = (difference * grad_output.unsqueeze(1)).sum(2)
        grad_X = (-difference.clamp(-1, 1) * grad_output.unsqueeze(1)).sum(0)


class MatchLayer(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.templates = torch.nn.Parameter(torch.randn(outputs, inputs))

    def forward(self, x):
        return L1Match.apply(self.templates, x.t()).t()


MatchLayer(4, 3)(torch.randn(5, 4)).mean().backward()
