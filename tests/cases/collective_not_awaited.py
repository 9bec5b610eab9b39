# ruff: noqa
"""Programs for TLN812."""

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore


def sent():
    """Holds: hasattr(dist.isend(x, 1), 'wait')"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    x = torch.ones(3)
    dist.isend(x, dst=1)  # warning: [TLN812]
    x.zero_()


def received_into_a_name_that_nothing_reads():
    """Holds: hasattr(handle, 'wait')"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    x = torch.empty(3)
    handle = dist.irecv(x, src=1)  # warning: [TLN812]
    print(x.sum())


def in_a_function():
    """Holds: hasattr(dist.all_reduce(x, async_op=True), 'wait')"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    def average(tensors):
        for each in tensors:
            dist.all_reduce(each, op=dist.ReduceOp.SUM, async_op=True)  # warning: [TLN812]
        return [each / dist.get_world_size() for each in tensors]

    x = torch.ones(3)
    average([x])


def several():
    """Holds: hasattr(dist.isend(x, 1), 'wait')"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    x, y = torch.ones(3), torch.empty(3)
    operations = [dist.P2POp(dist.isend, x, 1), dist.P2POp(dist.irecv, y, 1)]
    dist.batch_isend_irecv(operations)  # warning: [TLN812]
    print(y)


def awaited():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    x = torch.ones(3)
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    for each in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 1)]):
        each.wait()


def awaited_at_once():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    x = torch.ones(3)
    dist.all_reduce(x, async_op=True).wait()


def collected():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    works = []
    for _ in range(2):
        works.append(dist.isend(torch.ones(3), 1))
    for each in works:
        each.wait()


def returned():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    def start(x):
        handle = dist.all_reduce(x, async_op=True)
        return x, handle

    x, handle = start(torch.ones(3))
    handle.wait()


def in_the_foreground():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    x = torch.ones(3)
    dist.all_reduce(x)
    dist.all_reduce(x, async_op=False)
    dist.send(x, 1)


def everybody_meets():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    x = torch.ones(3)
    dist.all_reduce(x, async_op=True)
    dist.barrier()
    print(x)


def where_the_caller_says():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    def reduce(x, wait):
        return dist.all_reduce(x, async_op=not wait)

    reduce(torch.ones(3), True)


def dropped_by_name():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    _ = dist.all_reduce(torch.ones(3), async_op=True)


def expected_to_raise():
    import unittest

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    with unittest.TestCase().assertRaises(Exception):
        dist.batch_isend_irecv([1, 2])
