# expected: ok
import torch
from torch import nn

rnn = nn.LSTM(3, 3)
hidden = None
for _ in range(2):
    out, hidden = rnn(torch.ones(2, 1, 3), hidden)
    hidden = tuple(h.detach() for h in hidden)
    out.sum().backward()
