# `type_as` itself is itself.
# expected: flag-on-non-leaf on line 9

import torch

a = torch.arange(4.0, requires_grad=True)
b = a.index_select(0, torch.tensor([0]))
c = b.type_as(b)
c.requires_grad_(False)
