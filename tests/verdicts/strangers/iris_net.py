import torch
from torch import nn


class IrisNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 16)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return torch.softmax(self.out(x), dim=1)


torch.manual_seed(0)
centres = torch.randn(3, 4) * 3
labels = torch.arange(3).repeat(50)
x = centres[labels] + 0.3 * torch.randn(150, 4)

model = IrisNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(60):
    optimizer.zero_grad()
    probs = model(x)
    loss = criterion(probs, labels)
    loss.backward()
    optimizer.step()
acc = (probs.argmax(dim=1) == labels).float().mean().item()
print(f"loss {loss.item():.3f} accuracy {acc:.2f}")
