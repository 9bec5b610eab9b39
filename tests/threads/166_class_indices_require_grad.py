# thread: https://github.com/pytorch/pytorch/issues/95110
# diagnosis: The index of the largest score is told to require grad.
# mistake: 16
# expected: TLN118
# symptom: raises RuntimeError: only Tensors of floating point and complex dtype can require gradients

import torch
import torch.nn as nn


def train(net, loader, criterion, optimizer):
    for images, labels in loader:
        optimizer.zero_grad()
        outputs = net(images)
        _, predicted = torch.max(outputs.data, 1)
        predicted.requires_grad = True
        loss = criterion(predicted, labels)
        loss.backward()
        optimizer.step()


net = nn.Linear(6, 3)
batches = [(torch.randn(4, 6), torch.randint(0, 3, (4,)))]
train(net, batches, nn.MSELoss(), torch.optim.SGD(net.parameters(), lr=0.1))
