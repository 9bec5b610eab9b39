import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.latent = latent


class VAE(Base):
    def __init__(self, n_in=10, latent=2):
        self.enc = nn.Linear(n_in, 2 * latent)
        self.dec = nn.Linear(latent, n_in)
        super().__init__(latent)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        kl = 0.5 * (mu.pow(2) + logvar.exp() - 1 - logvar).sum(dim=1)
        return self.dec(z), kl.mean()


def main():
    torch.manual_seed(0)
    vae = VAE()
    opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
    x = torch.randn(32, 10)
    for _ in range(10):
        opt.zero_grad()
        recon, kl = vae(x)
        loss = nn.functional.mse_loss(recon, x) + 0.1 * kl
        loss.backward()
        opt.step()
    print(loss.item())


main()
