# thread: https://github.com/ShiYunyi/Meta-Weight-Net_Code-Optimization/issues/5
# diagnosis: The gradient is asked for all parameters of a network, one layer of which forward does not use.
# mistake: 26
# expected: TLN113
# symptom: raises RuntimeError: appears to not have been used in the graph

import torch
import torch.nn as nn


class Pseudo(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.body = nn.Linear(features, 16)
        self.auxiliary = nn.Linear(16, 2)
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc(torch.relu(self.body(x)))


def meta_gradients(net, weight_net, inputs, labels):
    losses = nn.functional.cross_entropy(net(inputs), labels, reduction="none")
    weights = weight_net(losses.detach().unsqueeze(1)).squeeze(1)
    pseudo_loss = (weights * losses).mean()
    return torch.autograd.grad(pseudo_loss, net.parameters(), create_graph=True)


weight_net = nn.Sequential(nn.Linear(1, 4), nn.Sigmoid(), nn.Linear(4, 1))
grads = meta_gradients(Pseudo(7, 3), weight_net, torch.randn(5, 7), torch.randint(0, 3, (5,)))
