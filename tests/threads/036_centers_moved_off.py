# thread: https://github.com/KaiyangZhou/pytorch-center-loss/issues/23
# diagnosis: The class centers are converted after they were wrapped, so the loss has no parameters to optimize.
# mistake: 16, 18, 19, 27
# expected: TLN301, TLN305
# symptom: raises ValueError: optimizer got an empty parameter list

import torch
import torch.nn as nn


class CenterLoss(nn.Module):
    def __init__(self, classes, dims, half_precision=False):
        super(CenterLoss, self).__init__()
        self.classes = classes
        if half_precision:
            centers = nn.Parameter(torch.randn(classes, dims)).half()
        else:
            centers = nn.Parameter(torch.randn(classes, dims)).double()
        self.centers = centers

    def forward(self, x, labels):
        return (x.double() - self.centers[labels]).pow(2).sum(dim=1).mean()


classification = nn.CrossEntropyLoss()
center = CenterLoss(classes=10, dims=32)
optimizer_center = torch.optim.SGD(center.parameters(), lr=0.5)
