import torch
from torch import nn


class PreActBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.branch = nn.Sequential(
            nn.ReLU(inplace=True),
            nn.Conv2d(ch, ch, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(ch, ch, 3, padding=1),
        )

    def forward(self, x):
        return self.branch(x) + x


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), PreActBlock(4), nn.Flatten(), nn.Linear(4 * 36, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
imgs, target = torch.randn(20, 1, 6, 6), torch.randn(20, 1)
for epoch in range(10):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(imgs), target)
    loss.backward()
    opt.step()
    print(epoch, loss.item())
