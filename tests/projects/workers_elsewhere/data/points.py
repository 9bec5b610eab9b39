import numpy as np
from torch.utils.data import Dataset


class Points(Dataset):
    def __init__(self, n):
        self.n = n
        self.rng = np.random.default_rng()
        self.scale = lambda x: 2 * x

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.scale(self.rng.random())
