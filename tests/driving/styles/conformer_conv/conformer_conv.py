# Conformer encoder for log-mel features (Gulati et al., 2020), trimmed down.
import torch
import torch.nn as nn


class Swish(nn.Module):
    def forward(self, x):
        return x * x.sigmoid()


class FeedForward(nn.Sequential):
    def __init__(self, d, mult=4, p=0.1):
        super().__init__(nn.LayerNorm(d), nn.Linear(d, mult * d), Swish(), nn.Dropout(p),
                         nn.Linear(mult * d, d), nn.Dropout(p))


class ConvModule(nn.Module):
    def __init__(self, d, kernel=15, p=0.1):
        super().__init__()
        assert (kernel - 1) % 2 == 0, 'kernel must be odd'
        self.norm = nn.LayerNorm(d)
        self.pw1 = nn.Conv1d(d, 2 * d, 1)
        self.dw = nn.Conv1d(d, d, kernel, padding=kernel // 2, groups=d)
        self.bn = nn.BatchNorm1d(d)
        self.pw2 = nn.Conv1d(d, d, 1)
        self.drop = nn.Dropout(p)

    def forward(self, x, pad_mask=None):
        y = self.norm(x).transpose(1, 2)                 # B D T
        value, gate = torch.tensor_split(self.pw1(y), 2, dim=1)
        y = value * gate.sigmoid()
        if pad_mask is not None:
            y = y.masked_fill(pad_mask.unsqueeze(1), 0.)
        y = self.bn(self.dw(y))
        act = torch.sigmoid(y)
        y = act.mul_(y)                                  # swish
        return self.drop(self.pw2(y)).transpose(1, 2)


class MHSA(nn.Module):
    def __init__(self, d, heads, p=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.att = nn.MultiheadAttention(d, heads, dropout=p, batch_first=True)
        self.drop = nn.Dropout(p)

    def forward(self, x, pad_mask=None):
        y = self.norm(x)
        y, _ = self.att(y, y, y, key_padding_mask=pad_mask, need_weights=False)
        return self.drop(y)


class ConformerBlock(nn.Module):
    def __init__(self, d, heads, kernel, p):
        super().__init__()
        self.ff1, self.ff2 = FeedForward(d, p=p), FeedForward(d, p=p)
        self.mhsa = MHSA(d, heads, p)
        self.conv = ConvModule(d, kernel, p)
        self.norm = nn.LayerNorm(d)

    def forward(self, x, pad_mask=None):
        x = x + 0.5 * self.ff1(x)
        x = x + self.mhsa(x, pad_mask)
        x = x + self.conv(x, pad_mask)
        x = x + 0.5 * self.ff2(x)
        return self.norm(x)


class Subsample4(nn.Module):
    def __init__(self, n_mels, d):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, d, 3, 2, 1), nn.ReLU(), nn.Conv2d(d, d, 3, 2, 1), nn.ReLU())
        self.out = nn.Linear(d * ((n_mels + 3) // 4), d)

    def forward(self, x, lengths):
        x = self.conv(x.unsqueeze(1))                    # B D T/4 F/4
        x = self.out(x.permute(0, 2, 1, 3).flatten(2))
        return x, torch.div(lengths + 3, 4, rounding_mode='floor')


class ConformerCTC(nn.Module):
    def __init__(self, n_mels=80, vocab=32, d=144, heads=4, n_blocks=2, kernel=15, dropout=0.1):
        super().__init__()
        self.sub = Subsample4(n_mels, d)
        self.blocks = nn.ModuleList(ConformerBlock(d, heads, kernel, dropout) for _ in range(n_blocks))
        self.ctc = nn.Linear(d, vocab)

    def forward(self, mel, lengths):
        """mel: B x T x n_mels -> log-probs B x T/4 x vocab, output lengths"""
        x, lengths = self.sub(mel, lengths)
        pad = torch.arange(x.size(1), device=x.device).unsqueeze(0) >= lengths.unsqueeze(1)
        for blk in self.blocks:
            x = blk(x, pad)
        return self.ctc(x).log_softmax(-1), lengths
