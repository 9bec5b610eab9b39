import torch
from torch import nn
import torch.nn.functional as F


def flat_grad(module):
    return torch.cat([p.grad.flatten().clone() for p in module.parameters()])


def main():
    torch.manual_seed(0)
    trunk = nn.Linear(6, 12)
    head_a, head_b = nn.Linear(12, 1), nn.Linear(12, 1)
    x = torch.randn(32, 6)
    ya, yb = torch.randn(32, 1), torch.randn(32, 1)

    loss_a = F.mse_loss(head_a(torch.tanh(trunk(x))), ya)
    loss_a.backward()
    g_a = flat_grad(trunk)

    loss_b = F.mse_loss(head_b(torch.tanh(trunk(x))), yb)
    loss_b.backward()
    g_b = flat_grad(trunk)

    cos = F.cosine_similarity(g_a, g_b, dim=0)
    print(f"task similarity: {cos.item():.3f}")
    return g_a, g_b, trunk, loss_a, loss_b


if __name__ == "__main__":
    main()
