# thread: https://github.com/pytorch/pytorch/issues/16317
# diagnosis: Empty groups are divided by zero and replaced by where, too late for the gradient.
# mistake: 12
# expected: TLN604
# symptom: prints gradient is nan: True

import torch


def mean_of_groups(total, count):
    mean = total / count
    return torch.where(count == 0, torch.zeros_like(mean), mean)


count = torch.tensor([0.0, 2.0, 4.0])
total = torch.tensor([0.0, 3.0, 1.0], requires_grad=True)
score = mean_of_groups(total, count).sum()
score.backward()
print("gradient is nan:", total.grad.isnan().any().item())
