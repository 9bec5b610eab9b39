# thread: https://github.com/wolny/pytorch-3dunet/issues/32
# diagnosis: The transform draws from a RandomState with a fixed seed that every worker has a copy of.
# mistake: 17, 24
# expected: TLN801
# symptom: prints same angles in both workers: True

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class RandomTilt:
    def __init__(self, random_state, spectrum):
        self.random_state, self.spectrum = random_state, spectrum

    def __call__(self, volume):
        angle = self.random_state.randint(-self.spectrum, self.spectrum)
        return volume * np.cos(np.deg2rad(angle)), angle


class Volumes(Dataset):
    def __init__(self, raw, seed):
        self.raw = raw
        self.transform = RandomTilt(np.random.RandomState(seed), 90)

    def __len__(self):
        return len(self.raw)

    def __getitem__(self, index):
        _, angle = self.transform(self.raw[index])
        return angle


if __name__ == "__main__":
    loader = DataLoader(Volumes(np.random.rand(8, 4, 4), 47), batch_size=4, shuffle=True, num_workers=2)
    first, second = list(loader)
    print("same angles in both workers:", torch.equal(first, second))
