# expected: no-grad-root on line 8
# said: non-scalar on line 8: of the roots of one statement the sizes are taken to be asked first, round for round
import torch

x = torch.ones(3, requires_grad=True)
root, other = x.data, x
for _ in range(2):
    torch.autograd.backward(root)
    root = other
