import torch
from torch import nn


def fit(x, y, epochs=50):
    net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    opt = torch.optim.LBFGS(net.parameters(), max_iter=epochs)

    def closure():
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        return loss

    opt.step(closure)
    return net


def export_csv(net, x):
    pred = net(x).squeeze(1).numpy()
    return "\n".join(f"{a:.3f},{b:.3f}" for a, b in zip(x.squeeze(1).tolist(), pred))


torch.manual_seed(0)
grid = torch.linspace(0, 1, 30).unsqueeze(1)
net = fit(grid, torch.cos(4 * grid))
print(export_csv(net, grid))
