# ruff: noqa
"""Programs for TLN802."""

import itertools
import random
import numpy as np
import torch
from pathlib import Path
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


def lines_of_a_file():
    """Holds: len(got) == 6"""
    Path("lines.txt").write_text("a\nb\nc\n")

    class Lines(IterableDataset):
        def __init__(self, path):
            self.path = path

        def __iter__(self):
            with open(self.path) as file:
                for line in file:
                    yield line.strip()

    loader = DataLoader(Lines("lines.txt"), batch_size=None, num_workers=2)  # warning: [TLN802]
    if __name__ == "__main__":
        got = list(loader)


def pairs_of_a_list():
    """Holds: len(got) == 6"""

    class Pairs(IterableDataset):
        def __init__(self, names, values):
            super().__init__()
            self.names = names
            self.values = values

        def __len__(self):
            return len(self.names)

        def __iter__(self):
            return zip(self.names, self.values)

    got = []
    if __name__ == "__main__":
        for name, value in DataLoader(Pairs([1, 2, 3], torch.rand(3)), batch_size=None, num_workers=2):  # warning: [TLN802]
            got.append(name)


def through_a_method():
    """Holds: len(got) == 12"""

    class Windows(IterableDataset):
        def __init__(self, series, width):
            self.series, self.width = series, width

        def _windows(self):
            for start in range(len(self.series) - self.width + 1):
                yield self.series[start : start + self.width]

        def __iter__(self):
            yield from self._windows()

    loader = DataLoader(Windows(np.arange(6), 3), batch_size=None, num_workers=3)  # warning: [TLN802]
    if __name__ == "__main__":
        got = list(loader)


def in_a_function():
    """Holds: got == 8"""

    class Squares(IterableDataset):
        def __iter__(self):
            return (i * i for i in range(4))

    def count(workers):
        loader = DataLoader(Squares(), batch_size=None, num_workers=workers)  # warning: [TLN802]
        return sum(1 for _ in loader)

    got = count(2)


def shuffled_and_whole():
    """Holds: sorted(got) == [0, 0, 1, 1, 2, 2, 3, 3]"""

    class Shuffled(IterableDataset):
        def __init__(self, numbers, shuffle=True):
            self.numbers, self.shuffle = list(numbers), shuffle

        def __iter__(self):
            if self.shuffle:
                random.shuffle(self.numbers)
            for each in self.numbers:
                yield each

    if __name__ == "__main__":
        got = list(DataLoader(Shuffled(range(4)), batch_size=None, num_workers=2))  # warning: [TLN802]


def a_random_part():
    class Part(IterableDataset):
        def __init__(self, numbers):
            self.numbers = list(numbers)

        def __iter__(self):
            random.shuffle(self.numbers)
            yield from self.numbers[:2]

    if __name__ == "__main__":
        got = list(DataLoader(Part(range(1000)), batch_size=None, num_workers=2))
        assert len(got) == 4


def shuffled_and_drawn_from():
    class Drawn(IterableDataset):
        def __init__(self, numbers):
            self.numbers = list(numbers)

        def __iter__(self):
            random.shuffle(self.numbers)
            for _ in range(4):
                yield random.choice(self.numbers)

    if __name__ == "__main__":
        got = list(DataLoader(Drawn(range(1000)), batch_size=None, num_workers=2))
        assert len(got) == 8


def divided():
    class Squares(IterableDataset):
        def __iter__(self):
            info = get_worker_info()
            first, step = (info.id, info.num_workers) if info else (0, 1)
            for i in range(first, 4, step):
                yield i * i

    if __name__ == "__main__":
        got = list(DataLoader(Squares(), batch_size=None, num_workers=2))
        assert len(got) == 4


def divided_by_a_worker_init_fn():
    class Squares(IterableDataset):
        def __init__(self, n):
            self.first, self.last = 0, n

        def __iter__(self):
            return (i * i for i in range(self.first, self.last))

    def divide(number):
        info = get_worker_info()
        part = info.dataset.last // info.num_workers
        info.dataset.first, info.dataset.last = number * part, (number + 1) * part

    if __name__ == "__main__":
        got = list(DataLoader(Squares(4), batch_size=None, num_workers=2, worker_init_fn=divide))
        assert len(got) == 4


def one_worker():
    class Squares(IterableDataset):
        def __iter__(self):
            return (i * i for i in range(4))

    if __name__ == "__main__":
        got = list(DataLoader(Squares(), batch_size=None, num_workers=1))
        assert len(got) == 4


def of_another_stream():
    class Cut(IterableDataset):
        def __init__(self, stream, n):
            self.stream, self.n = stream, n

        def __iter__(self):
            return itertools.islice(self.stream, self.n)

    class Squares(IterableDataset):
        def __iter__(self):
            info = get_worker_info()
            for i in range(info.id, 4, info.num_workers):
                yield i * i

    if __name__ == "__main__":
        got = list(DataLoader(Cut(Squares(), 4), batch_size=None, num_workers=2))
        assert len(got) == 4


def random_samples():
    class Noise(IterableDataset):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            for _ in range(self.n):
                yield torch.randn(2)

    if __name__ == "__main__":
        got = list(DataLoader(Noise(4), batch_size=None, num_workers=2))
        assert len({float(x[0]) for x in got}) == 8


def by_index():
    class Squares(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return i * i

        def __iter__(self):
            return (self[i] for i in range(4))

    if __name__ == "__main__":
        got = list(DataLoader(Squares(), num_workers=2))
        assert len(got) == 4
