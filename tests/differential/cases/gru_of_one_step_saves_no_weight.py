# Nothing that requires grad is multiplied with its weights.
# expected: ok

import torch
from torch import nn

rnn = nn.GRU(4, 4)
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
out, _ = rnn(torch.rand(1, 1, 4))
out.sum().backward(retain_graph=True)
optimizer.step()
out.sum().backward()
