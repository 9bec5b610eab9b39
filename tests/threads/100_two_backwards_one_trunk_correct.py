# correct: 100_two_backwards_one_trunk.py
# cure: One backward differentiates the sum.

import torch
import torch.nn as nn


class DepthAndNormals(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, features, 3, padding=1), nn.BatchNorm2d(features), nn.ReLU())
        self.heads = nn.ModuleDict({"depth": nn.Conv2d(features, 1, 1), "normal": nn.Conv2d(features, 3, 1)})

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared) for name, head in self.heads.items()}


model = DepthAndNormals(8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criteria = {"depth": nn.L1Loss(), "normal": nn.MSELoss()}
for batch in range(2):
    image = torch.rand(2, 3, 8, 8)
    target = {"depth": torch.rand(2, 1, 8, 8), "normal": torch.rand(2, 3, 8, 8)}
    outputs = model(image)
    optimizer.zero_grad()
    loss = sum(criterion(outputs[name], target[name]) for name, criterion in criteria.items())
    loss.backward()
    optimizer.step()
