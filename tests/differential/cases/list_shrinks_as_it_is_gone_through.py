# expected: ok
import torch

x = torch.tensor(2.0, requires_grad=True)
loss = x.exp()
rest = [x, x]
for _ in rest:
    loss.backward()
    rest.pop()
