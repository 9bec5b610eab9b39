# ruff: noqa
"""Programs for TLN313."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.testing._internal.distributed.fake_pg import FakeStore


def layer_that_nothing_reads():
    """Raises: Expected to have finished reduction"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3)
            self.bn_unused = nn.BatchNorm2d(2)  # warning: [TLN313]

        def forward(self, x):
            return self.conv(x)

    net = Net()
    net = net.to("cpu")
    net = DDP(net)
    net.register_comm_hook(None, noop_hook)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.ones(1, 1, 4, 4)).sum().backward()
        optimizer.step()


def parameter_that_nothing_reads():
    """Raises: Expected to have finished reduction"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super(Net, self).__init__()
            self.body = nn.Linear(2, 2)
            self.temperature = nn.Parameter(torch.ones(1))  # warning: [TLN313]

        def forward(self, x):
            return self.body(x)

    net = DDP(Net().train(), find_unused_parameters=False)
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def in_a_function_under_another_name():
    """Raises: Expected to have finished reduction"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.body = nn.Linear(width, width)
            self.skip = nn.Sequential(nn.Linear(width, width), nn.ReLU())  # warning: [TLN313]

        def forward(self, x):
            return self.body(x)

    def train(steps):
        model = Net(3)
        wrapped = DDP(model)
        wrapped.register_comm_hook(None, noop_hook)
        for _ in range(steps):
            wrapped(torch.ones(1, 3)).sum().backward()

    train(2)


def module_of_the_file_that_nothing_reads():
    """Raises: Expected to have finished reduction"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.out = nn.Linear(2, 1)

        def forward(self, x):
            return self.out(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.extra = Head()  # warning: [TLN313]

        def forward(self, x):
            return self.body(x)

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def unused_ones_are_looked_for():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.body(x)

    net = DDP(Net(), find_unused_parameters=True)
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def read_by_another_method():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.finish(self.body(x))

        def finish(self, x):
            return self.head(x)

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def no_parameters_in_it():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.drop = nn.Dropout(0.5)
            self.norm = nn.BatchNorm1d(2, affine=False)
            self.block = nn.Sequential(nn.ReLU(), nn.Dropout())

        def forward(self, x):
            return self.body(x)

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def frozen():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.body(x)

    net = Net()
    for name, parameter in net.named_parameters():
        parameter.requires_grad_(not name.startswith("h"))
    net = DDP(net)
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def read_by_its_name_as_a_string():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.second = nn.Linear(2, 2)

        def forward(self, x):
            for name in ("first", "second"):
                x = getattr(self, name)(x)
            return x

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def gone_through_as_children():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.second = nn.Linear(2, 2)

        def forward(self, x):
            for layer in self.children():
                x = layer(x)
            return x

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def handed_to_a_function():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    def run(net, x):
        return nn.Sequential(*[each for key, each in net._modules.items()])(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.second = nn.Linear(2, 2)

        def forward(self, x):
            return run(self, x)

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def weight_of_it_is_shared():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(3, 2)
            self.out = nn.Linear(2, 3, bias=False)
            self.out.weight = self.embed.weight

        def forward(self, x):
            return self.embed(x)

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.tensor([1])).sum().backward()


def removed_before_it_is_wrapped():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.body(x)

    net = Net()
    net.head = nn.Identity()
    net = DDP(net)
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def another_class_is_wrapped():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Old(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.body(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)

        def forward(self, x):
            return self.body(x)

    old = Old()
    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        (net(torch.ones(1, 2)) - old(torch.ones(1, 2)).detach()).sum().backward()


def penalty_over_all_parameters():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.body(x)

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        loss = net(torch.ones(1, 2)).sum()
        loss = loss + sum(parameter.square().sum() for parameter in net.parameters())
        loss.backward()


def static_graph():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.body(x)

    net = DDP(Net(), static_graph=True)
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def derived_class_reads_it():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.body(x)

    class Net(Base):
        def forward(self, x):
            return self.head(super().forward(x))

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def class_inside_another_one():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Trainer:
        def __init__(self):
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body = nn.Linear(2, 2)
                    self.head = nn.Linear(2, 2)

                def forward(self, x):
                    return self.head(self.body(x))

            self.net = DDP(Net())
            self.net.register_comm_hook(None, noop_hook)

        def run(self):
            for _ in range(2):
                self.net(torch.ones(1, 2)).sum().backward()

    Trainer().run()


def layers_assigned_together_of_which_nothing_reads_one():
    """Raises: Expected to have finished reduction"""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.spare = nn.Linear(2, 2), nn.Linear(2, 2)  # warning: [TLN313]

        def forward(self, x):
            return self.body(x)

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()


def layers_assigned_together_and_all_read():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, (self.head, self.act) = nn.Linear(2, 2), (nn.Linear(2, 2), nn.ReLU())

        def forward(self, x):
            return self.head(self.body(x))

    net = DDP(Net())
    net.register_comm_hook(None, noop_hook)
    for _ in range(2):
        net(torch.ones(1, 2)).sum().backward()
