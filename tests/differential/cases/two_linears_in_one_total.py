# The second layer's input requires grad: its weight is saved.
# expected: saved on line 12, written on line 13

import torch

layer = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.ones(2, 3)
total = 0
for _ in range(3):
    total = total + layer(x).mean()
    total.backward(retain_graph=True)
    optimizer.step()
