# thread: https://github.com/davda54/sam/issues/10
# diagnosis: The second pass adds its losses to the loss that has been differentiated already.
# mistake: 22, 24
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

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
