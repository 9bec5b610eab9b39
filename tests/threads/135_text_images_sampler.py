# thread: https://github.com/lucidrains/DALLE-pytorch/pull/230
# diagnosis: The training script shuffles with a DistributedSampler if it is distributed, and never tells it the epoch.
# mistake: 21, 22
# expected: TLN803
# symptom: prints order repeats: True

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

args = argparse.Namespace(distributed=True, epochs=2, batch_size=4, lr=1e-3)
ds = TensorDataset(torch.randint(0, 30, (16, 5)), torch.arange(16))
data_sampler = DistributedSampler(ds, num_replicas=1, rank=0) if args.distributed else None
dl = DataLoader(ds, batch_size=args.batch_size, shuffle=data_sampler is None, sampler=data_sampler)
dalle = nn.Sequential(nn.Embedding(30, 8), nn.Linear(8, 30))
opt = torch.optim.Adam(dalle.parameters(), lr=args.lr)
orders = [[], []]
for epoch in range(args.epochs):
    for i, (text, index) in enumerate(dl):
        loss = nn.functional.cross_entropy(dalle(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        orders[epoch] += index.tolist()
print("order repeats:", orders[0] == orders[1])
