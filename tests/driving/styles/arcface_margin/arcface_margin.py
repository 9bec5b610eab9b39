import math
import torch
from torch import nn
from torch.nn import Parameter
import torch.nn.functional as F


BACKBONES = {}


def register_backbone(name):
    def wrap(fn):
        if name in BACKBONES:
            raise KeyError("backbone %r registered twice" % name)
        BACKBONES[name] = fn
        return fn
    return wrap


@register_backbone("mlp")
def mlp_backbone(in_dim, emb_dim, width=64):
    return nn.Sequential(nn.Linear(in_dim, width), nn.PReLU(), nn.Linear(width, emb_dim))


@register_backbone("conv")
def conv_backbone(in_dim, emb_dim, width=16):
    return nn.Sequential(
        nn.Conv2d(in_dim, width, 3, 2, 1), nn.BatchNorm2d(width), nn.PReLU(width),
        nn.Conv2d(width, width * 2, 3, 2, 1), nn.BatchNorm2d(width * 2), nn.PReLU(width * 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width * 2, emb_dim),
    )


class ArcMarginProduct(nn.Module):
    """cos(theta + m)

    s: norm of input feature
    m: margin (radians)
    """

    def __init__(self, in_features, out_features, s=30.0, m=0.50, easy_margin=False):
        super(ArcMarginProduct, self).__init__()
        self.s = s
        self.weight = Parameter(torch.FloatTensor(out_features, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.easy_margin = easy_margin
        self.cos_m, self.sin_m = math.cos(m), math.sin(m)
        self.th = math.cos(math.pi - m)
        self.mm = math.sin(math.pi - m) * m

    def forward(self, emb, label):
        cosine = F.linear(F.normalize(emb), F.normalize(self.weight)).clamp(-1 + 1e-6, 1 - 1e-6)
        rows = torch.arange(emb.size(0), device=emb.device)
        sine = torch.sqrt(1.0 - torch.pow(cosine, 2))
        phi = cosine * self.cos_m - sine * self.sin_m
        if self.easy_margin:
            phi = torch.where(cosine > 0, phi, cosine)
        else:
            phi = torch.where(cosine > self.th, phi, cosine - self.mm)
        cosine[rows, label] = phi[rows, label]
        return cosine * self.s


class FaceEmbedder(nn.Module):
    def __init__(self, num_ids, emb_dim=128, backbone="conv", backbone_kwargs=None, **margin_kwargs):
        super(FaceEmbedder, self).__init__()
        self.backbone = BACKBONES[backbone](emb_dim=emb_dim, **(backbone_kwargs or {}))
        self.bn = nn.BatchNorm1d(emb_dim)
        self.margin = ArcMarginProduct(emb_dim, num_ids, **margin_kwargs)

    def embed(self, x):
        return self.bn(self.backbone(x))

    def forward(self, x, label=None):
        e = self.embed(x)
        if label is None:
            return F.normalize(e)
        logits = self.margin(e, label)
        return F.cross_entropy(logits, label, label_smoothing=0.1)
