import torch
from torch import nn


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def weights(self, x, pad):
        s = self.score(x).squeeze(-1)
        s.masked_fill(pad, float("-inf"))
        return torch.softmax(s, dim=1)

    def forward(self, x, pad):
        return (self.weights(x, pad).unsqueeze(-1) * x).sum(dim=1)


torch.manual_seed(0)
pool, head = AttentionPool(6), nn.Linear(6, 1)
opt = torch.optim.Adam([*pool.parameters(), *head.parameters()], lr=1e-2)
x = torch.randn(16, 9, 6)
lengths = torch.randint(3, 10, (16,))
pad = torch.arange(9)[None] >= lengths[:, None]
y = torch.stack([row[:n].sum() for row, n in zip(x, lengths.tolist())]).unsqueeze(1)
for epoch in range(20):
    opt.zero_grad()
    loss = nn.functional.mse_loss(head(pool(x, pad)), y)
    loss.backward()
    opt.step()
print("loss", loss.item())
