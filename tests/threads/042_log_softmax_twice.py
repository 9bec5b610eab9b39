# thread: https://github.com/speedinghzl/Pytorch-Deeplab/issues/2
# diagnosis: The loss function takes the logarithm of a softmax that cross_entropy takes again.
# mistake: 20, 24
# expected: TLN601
# symptom: prints applied twice: True

import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossEntropy2d(nn.Module):
    def __init__(self, ignore_label):
        super().__init__()
        self.ignore_label = ignore_label

    def forward(self, predict, target):
        mask = target != self.ignore_label
        flat = predict.permute(0, 2, 3, 1)[mask]
        return F.cross_entropy(flat, target[mask])


def loss_calc(pred, label, ignore):
    pred = nn.LogSoftmax(dim=1)(pred)
    return CrossEntropy2d(ignore)(pred, label), pred


pred, label = torch.randn(1, 4, 5, 5), torch.randint(0, 4, (1, 5, 5))
loss, given = loss_calc(pred, label, ignore=255)
print("applied twice:", torch.allclose(given.exp().sum(1), torch.ones(1, 5, 5)))
