import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(10, 20),
    nn.GELU(),
    nn.Linear(20, 1),
)

params = model.parameters()
n_params = sum(p.numel() for p in params)
print(f"model has {n_params} parameters")
optimizer = torch.optim.AdamW(params, lr=1e-3)

x = torch.randn(32, 10)
y = x.mean(dim=1, keepdim=True)
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())
