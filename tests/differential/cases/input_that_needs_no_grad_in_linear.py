# A Linear saves its weight only for the gradient of an input that requires grad.
# expected: ok

import torch

layer = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.ones(2, 3)
total = 0
for _ in range(3):
    total = total + layer(x).mean()
    total.backward(retain_graph=True)
    optimizer.step()
