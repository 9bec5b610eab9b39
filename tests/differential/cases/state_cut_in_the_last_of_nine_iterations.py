# expected: optimizer on line 13
# A short loop of nine iterations is followed to its end: `h` is computed by then.
import torch

w = torch.ones(3, requires_grad=True)
h = torch.zeros(3)
i = 0
while i < 9:
    h = h * w if i == 8 else torch.zeros(3)
    i += 1
total = h.sum()
parameters = [h]
torch.optim.SGD(parameters, lr=0.1)
