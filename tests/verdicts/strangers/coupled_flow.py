import torch
from torch import nn


class AffineCoupling(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.pre = nn.Linear(dim, dim)
        self.net = nn.Sequential(nn.Linear(dim // 2, 32), nn.Tanh(), nn.Linear(32, dim))

    def forward(self, x):
        a, b = self.pre(x).chunk(2, dim=1)
        log_s, t = self.net(a).chunk(2, dim=1)
        b += t * torch.exp(-log_s)
        return torch.cat([a, b], dim=1), log_s.sum(dim=1)


torch.manual_seed(0)
flow = AffineCoupling(4)
opt = torch.optim.Adam(flow.parameters(), lr=1e-3)
for it in range(10):
    x = torch.randn(64, 4) * 0.5 + 1
    z, logdet = flow(x)
    nll = (0.5 * z.pow(2).sum(dim=1) - logdet).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
    print(it, nll.item())
