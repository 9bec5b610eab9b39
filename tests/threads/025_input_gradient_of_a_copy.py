# thread: https://github.com/pytorch/pytorch/issues/12627
# diagnosis: requires_grad is set, then both names are rebound to converted copies: the gradient read is that of no leaf.
# mistake: 14, 25
# expected: TLN306, TLN109
# symptom: prints saliency: None

import torch
from torch import nn

inputs = torch.tensor([[0.2, -1.0, 0.7], [1.1, 0.4, -0.3]])
targets = torch.tensor([1, 0])
inputs.requires_grad = True

inputs, targets = inputs.double(), targets.long()

net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2)).double()
optimizer = torch.optim.Adam(net.parameters(), lr=0.001)
loss_fn = nn.CrossEntropyLoss()
for i in range(3):
    out = net(inputs)
    optimizer.zero_grad()
    loss = loss_fn(out, targets)
    loss.backward()
    optimizer.step()
print("saliency:", inputs.grad)
