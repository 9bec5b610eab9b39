"""A sigmoid at the end of an imported model fits `BCELoss`, and not the loss that applies its own."""

import torch
from nets.binary import Net as BinaryNet
from torch import nn


def train(loader, criterion):
    model = BinaryNet()
    optimizer = torch.optim.Adam(model.parameters())
    own = nn.BCEWithLogitsLoss()
    fitting = nn.BCELoss()
    for x, y in loader:
        optimizer.zero_grad()
        loss = own(model(x), y)  # warning: [TLN601]
        loss = loss + fitting(model(x), y) + criterion(model(x), y)
        loss.backward()
        optimizer.step()


train([(torch.rand(2, 4), torch.ones(2))], nn.MSELoss())
