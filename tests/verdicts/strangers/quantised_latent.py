import torch
from torch import nn


class QuantAE(nn.Module):
    def __init__(self, n_in=12, n_code=4, levels=8):
        super().__init__()
        self.levels = levels
        self.encoder = nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, n_code), nn.Sigmoid())
        self.decoder = nn.Sequential(nn.Linear(n_code, 16), nn.ReLU(), nn.Linear(16, n_in))

    def forward(self, x):
        z = self.encoder(x)
        code = torch.round(z * (self.levels - 1)) / (self.levels - 1)
        return self.decoder(code)


torch.manual_seed(0)
data = torch.rand(128, 12)
ae = QuantAE()
opt = torch.optim.Adam(ae.parameters(), lr=3e-3)
for epoch in range(30):
    opt.zero_grad()
    loss = nn.functional.mse_loss(ae(data), data)
    loss.backward()
    opt.step()
print(f"reconstruction {loss.item():.4f}")
