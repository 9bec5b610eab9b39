# thread: https://github.com/LZGMatrix/BOP19_CDPN_2019ICCV/issues/4
# diagnosis: The loss is taken of coordinates that are argmaxes of the network's outputs.
# mistake: 31
# expected: TLN104
# symptom: raises RuntimeError: element 0 of tensors does not require grad

import torch
import torch.nn as nn


class CoordinateNet(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.heads = nn.ModuleList([nn.Conv2d(3, bins, 3, padding=1) for _ in range(3)])

    def forward(self, crop):
        return [head(crop) for head in self.heads]


def coordinate_loss(outputs, target, bins):
    maps = torch.stack([torch.argmax(out, dim=1) for out in outputs], dim=1)
    coordinates = 2.0 * maps.float() / (bins - 1.0) - 1.0
    return nn.functional.l1_loss(coordinates, target)


bins = 16
net = CoordinateNet(bins)
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-4)
loss = coordinate_loss(net(torch.rand(2, 3, 8, 8)), torch.rand(2, 3, 8, 8), bins)
optimizer.zero_grad()
loss.backward()
optimizer.step()
