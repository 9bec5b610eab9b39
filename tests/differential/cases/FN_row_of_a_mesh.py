# expected: multi-view on line 7
# said: ok: a part of a part of a mesh, flattened
import torch

h = torch.full((4,), 0.5, requires_grad=True)
_, _, _, b = torch.meshgrid(h, h)[0]
b.flatten()[0] = 3.0
