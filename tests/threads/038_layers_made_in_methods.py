# thread: https://github.com/Lightning-AI/pytorch-lightning/issues/6554
# diagnosis: The layers are constructed where they are used, anew in every call, and the model has no parameters.
# mistake: 19, 20, 23, 30, 35
# expected: TLN303, TLN305
# symptom: raises ValueError: optimizer got an empty parameter list

import torch
from torch import nn, optim

wide, latent = 32, 2


class VAE(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.features = features

    def encoder(self, inp):
        h = torch.relu(nn.Linear(self.features, wide)(inp))
        return nn.Linear(wide, latent)(h), nn.Linear(wide, latent)(h)

    def decoder(self, z):
        return nn.Linear(latent, self.features)(z)

    def forward(self, x):
        mean, log_sigma = self.encoder(x)
        return self.decoder(mean + torch.randn_like(mean) * log_sigma.mul(0.5).exp())

    def configure_optimizers(self):
        return optim.Adam(self.parameters(), lr=1e-3)


vae = VAE(8)
print(vae(torch.rand(20, 8)).shape)
optimizer = vae.configure_optimizers()
