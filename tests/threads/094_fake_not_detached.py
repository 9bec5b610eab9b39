# thread: https://github.com/pytorch/examples/issues/116
# diagnosis: The discriminator's backward goes through the generator, whose graph the generator's backward needs again.
# mistake: 22, 23, 28
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

import torch
import torch.nn as nn

nz, width, batch = 8, 12, 4
netG = nn.Sequential(nn.Linear(nz, 16), nn.ReLU(True), nn.Linear(16, width), nn.Tanh())
netD = nn.Sequential(nn.Linear(width, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
criterion = nn.BCELoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))

for i in range(2):
    netD.zero_grad()
    errD_real = criterion(netD(torch.rand(batch, width)), torch.ones(batch, 1))
    errD_real.backward()
    fake = netG(torch.randn(batch, nz))
    errD_fake = criterion(netD(fake), torch.zeros(batch, 1))
    errD_fake.backward()
    optimizerD.step()

    netG.zero_grad()
    errG = criterion(netD(fake), torch.ones(batch, 1))
    errG.backward()
    optimizerG.step()
