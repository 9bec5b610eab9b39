import abc
from typing import Dict, Type

import torch
import torch.nn as nn


class BaseBlock(nn.Module, abc.ABC):
    expansion: int = 1
    _registry: Dict[str, Type["BaseBlock"]] = {}

    def __init_subclass__(cls, name: str = "", **kw):
        super().__init_subclass__(**kw)
        if name:
            BaseBlock._registry[name] = cls

    @classmethod
    def get(cls, name: str) -> Type["BaseBlock"]:
        return cls._registry[name]

    @abc.abstractmethod
    def residual(self, x: torch.Tensor) -> torch.Tensor:
        ...

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.residual(x) + self.shortcut(x))


class SqueezeExcite(nn.Module):
    def __init__(self, c: int, r: int = 4):
        super().__init__()
        self.fc1 = nn.Conv2d(c, max(c // r, 1), 1)
        self.fc2 = nn.Conv2d(max(c // r, 1), c, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        s = x.mean((2, 3), keepdim=True)
        s = torch.relu(self.fc1(s))
        s = torch.sigmoid(self.fc2(s))
        return x.mul_(s)


def shortcut(cin: int, cout: int, stride: int) -> nn.Module:
    if stride == 1 and cin == cout:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))


class SEBasic(BaseBlock, name="se_basic"):
    def __init__(self, cin: int, width: int, stride: int = 1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.se = SqueezeExcite(width)
        self.relu = nn.ReLU()
        self.shortcut = shortcut(cin, width, stride)

    def residual(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.se(y)


class SEMobile(BaseBlock, name="se_mobile"):
    """Inverted residual, excitation in the expanded space."""

    def __init__(self, cin: int, width: int, stride: int = 1, t: int = 2):
        super().__init__()
        mid = cin * t
        self.expand = nn.Sequential(nn.Conv2d(cin, mid, 1, bias=False), nn.BatchNorm2d(mid), nn.ReLU())
        self.dw = nn.Sequential(nn.Conv2d(mid, mid, 3, stride, 1, groups=mid, bias=False), nn.BatchNorm2d(mid), nn.ReLU())
        self.se = SqueezeExcite(mid)
        self.project = nn.Sequential(nn.Conv2d(mid, width, 1, bias=False), nn.BatchNorm2d(width))
        self.relu = nn.Identity()
        self.shortcut = shortcut(cin, width, stride)

    def residual(self, x):
        return self.project(self.se(self.dw(self.expand(x))))


class SEResNet(nn.Module):
    def __init__(self, block="se_mobile", layers=(1, 1), widths=(8, 16), num_classes=10, in_chans=3, drop=0.0):
        super().__init__()
        Block = BaseBlock.get(block) if isinstance(block, str) else block
        assert len(layers) == len(widths)
        self.stem = nn.Sequential(nn.Conv2d(in_chans, widths[0], 3, 2, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU(inplace=True))
        stages, c = [], widths[0]
        for i, (n, w) in enumerate(zip(layers, widths)):
            for j in range(n):
                stages.append(Block(c, w, 2 if i > 0 and j == 0 else 1))
                c = w * Block.expansion
        self.stages = nn.Sequential(*stages)
        self.drop = nn.Dropout(drop)
        self.fc = nn.Linear(c, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stages(self.stem(x)).mean((-2, -1))
        return self.fc(self.drop(x))
