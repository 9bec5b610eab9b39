# expected: leaf-view on line 7
# said: ok: `einsum` is not followed where a dimension is of size 0
import torch

w = torch.rand(3, 0, requires_grad=True)
a = torch.einsum("ij->ji", w)
a.zero_()
