# thread: https://github.com/Maghoumi/pytorch-softdtw-cuda/issues/25
# diagnosis: The name of the leaf is rebound to its converted copy, whose grad is never filled.
# mistake: 24, 29
# expected: TLN306, TLN109
# symptom: prints gradient: None

import torch


class SoftAlign(torch.nn.Module):
    def __init__(self, gamma):
        super().__init__()
        self.gamma = gamma

    def forward(self, x, y):
        cost = torch.cdist(x, y).pow(2)
        return -self.gamma * torch.logsumexp(-cost / self.gamma, dim=(1, 2))


precision = torch.float64
batch_size, len_x, len_y, dims = 3, 6, 5, 2
x = torch.rand((batch_size, len_x, dims), requires_grad=True)
y = torch.rand((batch_size, len_y, dims))
x = x.to(precision)
y = y.to(precision)

loss = SoftAlign(gamma=0.1)(x, y)
loss.mean().backward()
print("gradient:", x.grad)
