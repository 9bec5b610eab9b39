# correct: 168_plateau_verbose.py
# cure: The argument is left out.

import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau


def define_optimizer(params, net, factor=0.5):
    optimizer = torch.optim.AdamW(net.parameters(), lr=params["lr"])
    scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=factor, patience=params["patience"])
    return optimizer, scheduler


net = nn.Linear(4, 2)
optimizer, scheduler = define_optimizer({"lr": 1e-3, "patience": 5}, net)
for epoch in range(3):
    loss = net(torch.randn(3, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step(loss.item())
