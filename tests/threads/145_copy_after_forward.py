# thread: https://github.com/pytorch/pytorch/issues/54580
# diagnosis: forward keeps its result on self, and the model is copied afterwards.
# mistake: 30, 35
# expected: TLN115
# symptom: raises RuntimeError: Only Tensors created explicitly by the user

from copy import deepcopy

import torch
import torch.nn as nn


class Explained(nn.Module):
    def __init__(self, channels):
        super(Explained, self).__init__()
        self.first = nn.Conv2d(1, channels, 3)
        self.second = nn.Conv2d(channels, 1, 3)
        self.feature = None

    def run(self, x):
        self.feature = self.first(x)
        return self.second(torch.relu(self.feature))

    def forward(self, x):
        return self.run(x)


def snapshot(model, batch):
    prediction = model(batch)
    teacher = deepcopy(model)
    return teacher, prediction


model = Explained(2)
snapshot(model, torch.zeros(1, 1, 16, 16))
