# correct: 139_discriminator_assigned_first.py
# cure: The base's constructor comes first.

import torch
import torch.nn as nn


class Autoencoder(nn.Module):
    def __init__(self, encoder, decoder=None):
        super(Autoencoder, self).__init__()
        self.encoder = encoder
        self.decoder = nn.Sigmoid() if decoder is None else decoder

    def forward(self, x):
        z = self.encoder(x)
        return self.decoder(z @ z.t())


class AdversarialAutoencoder(Autoencoder):
    def __init__(self, encoder, discriminator, decoder=None):
        super(AdversarialAutoencoder, self).__init__(encoder, decoder)
        self.discriminator = discriminator

    def reg_loss(self, z):
        return -torch.log(torch.sigmoid(self.discriminator(z)) + 1e-15).mean()


model = AdversarialAutoencoder(nn.Linear(4, 3), nn.Linear(3, 1))
print(model(torch.randn(5, 4)).shape, model.reg_loss(torch.randn(5, 3)))
