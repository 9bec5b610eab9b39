# ruff: noqa
"""Programs for TLN806."""

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset


def by_a_loop():
    """Holds: len(seen) == 8"""
    seen = []
    loader = DataLoader(range(8), batch_size=None, num_workers=2)
    for x in loader:  # warning: [TLN806]
        seen.append(x)
    for x in loader:
        print(x)


def by_next():
    """Holds: len(batch) == 4"""
    WORKERS = 2
    loader = DataLoader(TensorDataset(torch.rand(8, 2)), 4, True, num_workers=WORKERS)
    batch = next(iter(loader))[0]  # warning: [TLN806]


def in_a_function_of_the_file():
    """Holds: count == 8"""

    def count_all(loader):
        count = 0
        for i, x in enumerate(loader):  # warning: [TLN806]
            count += 1
        return count

    batches = DataLoader(range(8), num_workers=1)
    count = count_all(batches)


def in_main():
    """Holds: done == [4]"""
    done = []

    def main():
        loader = DataLoader(range(8), batch_size=2, num_workers=2)
        done.append(len([batch for batch in loader]))  # warning: [TLN806]

    main()


def guarded():
    def main():
        for x in DataLoader(range(8), num_workers=2):
            print(x)

    if __name__ == "__main__":
        main()


def guarded_in_place():
    loader = DataLoader(range(8), num_workers=2)
    if __name__ == "__main__":
        for x in loader:
            print(x)


def no_workers():
    loader = DataLoader(range(8), num_workers=0)
    for x in loader:
        print(x)


def not_gone_through():
    loader = DataLoader(range(8), num_workers=2)
    print(len(loader), loader.dataset)


def in_a_function_that_nobody_calls():
    def batches():
        for x in DataLoader(range(8), num_workers=2):
            print(x)


def in_a_method():
    class Trainer:
        def __init__(self):
            self.loader = DataLoader(range(8), num_workers=2)

        def fit(self):
            for x in self.loader:
                print(x)


def number_of_workers_unknown():
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args([])
    for x in DataLoader(range(8), num_workers=args.workers):
        print(x)


def start_method_chosen():
    import torch.multiprocessing as mp

    mp.set_start_method("fork", force=True)
    for x in DataLoader(range(8), num_workers=2):
        print(x)


def forked():
    for x in DataLoader(range(8), num_workers=2, multiprocessing_context="fork"):
        print(x)


def loader_made_anew():
    loader = DataLoader(range(8), num_workers=2)
    loader = DataLoader(range(8))
    for x in loader:
        print(x)


def generator_that_nobody_runs():
    def batches(loader):
        for x in loader:
            yield x

    stream = batches(DataLoader(range(8), num_workers=2))
