# thread: https://github.com/mit-han-lab/temporal-shift-module/issues/20
# diagnosis: A consensus over segments is a Function with a constructor of its own and methods that are not static.
# mistake: 15, 19, 31
# expected: TLN502
# symptom: raises RuntimeError: Legacy autograd function with non-static forward method is deprecated

import torch


class SegmentConsensus(torch.autograd.Function):
    def __init__(self, consensus_type, dim=1):
        self.consensus_type = consensus_type
        self.dim = dim

    def forward(self, scores):
        self.shape = scores.size()
        return scores.mean(dim=self.dim, keepdim=True) if self.consensus_type == "avg" else scores

    def backward(self, grad_output):
        if self.consensus_type == "avg":
            return grad_output.expand(self.shape) / float(self.shape[self.dim])
        return grad_output


class ConsensusModule(torch.nn.Module):
    def __init__(self, kind, dim=1):
        super().__init__()
        self.kind, self.dim = kind, dim

    def forward(self, scores):
        return SegmentConsensus(self.kind, self.dim)(scores)


head = torch.nn.Sequential(torch.nn.Linear(7, 3), ConsensusModule("avg"))
head(torch.randn(2, 8, 7)).sum().backward()
