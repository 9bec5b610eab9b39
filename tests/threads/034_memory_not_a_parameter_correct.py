# correct: 034_memory_not_a_parameter.py
# cure: What is learned is a Parameter.

import torch
import torch.nn as nn


class MemoryBank(nn.Module):
    def __init__(self, slots, channel):
        super().__init__()
        self.keys = nn.Parameter(torch.randn(slots, channel))
        self.values = nn.Parameter(torch.randn(slots, channel))
        self.query = nn.Linear(channel, channel, bias=False)

    def forward(self, feature):
        weight = torch.softmax(self.query(feature) @ self.keys.t(), dim=-1)
        return weight @ self.values


bank = MemoryBank(slots=20, channel=8)
optimizer = torch.optim.Adam(bank.parameters(), lr=1e-3)
loss = (bank(torch.randn(5, 8)) - 1).pow(2).mean()
loss.backward()
optimizer.step()
print("trainable:", len(list(bank.parameters())))
