# expected: saved on line 9, written on line 8
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
loss = net(torch.ones(2, 3)).sum()
state = {key: value.clone() for key, value in net.state_dict().items()}
net.load_state_dict(state)
loss.backward()
