# expected: no-grad-view on line 8
import torch

x = torch.randn(4, requires_grad=True)
with torch.no_grad():
    view = x[:2]
    x.add_(1)
view.register_hook(lambda gradient: gradient)
