# correct: 009_loss_not_reset_between_passes.py
# cure: The second pass starts from zero.

import torch
import torch.nn as nn


def two_pass_step(model, optimizer, images, targets, task_weights):
    loss = 0
    outputs = model(images)
    for t, weight in enumerate(task_weights):
        loss += weight * nn.functional.cross_entropy(outputs[:, t], targets[:, t])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    loss = 0
    outputs = model(images)
    for t, weight in enumerate(task_weights):
        loss += weight * nn.functional.cross_entropy(outputs[:, t], targets[:, t])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class MultiTask(nn.Module):
    def __init__(self, tasks, classes):
        super().__init__()
        self.shape = (tasks, classes)
        self.net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, tasks * classes))

    def forward(self, x):
        return self.net(x).view(-1, *self.shape)


model = MultiTask(3, 5)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
two_pass_step(model, sgd, torch.randn(8, 12), torch.randint(0, 5, (8, 3)), [1.0, 0.5, 0.25])
