"""Where the adapter is given, nothing is recorded: the file of the layer does not say so."""

import torch
from attention import Attention, sharpened
from torch import nn


@torch.inference_mode()
def generate(x):
    attention = Attention()
    return sharpened(attention(x, nn.Linear(4, 4)))


generate(torch.rand(2, 4))
Attention()(torch.rand(2, 4)).sum().backward()
