# expected: ok
# It says that it requires grad, and has no edge: nothing is saved for its gradient.
import torch

u = torch.eye(4, requires_grad=True)
w = torch.randn(16, 3, requires_grad=True)
with torch.no_grad():
    u = u.view(1, -1)
h = u @ w
with torch.no_grad():
    w.mul_(0.9)
h.sum().backward()
