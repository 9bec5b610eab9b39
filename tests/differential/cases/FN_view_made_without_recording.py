# expected: no-grad-view on line 12
# said: leaf-view on line 12: which of two refusals torch comes to first
import torch

h = torch.randn(2, 3, requires_grad=True)


with torch.no_grad():
    b = h.ravel()
    b.round_()

h[0] = b
