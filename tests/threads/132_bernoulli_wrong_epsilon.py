# thread: https://github.com/emited/VariationalRecurrentNeuralNetwork/issues/10
# diagnosis: The epsilon of the second logarithm is subtracted, so its argument can be zero or negative.
# mistake: 19
# expected: none
# symptom: prints nll is nan: True

import torch
import torch.nn as nn

EPS = 1e-5


class Decoder(nn.Module):
    def __init__(self, z_dim, x_dim):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(z_dim, x_dim), nn.Sigmoid())

    def _nll_bernoulli(self, theta, x):
        return -torch.sum(x * torch.log(theta + EPS) + (1 - x) * torch.log(1 - theta - EPS))

    def forward(self, z, x):
        return self._nll_bernoulli(self.mean(z), x)


decoder = Decoder(3, 5)
nn.init.constant_(decoder.mean[0].bias, 40.0)
print("nll is nan:", bool(decoder(torch.zeros(2, 3), torch.zeros(2, 5)).isnan()))
