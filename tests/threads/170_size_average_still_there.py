# thread: https://github.com/facebookresearch/UnsupervisedMT/issues/21
# diagnosis: A loss is built with size_average, which is deprecated.
# mistake: 18
# expected: TLN903
# symptom: warns size_average and reduce args will be deprecated

import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, n_words, dim, pad_index, label_smoothing):
        super().__init__()
        self.proj = nn.Linear(dim, n_words)
        weight = torch.ones(n_words)
        weight[pad_index] = 0
        if label_smoothing <= 0:
            self.loss_fn = nn.CrossEntropyLoss(weight, size_average=True)
        else:
            self.loss_fn = nn.CrossEntropyLoss(weight, label_smoothing=label_smoothing)

    def forward(self, hidden, words):
        return self.loss_fn(self.proj(hidden).flatten(0, 1), words.flatten())


decoder = Decoder(20, 6, pad_index=2, label_smoothing=0)
print(decoder(torch.randn(3, 4, 6), torch.randint(3, 20, (3, 4))))
