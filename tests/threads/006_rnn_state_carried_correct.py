# correct: 006_rnn_state_carried.py
# cure: The state is detached before the next iteration.

import math

import torch
from torch import nn


class Wave(nn.Module):
    def __init__(self, hidden_size=16):
        super().__init__()
        self.rnn = nn.RNN(1, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, 1)

    def forward(self, x, state):
        seq, state = self.rnn(x, state)
        return self.out(seq), state


net = Wave()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
criterion = nn.MSELoss()
state = None
for step in range(50):
    t = torch.linspace(step * math.pi, (step + 1) * math.pi, 12).view(1, 12, 1)
    prediction, state = net(torch.sin(t), state)
    loss = criterion(prediction, torch.cos(t))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = state.detach()
