import torch
from torch import nn


class CausalPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Linear(1, dim)
        self.query = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, seq):
        steps = seq.size(0)
        cache = torch.zeros(steps, self.query.in_features)
        ys = []
        for t in range(steps):
            e = self.embed(seq[t])
            cache[t] = e
            score = torch.softmax(cache[:t + 1] @ self.query(e), dim=0)
            ys.append(self.out(score @ cache[:t + 1]))
        return torch.stack(ys)


torch.manual_seed(0)
model = CausalPool(8)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
seq = torch.sin(torch.arange(12.0)).unsqueeze(1)
for _ in range(5):
    opt.zero_grad()
    pred = model(seq[:-1])
    loss = (pred - seq[1:]).pow(2).mean()
    loss.backward()
    opt.step()
    print(loss.item())
