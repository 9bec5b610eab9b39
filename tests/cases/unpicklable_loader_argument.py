# ruff: noqa
"""Programs for TLN805."""

import functools
import torch
import torch.multiprocessing
from torch.utils.data import DataLoader, Dataset


def a_function_of_a_function():
    """Raises: Can't pickle local object"""

    def loader(data, padding):
        def collate(batch):
            return torch.tensor(batch + [padding])

        return DataLoader(data, 2, num_workers=2, collate_fn=collate, multiprocessing_context="spawn")  # warning: [TLN805]

    list(loader(range(8), 0))


def a_lambda_under_a_name():
    """Raises: Can't pickle <function <lambda>"""
    collate = lambda batch: torch.tensor(batch)
    data = DataLoader(range(8), collate_fn=collate, num_workers=1, multiprocessing_context="spawn")  # warning: [TLN805]
    if __name__ == "__main__":
        list(data)


def seeding():
    """Raises: Can't pickle <function <lambda>"""
    seed = lambda worker: torch.manual_seed(worker)
    data = DataLoader(range(8), num_workers=1, worker_init_fn=seed, multiprocessing_context="spawn")  # warning: [TLN805]
    if __name__ == "__main__":
        next(iter(data))


def held_by_the_dataset():
    """Raises: Can't pickle <function <lambda>"""

    class Numbers(Dataset):
        def __init__(self, transform):
            self.transform = transform

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.transform(i)

    numbers = Numbers(lambda i: i + 1)
    if __name__ == "__main__":
        list(DataLoader(numbers, num_workers=2, multiprocessing_context="spawn"))  # warning: [TLN805]


def without_workers():
    loader = DataLoader(range(8), collate_fn=lambda batch: batch)
    list(loader)


def workers_unknown():
    def loader(workers):
        return DataLoader(range(8), num_workers=workers, collate_fn=lambda batch: batch)

    list(loader(0))


def forked_by_choice():
    loader = DataLoader(range(8), num_workers=1, collate_fn=lambda batch: batch, multiprocessing_context="fork")
    list(loader)


def start_method_chosen():
    torch.multiprocessing.set_start_method("fork", force=True)
    loader = DataLoader(range(8), num_workers=1, collate_fn=lambda batch: batch)
    list(loader)


def function_of_the_file():
    def collate(padding, batch):
        return torch.tensor(batch + [padding])

    loader = DataLoader(range(8), collate_fn=functools.partial(collate, 0), num_workers=1)
    if __name__ == "__main__":
        list(loader)


def a_method_of_torch():
    loader = DataLoader(range(8), collate_fn=torch.tensor, num_workers=1)
    if __name__ == "__main__":
        list(loader)
