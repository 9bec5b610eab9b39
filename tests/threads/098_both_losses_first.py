# thread: https://whosebug.com/question/5232549/How-does-PyTorch-s-loss-backward-work-when-retain-graph-True-is-specified
# diagnosis: Both losses are computed from one forward pass, and the second backward needs the graph that the first has freed.
# mistake: 29
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

import torch
from torch import nn, optim


class Trainer:
    def __init__(self, generator, discriminator, lr):
        self.generator, self.discriminator = generator, discriminator
        self.optim_g = optim.RMSprop(generator.parameters(), lr=lr)
        self.optim_d = optim.RMSprop(discriminator.parameters(), lr=lr)

    def losses(self, sentences):
        made = self.generator(torch.randn_like(sentences))
        score_made, score_true = self.discriminator(made), self.discriminator(sentences)
        return -score_made.tanh().mean(), score_made.tanh().mean() - score_true.tanh().mean()

    def step(self, sentences):
        loss_g, loss_d = self.losses(sentences)
        self.optim_g.zero_grad()
        loss_g.backward()
        self.optim_g.step()

        self.optim_d.zero_grad()
        loss_d.backward()
        self.optim_d.step()


Trainer(nn.Linear(6, 6), nn.Linear(6, 1), lr=1e-3).step(torch.randn(4, 6))
