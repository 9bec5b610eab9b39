# thread: https://github.com/jeshraghian/snntorch/issues/250
# diagnosis: The membrane potential of a spiking layer is kept from the last batch and never reset or detached.
# mistake: 18, 38
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

import torch
import torch.nn as nn


class Leaky(nn.Module):
    def __init__(self, beta):
        super().__init__()
        self.beta = nn.Parameter(torch.tensor(beta))
        self.mem = 0.0

    def forward(self, current):
        self.mem = self.beta * self.mem + current
        return torch.sigmoid(10 * (self.mem - 1.0))


class SpikingNet(nn.Module):
    def __init__(self, num_steps):
        super().__init__()
        self.num_steps = num_steps
        self.fc, self.lif = nn.Linear(20, 4), Leaky(0.9)

    def forward(self, x):
        return torch.stack([self.lif(self.fc(x)) for _ in range(self.num_steps)]).mean(0)


net = SpikingNet(num_steps=5)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for i in range(3):
    batch, labels = torch.rand(6, 20), torch.randint(0, 4, (6,))
    loss = nn.functional.cross_entropy(net(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
