import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
X = torch.randn(128, 10)
true_w = torch.randn(10, 1)
Y = X @ true_w + 0.1 * torch.randn(128, 1)

net = nn.Linear(10, 1)
optim = torch.optim.SGD(net.parameters(), lr=0.05)

weight_decay = 1e-2
penalty = weight_decay * net.weight.pow(2).sum()

for it in range(20):
    optim.zero_grad()
    loss = F.mse_loss(net(X), Y) + penalty
    loss.backward()
    optim.step()
    if it % 5 == 0:
        print("iter", it, "loss", loss.item())
