import torch
from helpers import clear

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    clear(optimizer)
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
