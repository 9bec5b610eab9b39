# ruff: noqa
"""Programs for TLN804."""

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, BatchSampler, SequentialSampler


def prefetch_without_workers():
    """Raises: prefetch_factor option could only be specified in multiprocessing"""
    workers = 0
    loader = DataLoader(range(8), batch_size=2, num_workers=workers, prefetch_factor=4)  # error: [TLN804]


def shuffled_stream():
    """Raises: expected unspecified shuffle option"""

    class Lines(IterableDataset):
        def __iter__(self):
            return iter(range(4))

    loader = DataLoader(Lines(), batch_size=2, shuffle=True)  # error: [TLN804]


def batch_sampler_and_size():
    """Raises: batch_sampler option is mutually exclusive"""
    data = torch.arange(8)
    batches = BatchSampler(SequentialSampler(data), 4, False)
    loader = DataLoader(data, batch_size=4, batch_sampler=batches)  # error: [TLN804]


def drop_last_of_no_batches():
    """Raises: batch_size=None option disables auto-batching"""
    loader = DataLoader(range(8), batch_size=None, drop_last=True)  # error: [TLN804]


def timeout_without_workers():
    """Raises: AssertionError"""
    for x in DataLoader(range(8), timeout=10):  # error: [TLN804]
        print(x)


def in_a_function():
    """Raises: sampler option is mutually exclusive with shuffle"""

    def loaders(train, valid):
        sampler = torch.utils.data.RandomSampler(train, replacement=True)
        return (
            torch.utils.data.DataLoader(train, batch_size=4, sampler=sampler, shuffle=True),  # error: [TLN804]
            torch.utils.data.DataLoader(valid, batch_size=4),
        )

    loaders(range(8), range(4))


def spawned_without_workers():
    """Raises: multiprocessing_context can only be used with multi-process loading"""
    loader = DataLoader(range(8), multiprocessing_context="spawn")  # error: [TLN804]


def sampler_only_if_distributed():
    def make(data, distributed):
        sampler = RandomSampler(data) if distributed else None
        return DataLoader(data, sampler=sampler, shuffle=(sampler is None))

    make(range(8), True)
    make(range(8), False)


def workers_from_a_setting():
    def make(data, workers):
        return DataLoader(data, num_workers=workers, persistent_workers=True, prefetch_factor=2)

    make(range(8), 2)


def persistent_if_any():
    for workers in (0, 2):
        DataLoader(range(8), num_workers=workers, persistent_workers=workers > 0)


def options_in_a_dict():
    options = {"num_workers": 2, "pin_memory": False}
    loader = DataLoader(range(8), persistent_workers=True, **options)


def expected():
    try:
        DataLoader(range(8), prefetch_factor=2)
    except ValueError:
        print("as documented")


def none_is_no_sampler():
    loader = DataLoader(range(8), sampler=None, batch_sampler=None, shuffle=True, prefetch_factor=None, timeout=0)


def stream_told_not_to_shuffle():
    class Lines(IterableDataset):
        def __iter__(self):
            return iter(range(4))

    loader = DataLoader(Lines(), batch_size=2, shuffle=False)


def batch_sampler_alone():
    data = torch.arange(8)
    loader = DataLoader(data, batch_size=1, batch_sampler=BatchSampler(SequentialSampler(data), 4, False))
