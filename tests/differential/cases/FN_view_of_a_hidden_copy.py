# expected: detach-view on line 6
# said: ok: it is a view of a copy that nobody sees, and the table knows only of views of arguments
import torch

x = torch.tensor(1.0)
x.repeat_interleave(2).detach_()
