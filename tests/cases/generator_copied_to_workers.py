# ruff: noqa
"""Programs for TLN801."""

import functools
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, get_worker_info, random_split


def random_state_of_a_crop():
    """Holds: first == second"""

    class Crops(Dataset):
        def __init__(self, size, seed=0):
            super().__init__()
            self.images = torch.rand(4, 1, 8, 8)
            self.size = size
            self.random = np.random.RandomState(seed)  # warning: [TLN801]

        def __len__(self):
            return len(self.images)

        def __getitem__(self, i):
            x, y = self._corner()
            return self.images[i, :, x : x + self.size, y : y + self.size], (x, y)

        def _corner(self):
            return tuple(int(n) for n in self.random.randint(0, 4, 2))

    loader = DataLoader(Crops(4), batch_size=1, shuffle=False, num_workers=2)
    if __name__ == "__main__":
        corners = [(int(x), int(y)) for _, (x, y) in loader]
        first, second = corners[0], corners[1]


def generator_of_torch():
    """Holds: got[0] == got[1]"""

    class Noisy(Dataset):
        def __init__(self):
            self.generator = torch.Generator().manual_seed(3)  # warning: [TLN801]

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.rand((), generator=self.generator)

    if __name__ == "__main__":
        got = [float(x) for x in DataLoader(Noisy(), num_workers=2)]


def generator_of_the_file():
    """Holds: got[0] == got[1]"""
    rng = random.Random(7)  # warning: [TLN801]

    class Flips(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return rng.random()

    if __name__ == "__main__":
        got = [float(x) for x in DataLoader(Flips(), num_workers=2)]


def behind_a_subset():
    """Holds: got[0] == got[1]"""

    class Noisy(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(5)  # warning: [TLN801]

        def __len__(self):
            return 8

        def __getitem__(self, i):
            return self.rng.normal()

    def loaders(workers):
        train, valid = random_split(Noisy(), [6, 2])
        return DataLoader(train, num_workers=workers), DataLoader(valid)

    got = [float(x) for x in loaders(2)[0]]


def in_a_transform():
    """Holds: first == second"""

    class Jitter:
        def __init__(self, width):
            self.width = width
            self.rng = np.random.default_rng(5)  # warning: [TLN801]

        def __call__(self, x):
            return x + self._amount()

        def _amount(self):
            return self.rng.integers(0, 1_000_000)

    class Points(Dataset):
        def __init__(self, transforms):
            self.transforms = transforms

        def __len__(self):
            return 4

        def __getitem__(self, i):
            x = 0
            for each in self.transforms:
                x = each(x)
            return x

    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points([Jitter(3)]), num_workers=2))


def given_to_a_transform():
    """Holds: first == second"""

    class Crop:
        def __init__(self, rng, size):
            self.rng, self.size = rng, size

        def apply(self, x):
            return int(self.rng.randint(1_000_000))

    class Points(Dataset):
        def __init__(self, seed):
            self.crop = Crop(np.random.RandomState(seed), 3)  # warning: [TLN801]

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.crop.apply(i)

    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points(3), num_workers=2))


def given_to_the_dataset():
    """Holds: first == second"""

    class Points(Dataset):
        def __init__(self, rng):
            self.rng = rng

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.rng.integers(1_000_000)

    rng = np.random.default_rng()  # warning: [TLN801]
    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points(rng), num_workers=2))


def transform_seeded_by_the_sample():
    class Jitter:
        def __init__(self, rng):
            self.rng = rng

        def __call__(self, i):
            self.rng.seed(i)
            return int(self.rng.randint(1_000_000))

    class Points(Dataset):
        def __init__(self, transform):
            self.transform = transform

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.transform(i)

    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points(Jitter(np.random.RandomState(1))), num_workers=2))
        assert first != second


def transform_of_the_file_not_of_the_sample():
    class Jitter:
        def __init__(self):
            self.rng = np.random.default_rng(5)

        def __call__(self, x):
            return x + self.rng.integers(0, 1_000_000)

    class Points(Dataset):
        def __init__(self, n, jitter):
            self.jitter = jitter
            self.points = [self.jitter(i) for i in range(n)]

        def __len__(self):
            return len(self.points)

        def __getitem__(self, i):
            return self.points[i]

    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points(4, Jitter()), num_workers=2))
        assert first != second


def transform_that_is_given_a_new_one():
    class Jitter:
        def __init__(self, rng):
            self.rng = rng

        def renew(self, seed):
            self.rng = np.random.default_rng(seed)

        def __call__(self, x):
            return x + self.rng.integers(0, 1_000_000)

    class Points(Dataset):
        def __init__(self, jitter):
            self.jitter = jitter

        def __len__(self):
            return 4

        def __getitem__(self, i):
            self.jitter.renew(i)
            return self.jitter(0)

    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points(Jitter(np.random.default_rng(1))), num_workers=2))
        assert first != second


