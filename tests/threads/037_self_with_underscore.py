# thread: https://github.com/Lightning-AI/pytorch-lightning/issues/2282
# diagnosis: The layers are bound to local names that look like attributes, and none is registered.
# mistake: 22, 26
# expected: TLN305
# symptom: raises ValueError: optimizer got an empty parameter list

import torch
import torch.nn as nn


class Squeeze(nn.Module):
    def __init__(self, hparams):
        super(Squeeze, self).__init__()
        self.hparams = hparams
        self_encoder = nn.Conv1d(hparams["in"], hparams["mid"], hparams["kernel"])
        self_decoder = nn.ConvTranspose1d(hparams["mid"], hparams["in"], hparams["kernel"])

    def forward(self, x):
        return self_decoder(torch.relu(self_encoder(x)))

    def configure_optimizers(self):
        return torch.optim.Adam(params=list(self.parameters()), lr=self.hparams["lr"])


model = Squeeze({"in": 4, "mid": 2, "kernel": 3, "lr": 1e-3})
optimizer = model.configure_optimizers()
