import torch
import torch.nn as nn

torch.manual_seed(0)
N_SAMPLES = 4

net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(64, 8)
y = x[:, :1] * 2
gain = nn.Parameter(torch.ones(8))
opt.add_param_group({"params": [gain]})
noise = torch.empty_like(x)

for step in range(10):
    opt.zero_grad()
    losses = []
    for _ in range(N_SAMPLES):
        noise.normal_(1.0, 0.1)
        out = net(x * gain * noise)
        losses.append((out - y).pow(2).mean())
    loss = torch.stack(losses).mean()
    loss.backward()
    opt.step()
    print(step, round(loss.item(), 4))
