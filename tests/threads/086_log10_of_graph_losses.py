# thread: https://github.com/source-separation/tutorial/issues/28
# diagnosis: NumPy is applied to a list of losses that still have their graphs.
# mistake: 30
# expected: TLN111
# symptom: raises RuntimeError: Can't call numpy() on Tensor that requires grad

import numpy as np
import torch
from torch import nn

LEARNING_RATES = [1e-2, 1e-3]


def train(lr, n_iter):
    net = nn.Linear(4, 4)
    opt = torch.optim.SGD(net.parameters(), lr=lr)
    curve = []
    for _ in range(n_iter):
        mix = torch.rand(3, 4)
        opt.zero_grad()
        loss = nn.functional.l1_loss(net(mix), mix)
        loss.backward()
        opt.step()
        curve.append(loss)
    return curve


losses = [train(lr, n_iter=3) for lr in LEARNING_RATES]
for j, lr in enumerate(LEARNING_RATES):
    print(lr, np.log10(losses[j]))
