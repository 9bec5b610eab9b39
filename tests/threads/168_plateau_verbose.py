# thread: https://github.com/gszfwsb/NCFM/pull/11
# diagnosis: ReduceLROnPlateau gets verbose, which it no longer takes.
# mistake: 14
# expected: TLN901, TLN903
# symptom: raises TypeError: unexpected keyword argument 'verbose'

import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau


def define_optimizer(params, net, factor=0.5):
    optimizer = torch.optim.AdamW(net.parameters(), lr=params["lr"])
    scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=factor, patience=params["patience"], verbose=False)
    return optimizer, scheduler


net = nn.Linear(4, 2)
optimizer, scheduler = define_optimizer({"lr": 1e-3, "patience": 5}, net)
for epoch in range(3):
    loss = net(torch.randn(3, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step(loss.item())
