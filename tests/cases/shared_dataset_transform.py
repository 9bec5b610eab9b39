# ruff: noqa
"""Programs for TLN810."""

import copy
import torch
from torch.utils.data import DataLoader, Dataset, Subset, random_split


def both_parts():
    """Holds: train[0] < 0"""

    class Numbers(Dataset):
        transform = None

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.transform(i + 1)

    train, valid = random_split(Numbers(), [3, 1])
    train.dataset.transform = lambda i: i + 100
    valid.dataset.transform = lambda i: -i  # warning: [TLN810]
    loaders = DataLoader(train, batch_size=2), DataLoader(valid)


def subsets_of_one():
    """Holds: got[1][0] == 1"""

    class Numbers(Dataset):
        def __init__(self):
            self.augment = False

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return int(self.augment)

    def parts(data):
        train = Subset(data, [0, 1])
        valid = Subset(data, [2, 3])
        train.dataset.augment = True  # warning: [TLN810]
        return train, valid

    got = parts(Numbers())


def three_parts():
    """Holds: test[0] == 1"""

    class Numbers(Dataset):
        def __init__(self):
            self.transforms = None

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return 0 if self.transforms is None else 1

    data = Numbers()
    train, valid, test = torch.utils.data.random_split(data, [2, 1, 1], generator=torch.Generator().manual_seed(0))
    print(len(train), len(valid))
    train.dataset.transforms = str  # warning: [TLN810]
    print(len(test))


def in_a_method():
    """Holds: module.valid[0] == 1"""

    class Numbers(Dataset):
        train = False

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return int(self.train)

    class Data:
        def setup(self):
            self.train, self.valid = random_split(Numbers(), [3, 1])
            self.train.dataset.train = True  # warning: [TLN810]

        def loaders(self):
            return DataLoader(self.train), DataLoader(self.valid)

    module = Data()
    module.setup()


def own_copy():
    class Numbers(Dataset):
        transform = None

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return i if self.transform is None else -1

    train, valid = random_split(Numbers(), [3, 1])
    valid.dataset = copy.copy(valid.dataset)
    train.dataset.transform = str
    assert valid[0] >= 0


def the_same_for_both():
    class Numbers(Dataset):
        transform = None

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.transform(i)

    train, valid = random_split(Numbers(), [3, 1])
    train.dataset.transform = float
    valid.dataset.transform = float
    print(train[0], valid[0])


def one_after_the_other():
    class Numbers(Dataset):
        transform = None

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.transform(i)

    data = Numbers()
    train, valid = random_split(data, [3, 1])
    data.transform = float
    for x in DataLoader(train):
        print(x)
    valid.dataset.transform = int
    for x in DataLoader(valid):
        print(x)


def two_datasets():
    class Numbers(Dataset):
        transform = None

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return i if self.transform is None else -1

    train = Subset(Numbers(), [0, 1])
    valid = Subset(Numbers(), [2, 3])
    train.dataset.transform = str
    assert valid[0] == 2


def the_rest_is_thrown_away():
    class Numbers(Dataset):
        transform = None

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.transform(i)

    small, _ = random_split(Numbers(), [3, 1])
    small.dataset.transform = float
    print(small[0])
