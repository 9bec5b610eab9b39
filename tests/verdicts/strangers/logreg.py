import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(200, 2)
y = (X[:, 0] + X[:, 1] > 0).float().unsqueeze(1)

model = nn.Linear(2, 1)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for epoch in range(20):
    optimizer.zero_grad()
    logits = model(X)
    loss = criterion(logits, y)
    loss.backward()
    optimizer.step
    if epoch % 5 == 0:
        acc = ((logits > 0).float() == y).float().mean().item()
        print(f"{epoch:2d} loss={loss.item():.4f} acc={acc:.2f}")
