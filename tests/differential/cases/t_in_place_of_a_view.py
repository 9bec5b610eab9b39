# expected: ok
# An in-place view of a view leaves its base and the other views' graph alone.
import torch

b = torch.tensor(2.0, requires_grad=True)
x = b.mean()
v = torch.unsqueeze(x, 0)
c = v.t()
c.t_()
c.sqrt().backward()
v.backward()
