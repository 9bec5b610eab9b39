"""Raises: modified by an inplace operation"""

import torch
from layers import Base, Gate, scale_


class Net(Base):
    def __init__(self):
        super().__init__(3)
        self.gate = Gate(3)

    def forward(self, x):
        y = self.gate(x)
        y += 1  # error: [TLN201]
        z = torch.exp(self.gate(x))
        scale_(z, 2)  # error: [TLN201]
        return y + z


Net()(torch.ones(2, 3)).sum().backward()
