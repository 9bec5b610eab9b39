import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8))
head = nn.Linear(8, 2)
opt = torch.optim.Adam(head.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()


def features(x):
    f = backbone(x)
    f.requires_grad = False
    return f


inputs = torch.randn(50, 20)
labels = torch.randint(0, 2, (50,))
for _ in range(10):
    opt.zero_grad()
    loss = criterion(head(features(inputs)), labels)
    loss.backward()
    opt.step()
print("done", loss.item())
