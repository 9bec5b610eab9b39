"""A target network that follows by a moving average, and sees no gradient."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def mlp(dim, hidden, out):
    return nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, out))


def set_requires_grad(model, value):
    for p in model.parameters():
        p.requires_grad = value


class EMA:
    def __init__(self, beta):
        self.beta = beta

    def update_average(self, old, new):
        if old is None:
            return new
        return old * self.beta + (1 - self.beta) * new


def update_moving_average(updater, target, online):
    for current, moving in zip(online.parameters(), target.parameters()):
        with torch.no_grad():
            moving.copy_(updater.update_average(moving, current))


class BYOL(nn.Module):
    def __init__(self, dim=6, hidden=8, out=4, beta=0.99):
        super().__init__()
        self.online = mlp(dim, hidden, out)
        self.predictor = mlp(out, hidden, out)
        self.target = copy.deepcopy(self.online)
        set_requires_grad(self.target, False)
        self.updater = EMA(beta)

    def update_target(self):
        update_moving_average(self.updater, self.target, self.online)

    def forward(self, one, two):
        prediction = self.predictor(self.online(torch.cat([one, two])))
        with torch.no_grad():
            projection = self.target(torch.cat([two, one]))
        prediction = F.normalize(prediction, dim=-1)
        projection = F.normalize(projection, dim=-1)
        return (2 - 2 * (prediction * projection.detach()).sum(dim=-1)).mean()


class Shadow:
    """Exponential average of the weights, swapped in for evaluation."""

    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad}
        self.backup = {}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            if p.requires_grad:
                self.shadow[name].mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)

    @torch.no_grad()
    def apply(self, model):
        for name, p in model.named_parameters():
            if p.requires_grad:
                self.backup[name] = p.detach().clone()
                p.copy_(self.shadow[name])

    @torch.no_grad()
    def restore(self, model):
        for name, p in model.named_parameters():
            if name in self.backup:
                p.copy_(self.backup[name])
        self.backup = {}


learner = BYOL()
optimizer = torch.optim.Adam([p for p in learner.parameters() if p.requires_grad], lr=3e-4)
shadow = Shadow(learner)
for step in range(3):
    x = torch.rand(5, 6)
    loss = learner(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    learner.update_target()
    shadow.update(learner)
    print(step, loss.item())
shadow.apply(learner)
learner.eval()
with torch.no_grad():
    print(learner.online(torch.rand(2, 6)))
shadow.restore(learner)
