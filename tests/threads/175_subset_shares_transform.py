# thread: https://github.com/growingnet/gromo/pull/58
# diagnosis: The two parts of a split share one dataset, and setting the transform of one sets that of the other.
# mistake: 30
# expected: TLN810
# symptom: prints training images are augmented: False

import torch
from torch.utils.data import Dataset, random_split


class Pictures(Dataset):
    def __init__(self, count, transform=None):
        self.images, self.transform = torch.ones(count, 2, 2), transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i] if self.transform is None else self.transform(self.images[i])


def augment(image):
    return image + torch.rand(())


def get_dataset(count, split, generator):
    full = Pictures(count)
    train, val = random_split(full, [1 - split, split], generator=generator)
    train.dataset.transform = augment
    val.dataset.transform = None
    return train, val


train, val = get_dataset(10, 0.2, torch.Generator().manual_seed(0))
print("training images are augmented:", bool((train[0] != 1).any()))
