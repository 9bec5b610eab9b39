# expected: detach-view on line 6
# said: ok: of more than two dimensions and with a bias it is a view of a result that nobody sees
import torch

y = torch.nn.Linear(3, 2)(torch.ones(4, 5, 3))
y.detach_()
