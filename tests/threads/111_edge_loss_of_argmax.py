# thread: https://github.com/wonbeomjang/mobile-hair-segmentation-pytorch/issues/3
# diagnosis: The loss on image gradients is made of the argmax of the prediction, beside a cross entropy that learns.
# mistake: 33
# expected: TLN117
# symptom: prints edge term requires grad: False

import torch
import torch.nn as nn
import torch.nn.functional as F


class ImageGradientLoss(nn.Module):
    def __init__(self):
        super(ImageGradientLoss, self).__init__()
        self.register_buffer("sobel", torch.tensor([[[[1.0, 0, -1], [2, 0, -2], [1, 0, -1]]]]))

    def forward(self, pred, gray):
        size = pred.size()
        pred = pred.argmax(1).view(size[0], 1, size[2], size[3]).float()
        edges = F.conv2d(gray, self.sobel, padding=1)
        found = F.conv2d(pred, self.sobel, padding=1)
        return (found.abs() * (1 - (edges * found).abs())).sum() / found.abs().sum().clamp(min=1)


class HairLoss(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.edge, self.weight = ImageGradientLoss(), weight

    def forward(self, pred, gray, mask):
        edge = self.edge(pred, gray)
        print("edge term requires grad:", edge.requires_grad)
        return F.cross_entropy(pred, mask) + self.weight * edge


net = nn.Conv2d(1, 2, 3, padding=1)
gray = torch.rand(2, 1, 10, 10)
HairLoss(0.5)(net(gray), gray, torch.randint(0, 2, (2, 10, 10))).backward()
