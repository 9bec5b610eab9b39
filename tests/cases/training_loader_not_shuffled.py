# ruff: noqa
"""Programs for TLN811."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, TensorDataset


def in_a_function():
    """Holds: seen[0] == seen[1]"""

    def train(epochs):
        model = nn.Linear(2, 1)
        optimizer = torch.optim.Adam(model.parameters())
        points = TensorDataset(torch.arange(1.0, 33).reshape(16, 2))
        batches = DataLoader(points, 4, num_workers=0)  # smell: [TLN811]
        firsts = []
        for epoch in range(epochs):
            firsts.append(None)
            for (x,) in batches:
                firsts[-1] = firsts[-1] or x[0, 0].item()
                loss = model(x).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return firsts

    seen = train(2)


def own_dataset():
    """Holds: seen == [0] * 6"""

    class Points(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            return torch.tensor([float(i)])

    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    loader = DataLoader(Points(), batch_size=2)  # smell: [TLN811]
    seen = []
    for epoch in range(6):
        seen.append(next(iter(loader))[0].item())
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def with_drop_last():
    """Holds: seen == [0, 0]"""
    points = TensorDataset(torch.arange(9.0).reshape(9, 1))
    loader = DataLoader(dataset=points, batch_size=2, drop_last=True)  # smell: [TLN811]
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    seen, epoch = [], 0
    while epoch < 2:
        seen.append(next(iter(loader))[0][0].item())
        for i, (x,) in enumerate(loader):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        epoch += 1


def beside_a_validation():
    """Holds: seen == [0] * 6"""
    train, valid = torch.arange(8.0).reshape(8, 1), torch.rand(4, 1)
    points = TensorDataset(train)
    loader = DataLoader(points, batch_size=4, pin_memory=False)  # smell: [TLN811]
    valid_loader = DataLoader(TensorDataset(valid), batch_size=4)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    seen = []
    for epoch in range(6):
        for i, (x,) in enumerate(loader):
            seen += [x[0].item()] if i == 0 else []
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        with torch.no_grad():
            for (x,) in valid_loader:
                print(model(x).sum())


def said_to_be_in_order():
    loader = DataLoader(TensorDataset(torch.arange(1.0, 9).reshape(8, 1)), batch_size=4, shuffle=False)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for epoch in range(2):
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def with_a_sampler():
    data = TensorDataset(torch.arange(1.0, 9).reshape(8, 1))
    loader = DataLoader(data, batch_size=4, sampler=RandomSampler(data))
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for epoch in range(2):
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def one_pass():
    loader = DataLoader(TensorDataset(torch.arange(1.0, 9).reshape(8, 1)), batch_size=4)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for (x,) in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def all_at_once():
    data = TensorDataset(torch.arange(1.0, 9).reshape(8, 1))
    loader = DataLoader(data, batch_size=len(data))
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for epoch in range(2):
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def a_stream():
    class Points(IterableDataset):
        def __iter__(self):
            return iter(torch.rand(8, 1))

    loader = DataLoader(Points(), batch_size=4)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for epoch in range(2):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def only_evaluated():
    loader = DataLoader(TensorDataset(torch.arange(1.0, 9).reshape(8, 1)), batch_size=4)
    model = nn.Linear(1, 1).eval()
    with torch.no_grad():
        for repeat in range(2):
            for (x,) in loader:
                print(model(x).sum())


def evaluation_in_no_order():
    points = TensorDataset(torch.arange(8.0).reshape(8, 1))
    validation = DataLoader(points, batch_size=4, shuffle=True)
    model = nn.Linear(1, 1)
    model.eval()
    with torch.no_grad():
        for (x,) in validation:
            print(model(x).sum())


def trained_and_evaluated():
    loader = DataLoader(TensorDataset(torch.arange(1.0, 9).reshape(8, 1)), batch_size=4, shuffle=True)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for (x,) in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for (x,) in loader:
            print(model(x).sum())


def made_up_data():
    """Holds: seen == [0] * 6"""

    class Points(Dataset):
        def __init__(self, n):
            self.labels = torch.randint(0, 2, (n,))
            self.x = torch.randn(n, 1)

        def __len__(self):
            return len(self.labels)

        def __getitem__(self, i):
            return i, self.x[i], self.labels[i]

    model = nn.Linear(1, 2)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    loader = DataLoader(Points(8), batch_size=2)  # smell: [TLN811]
    seen = []
    for epoch in range(6):
        seen.append(next(iter(loader))[0][0].item())
        for _, x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


def an_order_that_the_dataset_draws():
    class Points(Dataset):
        def __init__(self, n):
            self.x = torch.randn(n, 1)
            self.order = torch.randperm(n)

        def __len__(self):
            return len(self.order)

        def __getitem__(self, i):
            return self.x[self.order[i]]

    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    loader = DataLoader(Points(8), batch_size=2)
    for epoch in range(2):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def a_dataset_that_draws_by_a_generator_of_its_own():
    import numpy as np

    class Points(Dataset):
        def __init__(self, n):
            self.x = torch.randn(n, 1)
            self.source = np.random.default_rng(0)

        def __len__(self):
            return len(self.x)

        def __getitem__(self, i):
            return self.x[self.source.integers(len(self.x))]

    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    loader = DataLoader(Points(8), batch_size=2)
    for epoch in range(2):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def layers_one_after_the_other():
    """Holds: seen == [0] * 6"""
    loader = DataLoader(TensorDataset(torch.arange(8.0).reshape(8, 1)), batch_size=4)  # smell: [TLN811]
    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    seen = []
    for epoch in range(6):
        for i, (x,) in enumerate(loader):
            seen += [x[0].item()] if i == 0 else []
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def samples_drawn_at_random():
    """Their order is as good as any."""
    loader = DataLoader(TensorDataset(torch.randn(8, 1) * 3.0, torch.randint(0, 2, (8,))), batch_size=4)
    model = nn.Linear(1, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


def classes_drawn_one_after_the_other():
    """Holds: seen == [0] * 6"""
    x = torch.cat([torch.rand(4, 1) + 2, torch.rand(4, 1) - 2])
    loader = DataLoader(TensorDataset(x, torch.arange(8) // 4), batch_size=4)  # smell: [TLN811]
    model, seen = nn.Linear(1, 2), []
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(6):
        for i, (x, y) in enumerate(loader):
            seen += [y.max().item()] if i == 0 else []
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


def a_few_epochs():
    """Holds: firsts == [1, 1, 1]"""
    loader = DataLoader(TensorDataset(torch.arange(1.0, 9).reshape(8, 1)), batch_size=4)  # strict: [TLN811]
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    firsts = []
    for epoch in range(3):
        for i, (x,) in enumerate(loader):
            firsts += [x[0].item()] if i == 0 else []
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
