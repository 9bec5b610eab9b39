import torch
from torch import nn
import torch.nn.functional as F


def gram(feat):
    b, c, h, w = feat.shape
    flat = feat.reshape(c, h * w)
    return flat @ flat.T / (c * h * w)


def paint(extractor, style, steps=20, lr=10.0):
    canvas = torch.rand(1, 3, 16, 16, requires_grad=True)
    goal = gram(extractor(style))
    for step in range(steps):
        canvas.grad.zero_()
        loss = F.mse_loss(gram(extractor(canvas)), goal)
        loss.backward()
        with torch.no_grad():
            canvas.sub_(lr * canvas.grad).clamp_(0, 1)
        print(step, loss.item())
    return canvas.detach()


torch.manual_seed(0)
extractor = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).requires_grad_(False)
paint(extractor, torch.rand(1, 3, 16, 16))
