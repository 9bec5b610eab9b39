import torch
from torch import nn
import torch.nn.functional as F


class NormedLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_in))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.kaiming_uniform_(self.weight)

    def renorm(self):
        self.weight = self.weight / torch.linalg.matrix_norm(self.weight, 2)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


torch.manual_seed(0)
layer = NormedLinear(6, 4)
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
for i in range(5):
    opt.zero_grad()
    loss = layer(torch.randn(8, 6)).pow(2).mean()
    loss.backward()
    opt.step()
    layer.renorm()
    print(i, loss.item())
