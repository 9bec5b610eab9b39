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
        torch.manual_seed(0)  # strict: [TLN808]
        order = list(range(100))
        random.shuffle(order)
        orders.append(order)


def noise_of_a_function():
    """Holds: got[0] != got[1]"""

    def noisy(x):
        return x + np.random.normal(0, 0.1)

    got = []
    for _ in range(2):
        torch.random.manual_seed(1)  # strict: [TLN808]
        got.append(noisy(1.0))


def in_main():
    """Holds: got[0] != got[1]"""

    def split(n):
        return list(np.random.permutation(n))

    def main(seed):
        torch.manual_seed(seed)  # strict: [TLN808]
        return split(100)

    if __name__ == "__main__":
        got = [main(0), main(0)]


def in_a_self_test():
    """Holds: got[0] != got[1]"""

    def scaled(x):
        return x * random.random()

    def tried(seed):
        return scaled(seed + 1)

    if __name__ == "__main__":
        got = []
        for _ in range(2):
            torch.manual_seed(0)  # strict: [TLN808]
            got.append(tried(1))


def a_self_test_that_draws_nothing_else():
    def scaled(x):
        return x * random.random()

    class Net(torch.nn.Linear):
        def augmented(self, x):
            return scaled(x)

    def shape():
        return (2, 3)

    if __name__ == "__main__":
        torch.manual_seed(0)
        print(torch.nn.Linear(3, 1)(torch.rand(shape())))


def a_main_that_draws_nothing_else():
    def scaled(x):
        return x * random.random()

    def main():
        torch.manual_seed(0)
        print(torch.rand(3))

    if __name__ == "__main__":
        main()


def all_of_the_devices():
    """Holds: got[0] != got[1]"""
    got = []
    for _ in range(2):
        torch.cuda.manual_seed_all(3)
        torch.manual_seed(3)  # strict: [TLN808]
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

    if __name__ == "__main__":
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


def after_the_model():
    """Holds: not torch.equal(model.layer.weight, again.layer.weight)"""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 1)

    model = Net()
    torch.manual_seed(11)  # strict: [TLN808]
    again = Net()


def after_the_split():
    """Holds: list(train.indices) != list(again.indices)"""
    from torch.utils.data import random_split

    train, valid = random_split(range(1000), [900, 100])
    torch.manual_seed(11)  # strict: [TLN808]
    again, rest = random_split(range(1000), [900, 100])


def before_the_model():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)


def set_again_for_the_data():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    torch.manual_seed(1)
    noise = torch.rand(3)


def parameters_are_loaded():
    stored = torch.nn.Linear(3, 1).state_dict()
    model = torch.nn.Linear(3, 1)
    model.load_state_dict(stored)
    torch.manual_seed(0)
    noise = torch.rand(3)


def split_has_its_own_generator():
    from torch.utils.data import random_split

    train, valid = random_split(range(10), [9, 1], generator=torch.Generator().manual_seed(3))
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)


def layers_without_parameters():
    activation = torch.nn.ReLU()
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)


def in_a_loop_over_seeds():
    model = torch.nn.Linear(3, 1)
    for seed in range(3):
        torch.manual_seed(seed)
        print(model(torch.rand(3)))


def a_seed_that_is_drawn():
    import random

    chosen = None
    seed = random.randint(0, 9) if chosen is None else chosen
    torch.manual_seed(seed)
    print(torch.rand(2))
