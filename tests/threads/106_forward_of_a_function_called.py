# thread: https://github.com/josipd/torch-two-sample/pull/6
# diagnosis: A statistic calls an instance of a Function whose forward takes self.
# mistake: 12, 16, 28
# expected: TLN502
# symptom: raises RuntimeError: Legacy autograd function with non-static forward method is deprecated

import torch
from torch.autograd import Function


class PermutedMatrix(Function):
    def forward(self, matrix, order):
        self.order = order
        return matrix[order][:, order]

    def backward(self, grad):
        back = torch.argsort(self.order)
        return grad[back][:, back], None


class NearestNeighbourStatistic:
    def __init__(self, n_1, n_2, k):
        self.n_1, self.n_2, self.k = n_1, n_2, k

    def __call__(self, sample_1, sample_2):
        joined = torch.cat((sample_1, sample_2))
        distances = torch.cdist(joined, joined)
        permuted = PermutedMatrix()(distances, torch.randperm(self.n_1 + self.n_2))
        return permuted[: self.n_1, : self.n_1].topk(self.k, largest=False).values.sum()


a = torch.randn(5, 2, requires_grad=True)
NearestNeighbourStatistic(5, 4, k=2)(a, torch.randn(4, 2)).backward()
