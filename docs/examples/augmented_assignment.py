"""
T13: `c *= 1.0` is in place, too.
"""

import torch

p = torch.tensor(2.0, requires_grad=True)
q = torch.tensor(3.0, requires_grad=True)

c = 2 * p
b = c * q
c *= 1.0  # error: [TLN201]

b.backward()
