# thread: https://github.com/pytorch/pytorch/issues/31771
# diagnosis: A DistributedSampler is gone through in several epochs without set_epoch.
# mistake: 27, 29
# expected: TLN803
# symptom: prints same order: True

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Numbers(Dataset):
    def __init__(self, size):
        self.data = torch.rand(size, 4)

    def __getitem__(self, idx):
        return idx, self.data[idx]

    def __len__(self):
        return len(self.data)


dataset = Numbers(20)
sampler = DistributedSampler(dataset, num_replicas=2, rank=0, shuffle=True)
dataloader = DataLoader(dataset, batch_size=5, drop_last=True, sampler=sampler)
orders = []
for epoch in range(2):
    order = []
    for names, values in dataloader:
        order += names.tolist()
    orders.append(order)
print("same order:", orders[0] == orders[1])
