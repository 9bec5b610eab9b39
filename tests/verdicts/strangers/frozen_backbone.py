import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16))
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)))


net = Net()
for p in net.backbone.parameters():
    p.require_grad = False

trainable = [p for p in net.parameters() if p.requires_grad]
opt = torch.optim.Adam(trainable, lr=1e-3)
x, y = torch.randn(30, 8), torch.randint(0, 2, (30,))
for epoch in range(5):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
print("trainable tensors:", len(trainable), "loss:", loss.item())
