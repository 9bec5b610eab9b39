# expected: multi-view on line 7
import torch

x = torch.randn(4, requires_grad=True)
part = x.unbind()[0]
torch.nn.init.normal_(x)
part.retain_grad()
