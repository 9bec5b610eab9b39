import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build(seed):
    torch.manual_seed(seed)
    x = torch.randn(128, 6)
    data = TensorDataset(x, (x[:, :2].sum(dim=1) > 0).long())
    model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
    return model, DataLoader(data, batch_size=8, shuffle=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--accumulate", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=2)
    args = ap.parse_args()

    model, loader = build(0)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        total = 0.0
        for i, (xb, yb) in enumerate(loader):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb) / args.accumulate
            loss.backward()
            total += loss.item()
            if (i + 1) % args.accumulate == 0:
                opt.step()
        print(epoch, total * args.accumulate / len(loader))
    return model, loss, xb, yb


if __name__ == "__main__":
    main()
