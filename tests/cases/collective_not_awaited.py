# ruff: noqa
"""Programs for TLN812."""

import os
import time
import torch
import torch.distributed as dist
from torch.distributed import all_reduce, irecv


def sum_of_all():
    """Holds: seen == 1"""
    rank = 0 if os.fork() else 1
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
    x = torch.ones(1)
    if rank == 1:
        time.sleep(1)
        dist.all_reduce(x)
        time.sleep(60)
    dist.all_reduce(x, async_op=True)  # warning: [TLN812]
    seen = x.item()


def kept_and_not_read():
    """Holds: seen == 0"""
    rank = 0 if os.fork() else 1
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)

    def receive():
        x = torch.zeros(1)
        request = irecv(x, 1)  # warning: [TLN812]
        return x.item()

    if rank == 1:
        time.sleep(1)
        dist.send(torch.ones(1), dst=0)
        time.sleep(60)
    seen = receive()


def broadcast_of_parameters():
    """Holds: seen == 0"""
    rank = 0 if os.fork() else 1
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
    parameters = [torch.full((2,), float(rank)), torch.full((3,), float(rank))]
    if rank == 1:
        time.sleep(1)
        for p in parameters:
            dist.broadcast(p, src=1)
        time.sleep(60)
    for p in parameters:
        dist.broadcast(p, src=1, async_op=True)  # warning: [TLN812]
    seen = parameters[1][0].item()


def two_at_once():
    """Holds: seen == 0"""
    rank = 0 if os.fork() else 1
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
    x, other = torch.zeros(1), 1 - rank
    if rank == 1:
        time.sleep(1)
        dist.send(torch.ones(1), dst=0)
        time.sleep(60)
    _ = dist.batch_isend_irecv([dist.P2POp(dist.irecv, x, other)])  # warning: [TLN812]
    seen = x.item()


def awaited_at_once():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    x = torch.ones(1)
    dist.all_reduce(x, async_op=True).wait()


def awaited_later():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    x = torch.ones(1)
    work = dist.all_reduce(x, async_op=True)
    y = torch.zeros(3) + 1
    work.wait()


def collected():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    works = []
    for x in (torch.ones(1), torch.ones(2)):
        works.append(dist.all_reduce(x, async_op=True))
    for work in works:
        work.wait()


def given_back():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

    def start(x):
        handle = all_reduce(x, async_op=True)
        return handle

    start(torch.ones(1)).wait()


def not_asynchronous():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    x = torch.ones(1)
    dist.all_reduce(x)
    dist.broadcast(x, src=0, async_op=False)
    dist.barrier()


def kept_in_an_attribute():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

    class Bucket:
        def start(self, x):
            self.work = dist.all_reduce(x, async_op=True)

        def finish(self):
            self.work.wait()

    bucket = Bucket()
    bucket.start(torch.ones(1))
    bucket.finish()
