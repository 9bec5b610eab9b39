# expected: ok
import torch


@torch.no_grad()
def step(p):
    torch.autograd.backward((p,), retain_graph=True)
    v = p.ravel()
    p.mul_(2)
    return v


a = torch.tensor(2.0, requires_grad=True)
step(a * 2)
