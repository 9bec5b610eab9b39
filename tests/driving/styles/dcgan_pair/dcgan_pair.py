import torch
import torch.nn as nn


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find('Conv') != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find('BatchNorm') != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


class Generator(nn.Module):
    def __init__(self, nz, ngf, nc):
        super(Generator, self).__init__()
        self.main = nn.Sequential(
            # input is Z, going into a convolution
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            # state size. (ngf*2) x 4 x 4
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            # state size. (ngf) x 8 x 8
            nn.ConvTranspose2d(ngf, nc, 4, 2, 1, bias=False),
            nn.Tanh(),
            # state size. (nc) x 16 x 16
        )

    def forward(self, z):
        return self.main(z.view(z.size(0), -1, 1, 1))


class MinibatchStdDev(nn.Module):
    def __init__(self, eps=1e-8):
        super(MinibatchStdDev, self).__init__()
        self.eps = eps

    def forward(self, x):
        b, _, h, w = x.shape
        y = x - x.mean(dim=0, keepdim=True)
        y = torch.sqrt(y.pow(2).mean(dim=0) + self.eps).mean()
        return torch.cat([x, y.expand(b, 1, h, w)], dim=1)


class Discriminator(nn.Module):
    def __init__(self, ndf, nc):
        super(Discriminator, self).__init__()
        self.features = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
        )
        self.mbstd = MinibatchStdDev()
        self.head = nn.Conv2d(ndf * 2 + 1, 1, 4, 1, 0)

    def forward(self, img):
        h = self.mbstd(self.features(img))
        return torch.sigmoid(self.head(h)).view(-1)


class DCGAN(nn.Module):
    """Both players in one module; mode picks the loss that forward returns."""

    def __init__(self, nz=100, ngf=64, ndf=64, nc=3, label_smoothing=0.1):
        super(DCGAN, self).__init__()
        self.nz = nz
        self.smooth = label_smoothing
        self.netG = Generator(nz, ngf, nc)
        self.netD = Discriminator(ndf, nc)
        self.apply(weights_init)

    def sample(self, n, device=None):
        return self.netG(torch.randn(n, self.nz, device=device))

    def d_loss(self, real, fake):
        p_real = self.netD(real)
        p_fake = self.netD(fake.detach())
        target = 1.0 - self.smooth
        pos = target * torch.log(p_real + 1e-7) + self.smooth * torch.log(1 - p_real + 1e-7)
        neg = torch.log(1 - p_fake + 1e-7)
        return -(pos + neg).mean()

    def g_loss(self, fake):
        p = self.netD(fake)
        # non-saturating loss
        return p.add_(1e-7).log().neg().mean()

    def forward(self, real, mode='both'):
        fake = self.sample(real.size(0), real.device)
        if mode == 'd':
            return self.d_loss(real, fake)
        if mode == 'g':
            return self.g_loss(fake)
        assert mode == 'both', mode
        return self.d_loss(real, fake), self.g_loss(fake)
