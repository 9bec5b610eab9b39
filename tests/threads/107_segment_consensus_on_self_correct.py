# correct: 107_segment_consensus_on_self.py
# cure: Plain operations need no Function.

import torch


class ConsensusModule(torch.nn.Module):
    def __init__(self, kind, dim=1):
        super().__init__()
        self.kind, self.dim = kind, dim

    def forward(self, scores):
        return scores.mean(dim=self.dim, keepdim=True) if self.kind == "avg" else scores


head = torch.nn.Sequential(torch.nn.Linear(7, 3), ConsensusModule("avg"))
head(torch.randn(2, 8, 7)).sum().backward()
