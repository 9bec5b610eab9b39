# thread: https://github.com/igul222/improved_wgan_training/issues/18
# diagnosis: The gradient for the penalty is taken without create_graph, so the penalty is a constant for the critic.
# mistake: 15
# expected: TLN107
# symptom: prints penalty teaches: False

import torch
import torch.nn as nn


def gradient_penalty(critic, real, fake, weight):
    mix = torch.rand(real.size(0), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(between)
    gradient = torch.autograd.grad(score, between, grad_outputs=torch.ones_like(score))[0]
    return weight * ((gradient.norm(2, dim=1) - 1) ** 2).mean()


def critic_step(critic, optimizer, real, fake):
    optimizer.zero_grad()
    loss = critic(fake).mean() - critic(real).mean()
    penalty = gradient_penalty(critic, real, fake, weight=10)
    print("penalty teaches:", penalty.requires_grad)
    (loss + penalty).backward()
    optimizer.step()


critic = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
critic_step(critic, torch.optim.Adam(critic.parameters(), 1e-4), torch.randn(8, 3), torch.randn(8, 3))
