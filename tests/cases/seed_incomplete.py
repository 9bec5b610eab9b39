# ruff: noqa
"""Programs for TLN808."""

import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def order_of_a_script():
    """Holds: orders[0] != orders[1]"""
    orders = []
    for run in range(2):
        torch.manual_seed(0)  # smell: [TLN808]
        order = list(range(100))
        random.shuffle(order)
        orders.append(order)


def noise_of_a_function():
    """Holds: got[0] != got[1]"""

    def noisy(x):
        return x + np.random.normal(0, 0.1)

    got = []
    for _ in range(2):
        torch.random.manual_seed(1)  # smell: [TLN808]
        got.append(noisy(1.0))


def in_main():
    """Holds: got[0] != got[1]"""

    def split(n):
        return list(np.random.permutation(n))

    def main(seed):
        torch.manual_seed(seed)  # smell: [TLN808]
        return split(100)

    if __name__ == "__main__":
        got = [main(0), main(0)]


def all_of_the_devices():
    """Holds: got[0] != got[1]"""
    got = []
    for _ in range(2):
        torch.cuda.manual_seed_all(3)
        torch.manual_seed(3)  # smell: [TLN808]
        got.append(random.random())


def all_three():
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    x = random.random() + np.random.rand() + torch.rand(())


def by_a_helper():
    def set_seed(seed):
        torch.manual_seed(seed)
        for module in (random, np.random):
            module.seed(seed)

    set_seed(0)
    x = random.random() + np.random.rand()


def generator_of_its_own():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal() + random.Random(0).random()


def drawn_by_the_workers():
    class Noise(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return np.random.normal()

    def run():
        return [float(x) for x in DataLoader(Noise(), num_workers=2)]

    torch.manual_seed(0)
    first = run()
    torch.manual_seed(0)
    assert run() == first


def nothing_else_is_drawn():
    torch.manual_seed(0)
    x = torch.rand(3)
    print(random.__name__, np.random.__name__)


def a_test_of_a_library():
    def reference(n):
        torch.manual_seed(0)
        return torch.rand(n)

    def jitter(n):
        return n + random.randint(0, 3)

    print(reference(3), jitter(3))
