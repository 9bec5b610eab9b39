# thread: https://github.com/CSCYQJ/MICCAI23-ProtoContra-SFDA/issues/18
# diagnosis: requires_grad is set on a Module, which freezes nothing.
# mistake: 24
# expected: TLN310
# symptom: prints last layer is frozen: False

import torch
import torch.nn as nn


class UNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.inc = nn.Conv2d(1, 6, 3, padding=1)
        self.outc = nn.Conv2d(6, classes, 1)

    def forward(self, x):
        return self.outc(torch.relu(self.inc(x)))


class PrototypeAlignment:
    def __init__(self, model, lr):
        self.model = model
        self.model.outc.requires_grad = False
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def step(self, image, prototypes):
        feats = torch.relu(self.model.inc(image))
        loss = (feats.mean((0, 2, 3)) - prototypes).pow(2).sum() + self.model(image).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


model = UNet(3)
before = model.outc.weight.detach().clone()
PrototypeAlignment(model, 0.1).step(torch.rand(2, 1, 5, 5), torch.zeros(6))
print("last layer is frozen:", torch.equal(before, model.outc.weight))
