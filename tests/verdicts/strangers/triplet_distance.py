import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Linear(12, 4)
opt = torch.optim.Adam(embed.parameters(), lr=1e-3)
items = torch.randn(30, 12)
group = torch.arange(30) // 3


def pairwise(z):
    sq = (z.unsqueeze(0) - z.unsqueeze(1)).pow(2).sum(dim=-1)
    return torch.sqrt(sq)


for it in range(3):
    opt.zero_grad()
    dist = pairwise(embed(items))
    same = (group.unsqueeze(0) == group.unsqueeze(1)).float()
    pull = (dist * same).sum() / same.sum()
    push = (torch.relu(1 - dist) * (1 - same)).sum() / (1 - same).sum()
    loss = pull + push
    loss.backward()
    opt.step()
    print(it, loss.item())
