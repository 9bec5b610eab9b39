import math
from functools import partial
from typing import Callable, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

NORMS = {
    "gn": lambda c: nn.GroupNorm(4, c),
    "bn": nn.BatchNorm2d,
    "none": lambda c: nn.Identity(),
}


class Scale(nn.Module):
    """One learnable factor per pyramid level."""

    def __init__(self, init: float = 1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(init))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale.item()


def make_tower(c: int, depth: int, norm: Callable[[int], nn.Module]) -> nn.Sequential:
    layers: List[nn.Module] = []
    for _ in range(depth):
        layers.extend([nn.Conv2d(c, c, 3, padding=1, bias=False), norm(c), nn.ReLU(inplace=True)])
    return nn.Sequential(*layers)


class FCOSHead(nn.Module):
    """Anchor-free head, shared over the levels of a feature pyramid.

    Parameters
    ----------
    num_classes : int
    channels : int
        Width of every incoming level.
    strides : sequence of int
        Stride of each level relative to the image.
    norm : {"gn", "bn", "none"}
    prior_prob : float
        Initial foreground probability, sets the classification bias.
    """

    def __init__(self, num_classes, channels, strides=(8, 16, 32), tower_depth=2, norm="gn", prior_prob=0.01):
        super().__init__()
        self.num_classes = num_classes
        self.strides = tuple(strides)
        tower = partial(make_tower, channels, tower_depth, NORMS[norm])
        self.cls_tower = tower()
        self.box_tower = tower()
        self.cls_logits = nn.Conv2d(channels, num_classes, 3, padding=1)
        self.box_pred = nn.Conv2d(channels, 4, 3, padding=1)
        self.centerness = nn.Conv2d(channels, 1, 3, padding=1)
        self.scales = nn.ModuleList([Scale() for _ in self.strides])
        self._init_weights(prior_prob)

    def _init_weights(self, prior_prob):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.normal_(m.weight, std=0.01)
                if m.bias is not None:
                    nn.init.constant_(m.bias, 0)
        nn.init.constant_(self.cls_logits.bias, -math.log((1 - prior_prob) / prior_prob))

    @staticmethod
    def locations(h: int, w: int, stride: int, ref: Tensor) -> Tensor:
        ys = (torch.arange(h, device=ref.device, dtype=ref.dtype) + 0.5) * stride
        xs = (torch.arange(w, device=ref.device, dtype=ref.dtype) + 0.5) * stride
        gy, gx = torch.meshgrid(ys, xs, indexing="ij")
        return torch.stack((gx, gy), dim=-1).reshape(-1, 2)

    def forward(self, features: List[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
        assert len(features) == len(self.strides), "one stride per level"
        cls_out, box_out, ctr_out = [], [], []
        for feat, scale, stride in zip(features, self.scales, self.strides):
            c = self.cls_tower(feat)
            b = self.box_tower(feat)
            logits = self.cls_logits(c).flatten(2).transpose(1, 2)       # B, HW, C
            ltrb = F.softplus(scale(self.box_pred(b))) * stride          # B, 4, H, W
            ltrb = ltrb.flatten(2).transpose(1, 2)
            loc = self.locations(*feat.shape[-2:], stride, feat)
            boxes = torch.cat((loc - ltrb[..., :2], loc + ltrb[..., 2:]), dim=-1)
            cls_out.append(logits)
            box_out.append(boxes)
            ctr_out.append(self.centerness(b).flatten(1))
        return torch.cat(cls_out, 1), torch.cat(box_out, 1), torch.cat(ctr_out, 1)
