import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def to_mel(hz):
    return 2595 * math.log10(1 + hz / 700)


def to_hz(mel):
    return 700 * (10 ** (mel / 2595) - 1)


class SincConv(nn.Module):
    """Sinc-based band-pass convolution.

    Parameters
    ----------
    out_channels : `int`
        Number of filters.
    kernel_size : `int`
        Filter length, made odd if it is not.
    sample_rate : `int`, optional
    min_low_hz, min_band_hz : `float`, optional

    Usage
    -----
    See `torch.nn.Conv1d`

    Reference
    ---------
    Mirco Ravanelli, Yoshua Bengio, "Speaker Recognition from raw waveform with SincNet".
    """

    def __init__(self, out_channels, kernel_size, sample_rate=16000, min_low_hz=50, min_band_hz=50):
        super().__init__()
        self.out_channels = out_channels
        self.kernel_size = kernel_size + 1 - kernel_size % 2
        self.sample_rate = sample_rate
        self.min_low_hz = min_low_hz
        self.min_band_hz = min_band_hz

        top = sample_rate / 2 - (min_low_hz + min_band_hz)
        lo, hi = to_mel(30), to_mel(top)
        edges = [to_hz(lo + (hi - lo) * i / out_channels) for i in range(out_channels + 1)]
        self.low_hz_ = nn.Parameter(torch.tensor(edges[:-1]).view(-1, 1))
        self.band_hz_ = nn.Parameter(torch.diff(torch.tensor(edges)).view(-1, 1))

        half = self.kernel_size // 2
        self.register_buffer("window_", torch.hamming_window(self.kernel_size, periodic=False)[:half])
        self.register_buffer("n_", 2 * math.pi * torch.arange(-half, 0).view(1, -1) / sample_rate)

    def band_edges(self):
        low = self.min_low_hz + self.low_hz_.abs()
        high = torch.clamp(low + self.min_band_hz + self.band_hz_.abs(), self.min_low_hz, self.sample_rate / 2)
        # the bank is kept ordered by lower edge so that neighbouring channels overlap
        pairs = sorted(zip(low.flatten().tolist(), high.flatten().tolist()))
        edges = low.new_tensor(pairs)
        return edges[:, :1], edges[:, 1:]

    def filters(self):
        low, high = self.band_edges()
        f_low, f_high = low @ self.n_, high @ self.n_
        left = (torch.sin(f_high) - torch.sin(f_low)) / (self.n_ / 2) * self.window_
        center = 2 * (high - low)
        right = left.flip(1)
        bank = torch.cat([left, center, right], dim=1) / (2 * (high - low))
        return bank.view(self.out_channels, 1, self.kernel_size)

    def forward(self, wav):
        return F.conv1d(wav, self.filters(), padding=self.kernel_size // 2)


class SincSpeakerNet(nn.Module):
    def __init__(self, n_speakers, n_filters=8, kernel_size=31, conv_channels=(16, 16), sample_rate=16000):
        super().__init__()
        self.sinc = SincConv(n_filters, kernel_size, sample_rate)
        self.norm = nn.InstanceNorm1d(1, affine=True)
        convs = []
        c = n_filters
        for width in conv_channels:
            convs.append(nn.Sequential(nn.MaxPool1d(2), nn.Conv1d(c, width, 5, padding=2),
                                       nn.BatchNorm1d(width), nn.LeakyReLU(0.2)))
            c = width
        self.convs = nn.Sequential(*convs)
        self.out = nn.Linear(2 * c, n_speakers)

    def forward(self, wav):
        # wav: (batch, 1, time)
        x = self.sinc(self.norm(wav)).abs()
        x = self.convs(x)
        stats = torch.cat([x.mean(-1), x.std(-1)], dim=1)
        return F.log_softmax(self.out(stats), dim=-1)
