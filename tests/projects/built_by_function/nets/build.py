from torch import nn

from nets.settings import Settings


def build_model(settings: Settings) -> nn.Module:
    return nn.Sequential(nn.Linear(4, settings.width), nn.Linear(settings.width, settings.classes), nn.Softmax(dim=1))


def build_logits(settings: Settings) -> nn.Module:
    return nn.Sequential(nn.Linear(4, settings.width), nn.ReLU(), nn.Linear(settings.width, settings.classes))
