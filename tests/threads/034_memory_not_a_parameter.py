# thread: https://github.com/SimonThomine/RememberingNormality/issues/7
# diagnosis: The keys and values that should be learned are plain tensors on self, neither parameters nor buffers.
# mistake: 14, 15
# expected: TLN311
# symptom: prints trainable: 1

import torch
import torch.nn as nn


class MemoryBank(nn.Module):
    def __init__(self, slots, channel):
        super().__init__()
        self.keys = torch.randn(slots, channel)
        self.values = torch.randn(slots, channel)
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
