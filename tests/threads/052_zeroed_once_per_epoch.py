# thread: https://github.com/salesforce/corr_based_prediction/issues/1
# diagnosis: The gradients are cleared once an epoch, outside the loop over the batches that steps.
# mistake: 14, 21
# expected: TLN402, TLN405
# symptom: prints gradients of all batches: True

import torch
from torch import nn


def train(net, batches, optimizer, lam, epochs):
    for epoch in range(epochs):
        net.train()
        optimizer.zero_grad()
        total = 0.0
        for x, y in batches:
            hidden = torch.relu(net[0](x))
            loss = nn.functional.cross_entropy(net[1](hidden), y)
            loss = loss + lam * hidden.std(dim=0).mean()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total / len(batches))


net = nn.Sequential(nn.Linear(7, 10), nn.Linear(10, 2))
batch = (torch.randn(6, 7), torch.randint(0, 2, (6,)))
sgd = torch.optim.SGD(net.parameters(), lr=0.0)
train(net, [batch], sgd, 0.1, 1)
one = net[0].weight.grad.clone()
train(net, [batch] * 5, sgd, 0.1, 1)
print("gradients of all batches:", torch.allclose(net[0].weight.grad, 5 * one, atol=1e-5))
