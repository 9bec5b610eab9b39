# expected: leaf on line 16
import copy

from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.parts = [self.first]


net = Net()
twin = copy.deepcopy(net)
twin.parts[0].weight.add_(1)
