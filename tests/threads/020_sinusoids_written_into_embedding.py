# thread: https://github.com/Atcold/NYU-DLSP20/issues/765
# diagnosis: The sinusoids are written through slices into the weight of an embedding that requires grad.
# mistake: 14
# expected: TLN203
# symptom: raises RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation

import numpy as np
import torch
import torch.nn as nn


def sinusoids(count, width, table):
    theta = np.array([[p / np.power(10000, 2 * (j // 2) / width) for j in range(width)] for p in range(count)])
    table[:, 0::2] = torch.FloatTensor(np.sin(theta[:, 0::2]))
    table[:, 1::2] = torch.FloatTensor(np.cos(theta[:, 1::2]))
    table.requires_grad = False


class Positions(nn.Module):
    def __init__(self, width, vocabulary, longest):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width, padding_idx=1)
        self.places = nn.Embedding(longest, width)
        sinusoids(longest, width, table=self.places.weight)

    def forward(self, ids):
        return self.words(ids) + self.places(torch.arange(ids.size(1)))


print(Positions(8, 100, 20)(torch.randint(0, 100, (2, 5))).shape)
