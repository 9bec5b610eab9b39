# ruff: noqa
"""Programs for TLN803."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def loop_of_a_function():
    """Holds: first == second"""

    def train(data, epochs, distributed):
        sampler = DistributedSampler(data, num_replicas=2, rank=0) if distributed else None
        loader = DataLoader(data, batch_size=5, shuffle=(sampler is None), sampler=sampler)
        seen = []
        for epoch in range(epochs):
            for i, x in enumerate(loader):  # warning: [TLN803]
                seen.append(x.tolist())
        return seen

    seen = train(torch.arange(20), 2, True)
    first, second = seen[:2], seen[2:]


def sampler_inside_the_loader():
    """Holds: first == second"""
    data = TensorDataset(torch.arange(20.0).reshape(20, 1))
    loader = DataLoader(data, batch_size=10, sampler=DistributedSampler(data, num_replicas=2, rank=1))
    orders = []
    epoch = 0
    while epoch < 2:
        orders.append([])
        for (x,) in loader:  # warning: [TLN803]
            orders[-1].append(x.tolist())
        epoch += 1
    first, second = orders


def epoch_in_a_function_of_its_own():
    """Holds: first == second"""

    def one_epoch(model, loader):
        order = []
        for x in loader:
            model(x)
            order += x.flatten().tolist()
        return order

    def run():
        data = torch.arange(20.0).reshape(20, 1)
        sampler = DistributedSampler(data, 2, 0)
        loader = DataLoader(data, batch_size=10, sampler=sampler)
        model = nn.Linear(1, 1)
        orders = []
        for epoch in range(2):
            orders.append(one_epoch(model, loader))  # warning: [TLN803]
        return orders

    first, second = run()


def of_an_object():
    """Holds: trainer.orders[0] == trainer.orders[1]"""

    class Training:
        def __init__(self, data):
            self.sampler = DistributedSampler(data, 2, 0)
            self.loader = DataLoader(data, batch_size=10, sampler=self.sampler)
            self.orders = []

        def one_epoch(self):
            self.orders.append([])
            for x in self.loader:
                self.orders[-1] += x.flatten().tolist()

        def run(self, epochs):
            for epoch in range(epochs):
                self.one_epoch()  # warning: [TLN803]

    trainer = Training(torch.arange(20.0))
    trainer.run(2)


def held_by_another_object():
    """Holds: runner.orders[0] == runner.orders[1]"""

    class Loaders:
        def __init__(self, data):
            self.sampler = DistributedSampler(data, 2, 0)
            self.training = DataLoader(data, batch_size=10, sampler=self.sampler)

    class Runner:
        def __init__(self, loaders, epochs):
            self.loaders, self.epochs = loaders, epochs
            self.orders = []

        def run(self):
            for epoch in range(self.epochs):
                self.orders.append([])
                for x in self.loaders.training:  # warning: [TLN803]
                    self.orders[-1] += x.tolist()

    loaders = Loaders(torch.arange(20))
    runner = Runner(loaders, epochs=2)
    runner.run()


def held_by_an_object_of_several_kinds():
    class Loaders:
        def __init__(self, data):
            self.sampler = DistributedSampler(data, 2, 0)
            self.training = DataLoader(data, batch_size=10, sampler=self.sampler)

    class Plain:
        def __init__(self, data):
            self.training = DataLoader(data, batch_size=10, shuffle=True)

    class Runner:
        def __init__(self, loaders):
            self.loaders = loaders

        def run(self):
            for epoch in range(2):
                for x in self.loaders.training:
                    print(x)

    Runner(Plain(torch.arange(20))).run()
    Runner(Loaders(torch.arange(20)))


def held_by_an_object_that_somebody_else_gives():
    class Loaders:
        def __init__(self, data):
            self.sampler = DistributedSampler(data, 2, 0)
            self.training = DataLoader(data, batch_size=10, sampler=self.sampler)

    class Runner:
        def __init__(self, loaders):
            self.loaders = loaders

        def run(self):
            for epoch in range(2):
                for x in self.loaders.training:
                    print(x)


def epoch_is_set():
    data = torch.arange(20)
    sampler = DistributedSampler(data, 2, 0)
    loader = DataLoader(data, batch_size=10, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x in loader:
            print(x)


def set_through_the_loader():
    data = torch.arange(20)
    loader = DataLoader(data, batch_size=10, sampler=DistributedSampler(data, 2, 0))
    for epoch in range(2):
        if isinstance(loader.sampler, DistributedSampler):
            loader.sampler.set_epoch(epoch)
        for x in loader:
            print(x)


def not_shuffled():
    data = torch.arange(20)
    sampler = DistributedSampler(data, num_replicas=2, rank=0, shuffle=False)
    loader = DataLoader(data, batch_size=10, sampler=sampler)
    for epoch in range(2):
        for x in loader:
            print(x)


def one_pass():
    data = torch.arange(20)
    loader = DataLoader(data, batch_size=10, sampler=DistributedSampler(data, 2, 0))
    for x in loader:
        for value in x:
            print(value)


def handed_on():
    data = torch.arange(20)
    sampler = DistributedSampler(data, 2, 0)
    loader = DataLoader(data, batch_size=10, sampler=sampler)

    class Epochs:
        def __init__(self, of):
            self.of = of

        def begin(self, epoch):
            getattr(self.of, "set_" + "epoch")(epoch)

    callback = Epochs(sampler)
    for epoch in range(2):
        callback.begin(epoch)
        for x in loader:
            print(x)


def evaluated_after_each_epoch():
    data = torch.arange(20)
    valid = DataLoader(data, batch_size=10, sampler=DistributedSampler(data, 2, 0, False))
    for epoch in range(2):
        for x in valid:
            print(x)


def evaluated_in_whatever_order():
    @torch.no_grad()
    def measure(model, batches):
        total = 0.0
        for x in batches:
            total += model(x.float()[:, None]).sum().item()
        return total

    data = torch.arange(20)
    model = torch.nn.Linear(1, 1)
    valid = DataLoader(data, batch_size=10, sampler=DistributedSampler(data, 2, 0))
    for epoch in range(2):
        measure(model, valid)
        with torch.no_grad():
            for x in valid:
                model(x.float()[:, None])
