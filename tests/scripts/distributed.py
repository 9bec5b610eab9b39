"""Data parallel training over a process group of one, as a launcher would start it."""

import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn, optim
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(10, 5)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


def setup(rank, world_size, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=world_size)


def reduce_mean(tensor, world_size):
    rt = tensor.clone()
    dist.all_reduce(rt, op=dist.ReduceOp.SUM)
    rt /= world_size
    return rt


def average_gradients(model, size):
    for param in model.parameters():
        if param.grad is not None:
            dist.all_reduce(param.grad, op=dist.ReduceOp.SUM)
            param.grad /= size


def train(rank, world_size, folder):
    setup(rank, world_size, folder)
    torch.manual_seed(0)
    dataset = TensorDataset(torch.rand(16, 10), torch.rand(16, 5))
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=4, sampler=sampler)
    ddp_model = DDP(ToyModel())
    loss_fn = nn.MSELoss()
    optimizer = optim.SGD(ddp_model.parameters(), lr=0.001, momentum=0.9)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(ddp_model(x), y)
            loss.backward()
            optimizer.step()
        mean = reduce_mean(loss.detach(), world_size)
        if rank == 0:
            print(epoch, mean.item())
    if rank == 0:
        torch.save(ddp_model.module.state_dict(), os.path.join(folder, "model.pt"))
    dist.barrier()

    plain = ToyModel()
    plain.load_state_dict(torch.load(os.path.join(folder, "model.pt"), map_location="cpu", weights_only=True))
    by_hand = optim.SGD(plain.parameters(), lr=0.01)
    for x, y in loader:
        by_hand.zero_grad()
        loss_fn(plain(x), y).backward()
        average_gradients(plain, world_size)
        by_hand.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        train(0, 1, folder)
