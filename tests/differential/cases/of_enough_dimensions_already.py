# expected: ok
import torch

a = torch.arange(4.0, requires_grad=True)
with torch.no_grad():
    b = torch.atleast_1d(a)
    c = torch.conj(a)
b.sum().backward()
c.sum().backward()
torch.optim.SGD([b], lr=0.1)
