import torch
from torch import nn
import torch.nn.functional as F


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        value = F.mse_loss(model(x), y).item()
    model.train()
    return value


def main(epochs=30):
    torch.manual_seed(0)
    x, y = torch.randn(60, 8), torch.randn(60, 1)
    xv, yv = torch.randn(30, 8), torch.randn(30, 1)
    model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    best_val, best_state = float("inf"), None
    for epoch in range(epochs):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        val = evaluate(model, xv, yv)
        if val < best_val:
            best_val = val
            best_state = model.state_dict()
    model.load_state_dict(best_state)
    final = evaluate(model, xv, yv)
    print(f"best {best_val:.4f}, restored {final:.4f}")
    return best_val, final


if __name__ == "__main__":
    main()
