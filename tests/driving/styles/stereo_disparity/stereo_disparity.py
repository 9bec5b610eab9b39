from typing import List, Tuple
import torch
from torch import nn
import torch.nn.functional as F


class ConvBNReLU(nn.Sequential):
    def __init__(self, i, o, k=3, s=1, d=1, ndim=2):
        conv = {2: nn.Conv2d, 3: nn.Conv3d}[ndim]
        norm = {2: nn.BatchNorm2d, 3: nn.BatchNorm3d}[ndim]
        super().__init__(conv(i, o, k, s, padding=d * (k // 2), dilation=d, bias=False), norm(o), nn.ReLU(True))


class FeatureNet(nn.Module):
    def __init__(self, c: int, dilations: List[int]):
        super().__init__()
        self.first = ConvBNReLU(3, c, s=2)
        self.rest = nn.ModuleList([ConvBNReLU(c, c, d=d) for d in dilations])
        self.last = nn.Conv2d(c, c, 1)

    def forward(self, x):
        x = self.first(x)
        for m in self.rest:
            x = x + m(x)
        return self.last(x)


def build_cost_volume(left: torch.Tensor, right: torch.Tensor, max_disp: int) -> torch.Tensor:
    """Concatenation volume, B x 2C x D x H x W."""
    planes = []
    W = left.size(-1)
    for d in range(max_disp):
        shifted = F.pad(right, (d, 0))[..., :W]
        planes.append(torch.cat([left, shifted], dim=1))
    return torch.stack(planes, dim=2)


class Regularizer3D(nn.Module):
    def __init__(self, c: int, depth: int):
        super().__init__()
        self.inp = ConvBNReLU(2 * c, c, ndim=3)
        self.mid = nn.Sequential(*[ConvBNReLU(c, c, ndim=3) for _ in range(depth)])
        self.out = nn.Conv3d(c, 1, 3, padding=1)

    def forward(self, vol):
        x = self.inp(vol)
        return self.out(x + self.mid(x)).squeeze(1)


class DisparityRefine(nn.Module):
    def __init__(self, c: int):
        super().__init__()
        self.net = nn.Sequential(ConvBNReLU(4, c), ConvBNReLU(c, c, d=2), nn.Conv2d(c, 1, 3, padding=1))

    def forward(self, disp, image):
        return F.relu(disp + self.net(torch.cat([disp, image], dim=1)))


class StereoNet(nn.Module):
    def __init__(self, channels=16, max_disp=64, dilations=(1, 2), reg_depth=1):
        super().__init__()
        assert max_disp % 2 == 0
        self.max_disp = max_disp // 2            # at feature resolution
        self.features = FeatureNet(channels, list(dilations))
        self.regularizer = Regularizer3D(channels, reg_depth)
        self.refine = DisparityRefine(channels)
        self.register_buffer("candidates", torch.arange(self.max_disp, dtype=torch.float32))

    def regress(self, cost: torch.Tensor) -> torch.Tensor:
        # cost: B x D x H x W, low is good
        prob = F.softmax(-cost, dim=1)
        disp = self.candidates[prob.argmax(dim=1)]
        return disp.unsqueeze(1)

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        if left.shape != right.shape:
            raise ValueError("stereo pair must have one shape")
        fl, fr = self.features(left), self.features(right)
        cost = self.regularizer(build_cost_volume(fl, fr, self.max_disp))
        coarse = self.regress(cost)
        up = 2 * F.interpolate(coarse, size=left.shape[-2:], mode="bilinear", align_corners=False)
        return self.refine(up, left), up
