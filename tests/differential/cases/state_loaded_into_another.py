# expected: ok
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        return self.second(self.first(x).tanh())


net, target = Net(), Net()
with torch.no_grad():
    wanted = target(torch.ones(2, 3))
loss = (net(torch.ones(2, 3)) - wanted).sum()
target.load_state_dict(net.state_dict())
loss.backward()
