import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Signals(Dataset):
    def __init__(self, n=80, transform=None):
        self.data = torch.ones(n, 5)
        self.transform = transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        item = self.data[i]
        return self.transform(item) if self.transform is not None else item


def jitter(item):
    return item + 0.3 * torch.randn_like(item)


def main():
    torch.manual_seed(0)
    train_set, val_set = random_split(Signals(), [60, 20])
    train_set.dataset.transform = jitter
    val = torch.cat(list(DataLoader(val_set, batch_size=10)))
    train = torch.cat(list(DataLoader(train_set, batch_size=10, shuffle=True)))
    print("train std", train.std().item(), "validation std", val.std().item())
    return val


if __name__ == "__main__":
    main()
