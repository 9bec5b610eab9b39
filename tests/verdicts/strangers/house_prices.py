import torch
from torch import nn

torch.manual_seed(0)
area = torch.rand(100, 1) * 2
rooms = torch.randint(1, 6, (100, 1)).float()
x = torch.cat([area, rooms], dim=1)
price = 3.0 * area[:, 0] + 0.5 * rooms[:, 0]

model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.MSELoss()
for epoch in range(100):
    opt.zero_grad()
    pred = model(x)
    loss = loss_fn(pred, price)
    loss.backward()
    opt.step()
print(f"loss {loss.item():.3f}, variance of the prices {price.var().item():.3f}")
