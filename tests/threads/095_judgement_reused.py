# thread: https://github.com/pytorch/examples/issues/584
# diagnosis: The output of the discriminator for the detached sample is used for the generator's loss as well.
# mistake: 25, 30, 31
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

import torch
from torch import nn


class Game:
    def __init__(self, nz, size):
        self.nz = nz
        self.G = nn.Sequential(nn.Linear(nz, 20), nn.ReLU(), nn.Linear(20, size))
        self.D = nn.Sequential(nn.Linear(size, 20), nn.ReLU(), nn.Linear(20, 1))
        self.opt_g = torch.optim.Adam(self.G.parameters())
        self.opt_d = torch.optim.Adam(self.D.parameters())
        self.criterion = nn.BCEWithLogitsLoss()

    def step(self, real):
        label = torch.ones(len(real), 1)
        self.D.zero_grad()
        self.criterion(self.D(real), label).backward()
        fake = self.G(torch.randn(len(real), self.nz))
        output = self.D(fake.detach())
        self.criterion(output, torch.zeros_like(label)).backward()
        self.opt_d.step()

        self.G.zero_grad()
        error = self.criterion(output, label)
        error.backward()
        self.opt_g.step()


Game(nz=5, size=9).step(torch.randn(6, 9))
