# thread: https://github.com/MorvanZhou/PyTorch-Tutorial/issues/57
# diagnosis: The hidden state of one iteration enters the next one with its graph, which the backward before has freed.
# mistake: 30, 33
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

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
