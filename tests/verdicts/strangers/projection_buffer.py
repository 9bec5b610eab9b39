import torch
from torch import nn


class Projector(nn.Module):
    """Projects batches of a fixed size into a preallocated result."""

    def __init__(self, batch, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_in, n_out) / n_in ** 0.5)
        self.register_buffer("result", torch.empty(batch, n_out), persistent=False)

    def forward(self, x):
        torch.matmul(x, self.weight, out=self.result)
        return self.result


def main():
    torch.manual_seed(0)
    proj = Projector(16, 10, 3)
    opt = torch.optim.SGD(proj.parameters(), lr=0.1)
    for _ in range(5):
        x = torch.randn(16, 10)
        opt.zero_grad()
        loss = (proj(x) - x[:, :3]).square().mean()
        loss.backward()
        opt.step()
        print(loss.item())


if __name__ == "__main__":
    main()
