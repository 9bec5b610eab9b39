from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    window: int = 12
    hidden: int = 16
    epochs: int = 15
    lr: float = 0.05


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x):
        seq, _ = self.lstm(x)
        return self.readout(seq[:, -1])


def run(cfg):
    torch.manual_seed(0)
    series = torch.sin(torch.arange(120.0) / 5)
    pieces = series.unfold(0, cfg.window + 1, 1)
    x, y = pieces[:, :-1].unsqueeze(-1), pieces[:, -1:]
    model = Forecaster(cfg.hidden)
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    norms = []
    for epoch in range(cfg.epochs):
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        norms.append(nn.utils.get_total_norm(p.grad for p in model.parameters()).item())
    print(f"loss {loss.item():.4f}, grad norm {norms[0]:.3f} -> {norms[-1]:.3f}")
    return norms, model, loss


if __name__ == "__main__":
    run(Settings())
