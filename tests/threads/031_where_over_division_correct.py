# correct: 031_where_over_division.py
# cure: The divisor is made safe before the division.

import torch


def mean_of_groups(total, count):
    return total / count.clamp(min=1)


count = torch.tensor([0.0, 2.0, 4.0])
total = torch.tensor([0.0, 3.0, 1.0], requires_grad=True)
score = mean_of_groups(total, count).sum()
score.backward()
print("gradient is nan:", total.grad.isnan().any().item())
