import torch
from torch import nn


class RBFLayer(nn.Module):
    def __init__(self, n_centers, dim):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(n_centers, dim))
        self.log_gamma = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        d2 = (x.unsqueeze(1) - self.centers).pow(2).sum(-1)
        phi = torch.exp(-self.log_gamma.exp() * d2)
        phi /= 1e-6 + phi.sum(dim=1, keepdim=True)
        return phi


def main():
    torch.manual_seed(0)
    model = nn.Sequential(RBFLayer(10, 2), nn.Linear(10, 1))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(100, 2)
    y = torch.sin(x).sum(dim=1, keepdim=True)
    for _ in range(20):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
    print(loss.item())


main()
