import torch
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler


class Imbalanced(Dataset):
    def __init__(self, n=100):
        g = torch.Generator().manual_seed(0)
        self.x = torch.randn(n, 3, generator=g)
        self.y = (torch.rand(n, generator=g) < 0.1).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def balanced_loader(ds, batch_size):
    counts = torch.bincount(ds.y, minlength=2).clamp(min=1)
    weights = (1.0 / counts)[ds.y]
    sampler = WeightedRandomSampler(weights.tolist(), num_samples=len(ds))
    return DataLoader(ds, batch_size=batch_size, shuffle=True, sampler=sampler)


if __name__ == "__main__":
    torch.manual_seed(0)
    for xb, yb in balanced_loader(Imbalanced(), 20):
        print(xb.shape, yb.float().mean().item())
