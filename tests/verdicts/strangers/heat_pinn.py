import torch
from torch import nn


class HeatNet(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, xt):
        return self.layers(xt)


def residual(net, xt, alpha=0.1):
    xt = xt.requires_grad_(True)
    x, t = xt[:, 0:1], xt[:, 1:2]
    u = net(xt)
    ones = torch.ones_like(u)
    u_t, = torch.autograd.grad(u, t, ones, create_graph=True)
    u_x, = torch.autograd.grad(u, x, ones, create_graph=True)
    u_xx, = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)
    return u_t - alpha * u_xx


torch.manual_seed(0)
net = HeatNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    opt.zero_grad()
    r = residual(net, torch.rand(64, 2))
    loss = r.pow(2).mean()
    loss.backward()
    opt.step()
print(loss.item())
