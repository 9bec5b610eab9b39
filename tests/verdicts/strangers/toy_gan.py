import torch
import torch.nn as nn


def make_mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.LeakyReLU(0.2), nn.Linear(32, n_out))


def real_batch(n):
    angle = torch.rand(n) * 6.2832
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def main():
    torch.manual_seed(1)
    gen, disc = make_mlp(8, 2), make_mlp(2, 1)
    g_opt = torch.optim.Adam(gen.parameters(), lr=1e-3)
    d_opt = torch.optim.Adam(disc.parameters(), lr=1e-3)
    bce = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

    for step in range(50):
        fake = gen(torch.randn(64, 8))

        d_loss = bce(disc(real_batch(64)), ones) + bce(disc(fake), zeros)
        d_opt.zero_grad()
        d_loss.backward()
        d_opt.step()

        g_loss = bce(disc(fake), ones)
        g_opt.zero_grad()
        g_loss.backward()
        g_opt.step()
        if step % 10 == 0:
            print(step, d_loss.item(), g_loss.item())


if __name__ == "__main__":
    main()
