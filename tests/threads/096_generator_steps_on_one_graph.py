# thread: https://github.com/tamarott/SinGAN/pull/117
# diagnosis: Several generator steps differentiate one retained graph, and each step overwrites the weights it saved.
# mistake: 25, 29
# expected: TLN202, TLN102
# symptom: raises RuntimeError: modified by an inplace operation

import argparse

import torch
import torch.nn as nn


def conv_net(width, out):
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(width, out, 3, padding=1))


def train_scale(netD, netG, real, opt):
    optimizerG = torch.optim.Adam(netG.parameters(), lr=opt.lr)
    noise = torch.randn_like(real)
    fake = netG(noise)
    for j in range(opt.Gsteps):
        netG.zero_grad()
        output = netD(fake)
        errG = -output.mean()
        errG.backward(retain_graph=True)
        if opt.alpha != 0:
            rec_loss = opt.alpha * nn.functional.mse_loss(netG(noise), real)
            rec_loss.backward()
        optimizerG.step()


opt = argparse.Namespace(Gsteps=3, lr=5e-4, alpha=10)
train_scale(conv_net(8, 1), conv_net(8, 3), torch.rand(1, 3, 12, 12), opt)
