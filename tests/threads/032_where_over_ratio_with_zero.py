# thread: https://github.com/pytorch/pytorch/issues/36923
# diagnosis: The path that where never takes divides by a zero, and its nan enters the gradient.
# mistake: 18
# expected: TLN604
# symptom: prints gradient is nan: True

import torch


class Shrink(torch.nn.Module):
    def __init__(self, threshold):
        super().__init__()
        self.register_buffer("threshold", torch.tensor(float(threshold)))

    def forward(self, x):
        t = self.threshold
        inside = t * (x / t)
        return torch.where(x >= t, x, inside)


for threshold in (0.5, 0.0):
    x = torch.ones((), requires_grad=True)
    Shrink(threshold)(x).backward()
print("gradient is nan:", x.grad.isnan().item())
