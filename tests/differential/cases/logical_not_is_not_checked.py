# An operation without derivative is neither recorded nor checked.
# expected: ok

import torch

w = torch.eye(4, requires_grad=True)
w.logical_not_()
w.sum().backward()
