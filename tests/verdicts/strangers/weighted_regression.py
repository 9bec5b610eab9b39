import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
features = torch.randn(96, 5)
targets = features.sum(dim=1, keepdim=True)
weights = torch.rand(96, 1)
loader = DataLoader(TensorDataset(features, targets, weights), batch_size=16, shuffle=True)

model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.SmoothL1Loss(reduction="none")

for epoch in range(3):
    running = 0.0
    for xb, yb, wb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb) * wb
        loss.backward()
        optimizer.step()
        running += loss.mean().item()
    print(epoch, running / len(loader))
