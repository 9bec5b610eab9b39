import torch
from torch import nn
import torch.nn.functional as F


class DeepSet(nn.Module):
    def __init__(self, n_in=3, width=32, depth=3):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.hidden = [nn.Linear(width, width) for _ in range(depth)]
        self.rho = nn.Linear(width, 1)

    def forward(self, x):
        h = F.relu(self.inp(x))
        for layer in self.hidden:
            h = h + F.relu(layer(h))
        return self.rho(h.mean(dim=1))


torch.manual_seed(0)
sets = torch.randn(64, 10, 3)
answer = sets.amax(dim=(1, 2)).unsqueeze(1)
model = DeepSet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(30):
    opt.zero_grad()
    loss = F.mse_loss(model(sets), answer)
    loss.backward()
    opt.step()
print("parameters:", sum(p.numel() for p in model.parameters()), "loss:", loss.item())
