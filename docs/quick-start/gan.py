import torch
from torch import nn

generator = nn.Linear(8, 4)
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
generator_optimizer = torch.optim.Adam(generator.parameters())
critic_optimizer = torch.optim.Adam(critic.parameters())

for real in torch.randn(10, 32, 4):
    fake = generator(torch.randn(32, 8))
    score = critic(fake)

    critic_loss = critic(fake.detach()).mean() - critic(real).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    generator_loss = -score.mean()
    generator_optimizer.zero_grad()
    generator_loss.backward()
    generator_optimizer.step()
