import torch
from torch import nn

torch.manual_seed(0)
t = torch.linspace(0, 6.28, 80).view(1, 80, 1)
noisy = torch.sin(t) + 0.3 * torch.randn_like(t)

rnn = nn.RNN(1, 12, batch_first=True)
proj = nn.Linear(12, 1)
params = list(rnn.parameters()) + list(proj.parameters())
opt = torch.optim.Adam(params, lr=5e-3)
lam = 5.0

for it in range(40):
    opt.zero_grad()
    hidden, _ = rnn(noisy)
    pred = proj(hidden)
    fit = nn.functional.mse_loss(pred, noisy)
    rough = (pred[:, 1:] - pred[:, :-1]).pow(2).mean().item()
    loss = fit + lam * rough
    loss.backward()
    opt.step()

print(f"fit {fit.item():.4f} total {loss.item():.4f}")
