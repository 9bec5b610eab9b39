# thread: https://github.com/udacity/deep-learning-v2-pytorch/issues/132
# diagnosis: The training set is split after its augmentation is set, so the validation part is augmented as well.
# mistake: 30
# expected: none
# symptom: prints validation is augmented: True

import torch
from torch.utils.data import DataLoader, Dataset, SubsetRandomSampler


class Digits(Dataset):
    def __init__(self, count, transform):
        self.data, self.transform = torch.zeros(count, 4), transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.transform(self.data[index])


def train_transform(x):
    return x + 0.1 * torch.randn_like(x)


train_data = Digits(20, train_transform)
indices = torch.randperm(len(train_data)).tolist()
split = int(0.2 * len(train_data))
train_loader = DataLoader(train_data, batch_size=4, sampler=SubsetRandomSampler(indices[split:]))
valid_loader = DataLoader(train_data, batch_size=4, sampler=SubsetRandomSampler(indices[:split]))
print("validation is augmented:", bool(next(iter(valid_loader)).any()))
