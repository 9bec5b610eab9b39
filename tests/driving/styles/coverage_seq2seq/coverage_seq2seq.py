import random

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, BOS, EOS = 0, 1, 2


class Encoder(nn.Module):
    def __init__(self, vocab_size, emb_dim, hid_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim, padding_idx=PAD)
        self.rnn = nn.GRU(emb_dim, hid_dim, bidirectional=True, batch_first=True)
        self.bridge = nn.Linear(2 * hid_dim, hid_dim)

    def forward(self, src):
        out, h = self.rnn(self.embedding(src))
        # h = [2, batch, hid] -> [batch, hid]
        h = torch.tanh(self.bridge(torch.cat((h[-2], h[-1]), dim=1)))
        return out, h


class CoverageAttention(nn.Module):
    """See et al. 2017: additive attention with a coverage feature."""

    def __init__(self, enc_dim, dec_dim, att_dim):
        super().__init__()
        self.W_h = nn.Linear(enc_dim, att_dim, bias=False)
        self.W_s = nn.Linear(dec_dim, att_dim)
        self.w_c = nn.Linear(1, att_dim, bias=False)
        self.v = nn.Linear(att_dim, 1, bias=False)

    def forward(self, enc, s, coverage, mask):
        # enc = [batch, src, enc_dim]; s = [batch, dec_dim]; coverage = [batch, src]
        e = self.W_h(enc) + self.W_s(s).unsqueeze(1) + self.w_c(coverage.unsqueeze(-1))
        e = self.v(torch.tanh(e)).squeeze(-1)
        e = e.masked_fill(mask, -1e9)
        a = F.softmax(e, dim=-1)
        c = torch.bmm(a.unsqueeze(1), enc).squeeze(1)
        return c, a


class Decoder(nn.Module):
    def __init__(self, vocab_size, emb_dim, enc_dim, hid_dim, att_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim, padding_idx=PAD)
        self.attention = CoverageAttention(enc_dim, hid_dim, att_dim)
        self.cell = nn.GRUCell(emb_dim + enc_dim, hid_dim)
        self.out = nn.Linear(hid_dim + enc_dim, vocab_size)

    def step(self, y, s, enc, coverage, mask):
        c, a = self.attention(enc, s, coverage, mask)
        s = self.cell(torch.cat((self.embedding(y), c), dim=-1), s)
        return self.out(torch.cat((s, c), dim=-1)), s, a


class Seq2SeqWithCoverage(nn.Module):
    def __init__(self, vocab_size, emb_dim=64, hid_dim=128, att_dim=64, cov_weight=1.0):
        super().__init__()
        self.cov_weight = cov_weight
        self.encoder = Encoder(vocab_size, emb_dim, hid_dim)
        self.decoder = Decoder(vocab_size, emb_dim, 2 * hid_dim, hid_dim, att_dim)

    def forward(self, src, trg, teacher_forcing_ratio=0.5):
        # src = [batch, src len]
        # trg = [batch, trg len], begins with BOS
        enc, s = self.encoder(src)
        mask = src.eq(PAD)
        coverage = torch.zeros_like(src, dtype=enc.dtype)
        cov_loss = enc.new_zeros(())

        y = trg[:, 0]
        logits = []
        for t in range(1, trg.shape[1]):
            o, s, a = self.decoder.step(y, s, enc, coverage, mask)
            cov_loss = cov_loss + torch.min(a, coverage).sum(1).mean()
            coverage += a
            logits.append(o)
            teacher = random.random() < teacher_forcing_ratio
            y = trg[:, t] if teacher else o.argmax(1)

        logits = torch.stack(logits, dim=1)
        nll = F.cross_entropy(logits.flatten(0, 1), trg[:, 1:].flatten(), ignore_index=PAD)
        return nll + self.cov_weight * cov_loss / len(trg[0, 1:])
