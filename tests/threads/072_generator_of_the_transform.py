# thread: https://github.com/Project-MONAI/MONAI/issues/1068
# diagnosis: A transform keeps a generator of its own from its constructor, copied into all workers and again in each epoch.
# mistake: 13, 16
# expected: TLN801
# symptom: prints epochs are alike: True

import numpy as np
from torch.utils.data import DataLoader, Dataset


class RandomShift:
    def __init__(self):
        self.R = np.random.default_rng()

    def randomize(self):
        self.amount = self.R.random()

    def __call__(self, x):
        self.randomize()
        return x + self.amount


class Items(Dataset):
    def __init__(self, data, transform):
        self.data, self.transform = data, transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.transform(self.data[i])


if __name__ == "__main__":
    loader = DataLoader(Items(np.arange(6.0), RandomShift()), batch_size=3, shuffle=False, num_workers=2)
    epochs = [[batch.tolist() for batch in loader] for e in range(2)]
    print("epochs are alike:", epochs[0] == epochs[1])
