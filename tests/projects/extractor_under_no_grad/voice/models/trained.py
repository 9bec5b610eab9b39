from torch import nn
from voice.parts.network import Network


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = Network()
        self.encoder = nn.Linear(4, 4)

    def forward(self, x):
        return self.network.find_features(self.encoder(x))
