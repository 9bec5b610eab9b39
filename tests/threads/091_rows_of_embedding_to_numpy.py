# thread: https://github.com/tkalayci71/embedding-inspector/issues/22
# diagnosis: Rows of an embedding's weight, a Parameter, are converted with numpy().
# mistake: 20
# expected: TLN111
# symptom: raises RuntimeError: Can't call numpy() on Tensor that requires grad

import torch


class Inspector:
    def __init__(self, embedding):
        self.table = embedding.weight

    def distances(self, row):
        return (self.table - self.table[row]).pow(2).sum(1).sqrt()

    def describe(self, ids):
        for i in ids:
            vector = self.table[i]
            print(i, vector.numpy().round(2), float(vector.abs().max()))


inspector = Inspector(torch.nn.Embedding(12, 4))
inspector.describe([0, 3])
