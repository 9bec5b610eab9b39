# expected: ok
import torch

x = torch.randn(4, requires_grad=True)
part = x.unbind()[0]
part.retain_grad()
with torch.no_grad():
    x.add_(1)
part.retain_grad()
