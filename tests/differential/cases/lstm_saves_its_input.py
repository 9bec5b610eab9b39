# The input is saved for the gradient of the weight.
# expected: saved on line 11, written on line 10

import torch
from torch import nn

rnn = nn.LSTM(4, 4)
x = torch.rand(2, 1, 4)
out, _ = rnn(x)
x.mul_(2)
out.sum().backward()