def given_a_new_one_by_name():
    class Jitter:
        def __init__(self, rng):
            self.rng = rng

        def renew(self, seed, name="rng"):
            setattr(self, name, np.random.default_rng(seed))

        def __call__(self, x):
            return x + self.rng.integers(0, 1_000_000)

    class Points(Dataset):
        def __init__(self, jitter):
            self.jitter = jitter

        def __len__(self):
            return 4

        def __getitem__(self, i):
            self.jitter.renew(i)
            return self.jitter(0)

    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points(Jitter(np.random.default_rng(1))), num_workers=2))
        assert first != second


def given_a_new_one_in_its_dict():
    class Points(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(1)

        def __len__(self):
            return 4

        def __getitem__(self, i):
            self.__dict__.update(rng=np.random.default_rng(i))
            return self.rng.integers(0, 1_000_000)

    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points(), num_workers=2))
        assert first != second


def transform_of_the_main_process():
    class Jitter:
        def __init__(self):
            self.rng = np.random.default_rng(5)

        def __call__(self, x):
            return x + self.rng.integers(0, 1_000_000)

    class Points(Dataset):
        def __init__(self, jitter):
            self.jitter = jitter

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.jitter(0)

    first, second, *_ = (int(x) for x in DataLoader(Points(Jitter())))
    assert first != second


def every_sample_its_own():
    class Noisy(Dataset):
        def __init__(self, seed):
            self.seed = seed

        def __len__(self):
            return 4

        def __getitem__(self, i):
            rng = np.random.default_rng([self.seed, i])
            return rng.normal()

    if __name__ == "__main__":
        got = [float(x) for x in DataLoader(Noisy(0), num_workers=2)]
        assert got[0] != got[1]


def drawn_before():
    class Split(Dataset):
        def __init__(self, n, seed=0):
            self.rng = np.random.default_rng(seed)
            self.order = self.rng.permutation(n)

        def __len__(self):
            return len(self.order)

        def __getitem__(self, i):
            return int(self.order[i])

    if __name__ == "__main__":
        got = [int(x) for x in DataLoader(Split(4), num_workers=2)]
        assert sorted(got) == [0, 1, 2, 3]


def no_workers():
    class Noisy(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(5)

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.rng.normal()

    got = [float(x) for x in DataLoader(Noisy(), shuffle=True)]
    assert got[0] != got[1]


def seeded_by_a_worker_init_fn():
    class Noisy(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(5)

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.rng.normal()

    def seed(worker):
        get_worker_info().dataset.rng = np.random.default_rng(worker)

    if __name__ == "__main__":
        got = [float(x) for x in DataLoader(Noisy(), num_workers=2, worker_init_fn=seed)]
        assert got[0] != got[1]


def made_in_the_worker():
    class Noisy(Dataset):
        def __init__(self):
            self.rng = None

        def __len__(self):
            return 4

        def __getitem__(self, i):
            if self.rng is None:
                self.rng = np.random.default_rng(torch.initial_seed() % 2**32)
            return self.rng.normal()

    if __name__ == "__main__":
        got = [float(x) for x in DataLoader(Noisy(), num_workers=2)]
        assert got[0] != got[1]


def global_generators():
    class Noisy(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return np.random.normal() + random.random() + float(torch.rand(()))

    if __name__ == "__main__":
        got = [float(x) for x in DataLoader(Noisy(), num_workers=2)]
        assert got[0] != got[1]


def seeded_again_by_the_sample():
    class Noisy(Dataset):
        def __init__(self):
            self.generator = torch.Generator()

        def __len__(self):
            return 4

        def __getitem__(self, i):
            self.generator.manual_seed(i)
            return torch.rand((), generator=self.generator)

    if __name__ == "__main__":
        got = [float(x) for x in DataLoader(Noisy(), num_workers=2)]
        assert got[0] != got[1]


def of_the_loader():
    generator = torch.Generator().manual_seed(0)
    loader = DataLoader(range(8), shuffle=True, generator=generator, num_workers=2)
    if __name__ == "__main__":
        got = [int(x) for x in loader]
        assert sorted(got) == list(range(8))


def given_a_new_one_by_who_is_handed_its_dict():
    class Points(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(1)

        def __len__(self):
            return 4

        def __getitem__(self, i):
            functools.partial(self.__dict__.update)(rng=np.random.default_rng(i))
            return self.rng.integers(0, 1000000)

    if __name__ == "__main__":
        first, second, *_ = (int(x) for x in DataLoader(Points(), num_workers=2))
        assert first != second
