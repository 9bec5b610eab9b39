import torch
from torch import nn
import torch.nn.functional as F


@torch.no_grad()
def score(model, x, y):
    return F.mse_loss(model(x), y).item()


def fit(x, y, xv, yv, epochs=200):
    model = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 1))
    opt = torch.optim.Adam(model.parameters(), lr=5e-2)
    best, best_score = None, float("inf")
    for epoch in range(epochs):
        opt.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        s = score(model, xv, yv)
        if s < best_score:
            best_score = s
            best = model
    return best, best_score


if __name__ == "__main__":
    torch.manual_seed(0)
    xv, yv = torch.randn(30, 6), torch.randn(30, 1)
    best, s = fit(torch.randn(40, 6), torch.randn(40, 1), xv, yv)
    print("best seen:", s, "returned model:", score(best, xv, yv))
