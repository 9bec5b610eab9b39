"""A critic with a gradient penalty, several critic steps for one of the generator."""

import torch
from torch import autograd, nn, optim

torch.manual_seed(1)
DIM, LAMBDA, CRITIC_ITERS, BATCH_SIZE = 8, 0.1, 2, 4


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(2, DIM), nn.ReLU(True), nn.Linear(DIM, DIM), nn.ReLU(True), nn.Linear(DIM, 2)
        )

    def forward(self, noise):
        return self.main(noise)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, DIM), nn.LeakyReLU(0.2), nn.Linear(DIM, 1))

    def forward(self, inputs):
        return self.main(inputs).view(-1)


def calc_gradient_penalty(netD, real_data, fake_data):
    alpha = torch.rand(BATCH_SIZE, 1).expand(real_data.size())
    interpolates = (alpha * real_data + (1 - alpha) * fake_data).requires_grad_(True)
    disc_interpolates = netD(interpolates)
    gradients = autograd.grad(
        outputs=disc_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones(disc_interpolates.size()),
        create_graph=True,
        only_inputs=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


def inf_train_gen():
    while True:
        yield torch.rand(BATCH_SIZE, 2)


netG, netD = Generator(), Critic()
optimizerD = optim.Adam(netD.parameters(), lr=1e-4, betas=(0.5, 0.9))
optimizerG = optim.Adam(netG.parameters(), lr=1e-4, betas=(0.5, 0.9))
one = torch.tensor(1.0)
mone = one * -1
data = inf_train_gen()

for iteration in range(3):
    for p in netD.parameters():
        p.requires_grad = True
    for _ in range(CRITIC_ITERS):
        real_data = next(data)
        netD.zero_grad()
        D_real = netD(real_data).mean()
        D_real.backward(mone)
        noise = torch.randn(BATCH_SIZE, 2)
        with torch.no_grad():
            fake = netG(noise)
        D_fake = netD(fake).mean()
        D_fake.backward(one)
        gradient_penalty = calc_gradient_penalty(netD, real_data, fake)
        gradient_penalty.backward()
        D_cost = D_fake - D_real + gradient_penalty
        Wasserstein_D = D_real - D_fake
        optimizerD.step()

    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    noise = torch.randn(BATCH_SIZE, 2)
    fake = netG(noise)
    G = netD(fake).mean()
    G.backward(mone)
    optimizerG.step()
    print(iteration, D_cost.item(), Wasserstein_D.item(), -G.item())
