# thread: https://github.com/naver-ai/StyleMapGAN/issues/16
# diagnosis: Two losses of one forward pass share the encoder, and each gets a backward of its own.
# mistake: 37
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

import argparse

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(dim, dim), nn.Tanh())
        self.decode = nn.Linear(dim, dim)
        self.judge = nn.Linear(dim, 1)

    def forward(self, real):
        code = self.encode(real)
        fake = self.decode(code)
        adversarial = nn.functional.softplus(-self.judge(fake))
        return adversarial.mean(), (self.encode(real.roll(1, 0)) - code).pow(2).mean()


parser = argparse.ArgumentParser()
parser.add_argument("--lambda_adv", type=float, default=1.0)
parser.add_argument("--lambda_code", type=float, default=0.5)
args = parser.parse_args([])

model = Model(10)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
adv_loss, code_loss = model(torch.randn(4, 10))
optimizer.zero_grad()
(adv_loss * args.lambda_adv).backward()
(code_loss * args.lambda_code).backward()
optimizer.step()
