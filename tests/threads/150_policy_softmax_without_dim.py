# thread: https://github.com/linnaeushuang/pensieve-pytorch/issues/4
# diagnosis: The softmax over the actions names no dimension.
# mistake: 24
# expected: TLN602
# symptom: warns Implicit dimension choice for softmax has been deprecated

import torch
import torch.nn as nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, n_conv=16):
        super(Actor, self).__init__()
        self.bitrate = nn.Linear(1, n_conv)
        self.buffer = nn.Conv1d(1, n_conv, 4)
        self.full = nn.Linear(n_conv + n_conv * (state_dim - 3), 24)
        self.output_layer = nn.Linear(24, action_dim)

    def forward(self, last, history):
        first = F.relu(self.bitrate(last))
        second = F.relu(self.buffer(history)).flatten(1)
        hidden = F.relu(self.full(torch.cat([first, second], 1)))
        return F.softmax(self.output_layer(hidden))


actor = Actor(state_dim=8, action_dim=6)
print(actor(torch.rand(3, 1), torch.rand(3, 1, 8)).sum(1))
