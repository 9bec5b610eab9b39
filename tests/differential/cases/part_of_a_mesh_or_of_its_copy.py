# expected: multi-view on line 6
import torch

x = torch.randn(3, requires_grad=True)
_, mesh = torch.meshgrid(x, x)
mesh.contiguous().unfold(0, 1, 1).split(1)[0].add_(1)
