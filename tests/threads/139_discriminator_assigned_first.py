# thread: https://github.com/pyg-team/pytorch_geometric/issues/681
# diagnosis: A module is assigned to self in the line before the base's constructor is called.
# mistake: 24
# expected: TLN308
# symptom: raises AttributeError: cannot assign module before Module.__init__() call

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
        self.discriminator = discriminator
        super(AdversarialAutoencoder, self).__init__(encoder, decoder)

    def reg_loss(self, z):
        return -torch.log(torch.sigmoid(self.discriminator(z)) + 1e-15).mean()


model = AdversarialAutoencoder(nn.Linear(4, 3), nn.Linear(3, 1))
print(model(torch.randn(5, 4)).shape, model.reg_loss(torch.randn(5, 3)))
