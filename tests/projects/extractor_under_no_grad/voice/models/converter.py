import torch
from torch import nn
from voice.parts.extractor import get_extractor


class Converter(nn.Module):
    def __init__(self):
        super().__init__()
        self.extractor = get_extractor()

    def extract(self, x):
        with torch.no_grad():
            return self.extractor.extract_features(x)

    def forward(self, x):
        return self.extract(x)
