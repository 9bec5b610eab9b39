# From the second step of a sequence on the state is computed, so that its weight is saved for its gradient.
# expected: saved on line 12, written on line 11

import torch
from torch import nn

rnn = nn.LSTM(4, 4)
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
out, _ = rnn(torch.rand(2, 1, 4))
out.sum().backward(retain_graph=True)
optimizer.step()
out.sum().backward()
