import torch
from torch import nn
import torch.nn.functional as F


class Head(nn.Module):
    """Content + shift addressing over an N x M memory."""

    def __init__(self, hidden, M, shifts=3, write=False):
        super().__init__()
        self.M, self.write = M, write
        self.lengths = [M, 1, 1, shifts, 1] + ([M, M] if write else [])
        self.fc = nn.Linear(hidden, sum(self.lengths))

    def split(self, h):
        k, beta, g, s, gamma, *rest = torch.split(self.fc(h), self.lengths, dim=1)
        addr = dict(
            k=torch.tanh(k),
            beta=F.softplus(beta),
            g=torch.sigmoid(g),
            s=F.softmax(s, dim=1),
            gamma=1 + F.softplus(gamma),
        )
        return addr, rest

    @staticmethod
    def shift(w, s):
        # circular convolution, one roll per allowed shift
        half = s.size(1) // 2
        return sum(torch.roll(w, j - half, dims=1) * s[:, j:j + 1] for j in range(s.size(1)))

    def address(self, memory, w_prev, *, k, beta, g, s, gamma):
        sim = F.cosine_similarity(memory + 1e-16, k.unsqueeze(1) + 1e-16, dim=-1)
        w = F.softmax(beta * sim, dim=1)
        w = g * w + (1 - g) * w_prev
        w = self.shift(w, s).clamp(min=1e-8) ** gamma
        return w / (w.sum(1, keepdim=True) + 1e-16)


class ReadHead(Head):
    def forward(self, memory, h, w_prev):
        addr, _ = self.split(h)
        w = self.address(memory, w_prev, **addr)
        return torch.einsum('bn,bnm->bm', w, memory), w


class WriteHead(Head):
    def __init__(self, hidden, M, shifts=3):
        super().__init__(hidden, M, shifts, write=True)

    def forward(self, memory, h, w_prev):
        addr, (e, a) = self.split(h)
        w = self.address(memory, w_prev, **addr)
        erase = torch.einsum('bn,bm->bnm', w, torch.sigmoid(e))
        add = torch.einsum('bn,bm->bnm', w, torch.tanh(a))
        for b in range(memory.size(0)):
            memory[b] = memory[b] * (1 - erase[b]) + add[b]
        return memory, w


class NTM(nn.Module):
    def __init__(self, num_in, num_out, controller_size=32, N=16, M=8, num_reads=1):
        super().__init__()
        self.N, self.M = N, M
        self.controller = nn.LSTMCell(num_in + num_reads * M, controller_size)
        self.reads = nn.ModuleList([ReadHead(controller_size, M) for _ in range(num_reads)])
        self.writer = WriteHead(controller_size, M)
        self.fc = nn.Linear(controller_size + num_reads * M, num_out)
        self.h0 = nn.Parameter(torch.randn(1, controller_size) * 0.05)
        self.c0 = nn.Parameter(torch.randn(1, controller_size) * 0.05)
        self.register_buffer('mem_bias', torch.empty(N, M).uniform_(-0.1, 0.1))

    def init_state(self, bs):
        h, c = self.h0.expand(bs, -1), self.c0.expand(bs, -1)
        ws = [self.mem_bias.new_full((bs, self.N), 1.0 / self.N) for _ in range(len(self.reads) + 1)]
        rs = [self.mem_bias.new_zeros(bs, self.M) for _ in self.reads]
        return (h, c), ws, rs, self.mem_bias.repeat(bs, 1, 1)

    def forward(self, x, state=None):
        # x: T x B x num_in
        (h, c), ws, rs, mem = state if state is not None else self.init_state(x.size(1))
        outs = []
        for xt in x.unbind(0):
            h, c = self.controller(torch.cat([xt] + rs, dim=1), (h, c))
            rs, new_ws = [], []
            for head, w in zip(self.reads, ws):
                r, w = head(mem, h, w)
                rs.append(r)
                new_ws.append(w)
            mem, w = self.writer(mem, h, ws[-1])
            ws = new_ws + [w]
            outs.append(torch.sigmoid(self.fc(torch.cat([h] + rs, dim=1))))
        return torch.stack(outs), ((h, c), ws, rs, mem)
