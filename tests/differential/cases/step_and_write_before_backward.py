# expected: saved on line 10, written on line 8
import torch

w = torch.nn.Parameter(torch.randn(1))
o = torch.optim.AdamW([w])
torch.autograd.backward(w, torch.ones_like(w))
a = w.sinh()
b, _ = torch.div(w, a), a.fill_(0.5)
o.step()
b.backward(torch.ones_like(b))
