# thread: https://github.com/pytorch/pytorch/issues/6166
# diagnosis: The loss of each pixel is asked for with reduce=False, and backward is called on all of them.
# mistake: 18
# expected: TLN103
# symptom: raises RuntimeError: grad can be implicitly created only for scalar outputs

import torch
from torch import nn

logsoftmax = nn.LogSoftmax(dim=1)
criterion = nn.NLLLoss(reduction="none")


def step(net, images, labels, optimizer):
    outputs = logsoftmax(net(images))
    loss = criterion(outputs, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


fcn = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 1))
step(fcn, torch.rand(2, 3, 6, 6), torch.randint(0, 4, (2, 6, 6)), torch.optim.SGD(fcn.parameters(), lr=0.1))
