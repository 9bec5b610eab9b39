# ruff: noqa
"""Programs for TLN807."""

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset


def moved_by_to():
    """Raises: CUDA"""

    class Images(Dataset):
        def __init__(self, n):
            self.n = n

        def __len__(self):
            return self.n

        def __getitem__(self, i):
            return torch.rand(3).to("cuda:0", non_blocking=True)  # warning: [TLN807]

    if __name__ == "__main__":
        for x in DataLoader(Images(4), num_workers=2):
            print(x)


def device_of_the_dataset():
    """Raises: CUDA"""

    class Images(Dataset):
        def __init__(self, n, device):
            self.n, self.device = n, device

        def __len__(self):
            return self.n

        def __getitem__(self, i):
            return self._load(i)

        def _load(self, i):
            return torch.full((3,), float(i), device=self.device)  # warning: [TLN807]

    def loader(workers):
        return DataLoader(Images(4, "cuda"), num_workers=workers)

    if __name__ == "__main__":
        for x in loader(1):
            print(x)


def device_of_the_file():
    """Holds: type(device) is torch.device"""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    class Images(IterableDataset):
        def __iter__(self):
            for i in torch.randperm(4):
                yield torch.rand(3).to(device)  # warning: [TLN807]

    if __name__ == "__main__":
        for x in DataLoader(Images(), num_workers=2):
            print(x)


def held_on_the_device():
    """Raises: CUDA"""

    class Images(Dataset):
        def __init__(self, images):
            self.images = images.cuda()  # warning: [TLN807]

        def __len__(self):
            return len(self.images)

        def __getitem__(self, i):
            return self.images[i]

    if __name__ == "__main__":
        for x in DataLoader(Subset(Images(torch.rand(4, 3)), [0, 1]), num_workers=2):
            print(x)


def no_workers():
    class Images(Dataset):
        def __len__(self):
            return 0

        def __getitem__(self, i):
            return torch.rand(3).cuda()

    for x in DataLoader(Images()):
        print(x)


def moved_in_the_loop():
    device = "cuda" if torch.cuda.is_available() else "cpu"

    class Images(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.rand(3).to(torch.float64)

    if __name__ == "__main__":
        for x in DataLoader(Images(), num_workers=2, pin_memory=torch.cuda.is_available()):
            x = x.to(device)


def device_is_given():
    class Images(Dataset):
        def __init__(self, device="cpu"):
            self.device = device

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.rand(3).to(self.device)

    if __name__ == "__main__":
        for x in DataLoader(Images(), num_workers=2):
            print(x)


def parameter_of_the_same_name():
    device = "cuda"

    class Images(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i, device="cpu"):
            return torch.rand(3, device=device)

    if __name__ == "__main__":
        for x in DataLoader(Images(), num_workers=2):
            print(x)


def not_for_a_sample():
    class Images(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.rand(3)

        def to_device(self):
            return torch.rand(4, 3).cuda()

    if __name__ == "__main__":
        for x in DataLoader(Images(), num_workers=2):
            print(x)


def on_the_device_where_the_caller_says_so():
    class Images(Dataset):
        def __init__(self, count, train=True, cuda=False):
            self.images = torch.rand(count, 3)
            self.cuda = cuda
            if cuda:
                self.images = self.images.cuda()

        def __len__(self):
            return len(self.images)

        def __getitem__(self, index):
            image = self.images[index]
            return image.cuda() if self.cuda else image

    if __name__ == "__main__":
        for x in DataLoader(Images(4, train=True), num_workers=2):
            assert x.shape == (1, 3)


def moved_where_an_option_says_so_and_set_by_a_name_that_is_computed():
    """What the option leads to is not come to, and nobody knows under which name the object holds what it reads."""

    class Images(Dataset):
        def __init__(self, count, cuda=False):
            setattr(self, "".join(["im", "ages"]), torch.rand(count, 3))
            if cuda:
                self.images = self.images.cuda()

        def __len__(self):
            return len(self.images)

        def __getitem__(self, index):
            return self.images[index]

    if __name__ == "__main__":
        for x in DataLoader(Images(4), num_workers=2):
            assert x.shape == (1, 3)
