import torch
from torch import nn


class ConvNet(nn.Module):
    def __init__(self, n_classes=4):
        super().__init__()
        self.n_classes = n_classes
        self.conv = nn.Conv1d(1, 6, 5)

    def forward(self, x):
        h = torch.relu(self.conv(x)).flatten(1)
        fc = nn.Linear(h.size(1), self.n_classes)
        return fc(h)


def train(model, x, y, epochs=10):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        print(epoch, f"{loss.item():.3f}")


torch.manual_seed(0)
signals = torch.randn(40, 1, 30)
classes = torch.randint(0, 4, (40,))
net = ConvNet()
train(net, signals, classes)
