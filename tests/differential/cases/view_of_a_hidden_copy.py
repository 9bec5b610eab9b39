# expected: detach-view on line 5
import torch

x = torch.tensor(1.0)
x.repeat_interleave(2).detach_()
