from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Config:
    steps: int = 40
    lr: float = 1e-3
    gamma: float = 0.95


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.q = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
        self.opt = torch.optim.Adam(self.q.parameters(), lr=cfg.lr)
        self.history = []

    def update(self, obs, act, rew, nxt):
        with torch.no_grad():
            target = rew + self.cfg.gamma * self.q(nxt).max(dim=1).values
        value = self.q(obs).gather(1, act).squeeze(1)
        loss = F.smooth_l1_loss(value, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.history.append(loss)


torch.manual_seed(0)
trainer = Trainer(Config())
for _ in range(trainer.cfg.steps):
    trainer.update(torch.randn(16, 6), torch.randint(0, 3, (16, 1)), torch.randn(16), torch.randn(16, 6))
print("first/last", trainer.history[0].item(), trainer.history[-1].item())
