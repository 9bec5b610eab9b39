"""Both run."""

import torch
from blocks import Asked, Skipping

for net in (Skipping(3, 3), Asked(3, 0.2)):
    net(torch.rand(2, 3)).sum().backward()
