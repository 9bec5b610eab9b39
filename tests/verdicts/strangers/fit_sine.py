import argparse
import torch
import torch.nn as nn


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--hidden", type=int, default=32)
    return p.parse_args()


def train(args):
    torch.manual_seed(0)
    x = torch.linspace(-3, 3, 200).unsqueeze(1)
    y = torch.sin(x)
    net = nn.Sequential(nn.Linear(1, args.hidden), nn.Tanh(), nn.Linear(args.hidden, 1))
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    loss_fn = nn.MSELoss()
    for step in range(args.steps):
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward(retain_graph=True)
        opt.step()
    return loss.item()


if __name__ == "__main__":
    print("final loss", train(parse()))
