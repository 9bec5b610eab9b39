import torch
from torch import nn


class ScaledRegressor(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = torch.tensor(mean)
        self.inv_cov = nn.Parameter(torch.eye(len(mean)))
        self.register_buffer("std", torch.tensor(std))

    def forward(self, x):
        centred = (x - self.mean) / self.std
        return centred @ self.inv_cov @ self.mean


def main():
    torch.manual_seed(0)
    model = ScaledRegressor([0.5, 1.0, -0.2], [1.0, 2.0, 0.5]).double().eval()
    print(sorted(model.state_dict()))
    with torch.no_grad():
        print(model(torch.randn(4, 3, dtype=torch.float64)))


main()
