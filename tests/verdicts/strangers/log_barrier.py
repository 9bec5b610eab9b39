import torch
from torch import nn


def entropy(p):
    terms = torch.where(p > 0, p * torch.log(p), torch.zeros_like(p))
    return -terms.sum(dim=-1)


class SparseGate(nn.Module):
    def __init__(self, n_in, n_experts):
        super().__init__()
        self.w = nn.Linear(n_in, n_experts)

    def forward(self, x):
        gate = torch.relu(self.w(x))
        return gate / (gate.sum(dim=-1, keepdim=True) + 1e-6)


torch.manual_seed(0)
gate = SparseGate(6, 8)
opt = torch.optim.SGD(gate.parameters(), lr=0.1)
x = torch.randn(32, 6)
for step in range(4):
    opt.zero_grad()
    loss = -entropy(gate(x)).mean()
    loss.backward()
    opt.step()
    print(step, loss.item())
