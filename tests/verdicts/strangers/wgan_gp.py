import torch
from torch import nn, autograd


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    scores = critic(mixed)
    grads, = autograd.grad(scores.sum(), mixed)
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


def main():
    torch.manual_seed(0)
    critic = nn.Sequential(nn.Linear(2, 32), nn.Softplus(), nn.Linear(32, 1))
    gen = nn.Linear(4, 2)
    c_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
    for step in range(30):
        real = torch.randn(32, 2) + 2
        with torch.no_grad():
            fake = gen(torch.randn(32, 4))
        c_opt.zero_grad()
        wloss = critic(fake).mean() - critic(real).mean()
        gp = gradient_penalty(critic, real, fake)
        (wloss + 10.0 * gp).backward()
        c_opt.step()
    print(f"wasserstein {wloss.item():.3f}  gp {gp.item():.3f}")


if __name__ == "__main__":
    main()
