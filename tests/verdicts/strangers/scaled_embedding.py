import torch
from torch import nn


class PositionEncoder(nn.Module):
    def __init__(self, max_len, dim):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, dim)) * 0.02
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        with_pos = x + self.table[: x.size(1)]
        return torch.relu(self.proj(with_pos))


def main():
    torch.manual_seed(0)
    enc = PositionEncoder(16, 8).eval()
    print("registered:", [n for n, _ in enc.named_parameters()])
    with torch.no_grad():
        out = enc(torch.randn(2, 10, 8))
    print(out.shape, "saved keys:", sorted(enc.state_dict()))
    return enc


if __name__ == "__main__":
    main()
