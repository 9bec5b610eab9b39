import torch
from torch import nn
from typing import Dict, List, Tuple


def mlp(channels: List[int], do_bn: bool = True) -> nn.Sequential:
    """ Point-wise MLP on (B, C, N) """
    layers = []
    for i in range(1, len(channels)):
        layers.append(nn.Conv1d(channels[i - 1], channels[i], kernel_size=1, bias=True))
        if i < len(channels) - 1:
            if do_bn:
                layers.append(nn.InstanceNorm1d(channels[i]))
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def normalize_keypoints(kpts: torch.Tensor, size: Tuple[int, int]) -> torch.Tensor:
    h, w = size
    wh = kpts.new_tensor([w, h])
    return (kpts - wh / 2) / (wh.max() * 0.7)


class CrossAttention(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.proj = nn.ModuleList([nn.Conv1d(dim, dim, 1) for _ in range(3)])
        self.merge = nn.Conv1d(dim, dim, 1)
        self.mlp = mlp([2 * dim, 2 * dim, dim])

    def forward(self, x: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        b, d, _ = x.shape
        q, k, v = [l(t).view(b, self.heads, d // self.heads, -1)
                   for l, t in zip(self.proj, (x, source, source))]
        scores = torch.einsum('bhdn,bhdm->bhnm', q, k) / (d // self.heads) ** .5
        msg = torch.einsum('bhnm,bhdm->bhdn', scores.softmax(-1), v)
        return self.mlp(torch.cat([x, self.merge(msg.reshape(b, d, -1))], dim=1))


class Sinkhorn(nn.Module):
    """ Entropic optimal transport with one dustbin row and column """
    def __init__(self, iters: int, eps: float):
        super().__init__()
        self.iters = iters
        self.eps = eps
        self.bin_score = nn.Parameter(torch.tensor(0.1))

    def augment(self, scores: torch.Tensor) -> torch.Tensor:
        b, m, n = scores.shape
        col = self.bin_score.expand(b, m, 1)
        row = self.bin_score.expand(b, 1, n + 1)
        return torch.cat([torch.cat([scores, col], -1), row], 1)

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        Z = self.augment(scores) / self.eps
        P = torch.exp(Z - Z.amax(dim=(1, 2), keepdim=True).detach())
        for _ in range(self.iters):
            P /= P.sum(dim=2, keepdim=True)
            P /= P.sum(dim=1, keepdim=True)
        return P


class SinkhornMatcher(nn.Module):
    default_config = {
        'descriptor_dim': 32,
        'heads': 2,
        'layers': ['self', 'cross'],
        'sinkhorn_iterations': 5,
        'epsilon': 0.5,
    }

    def __init__(self, config: Dict = {}):
        super().__init__()
        self.config = {**self.default_config, **config}
        d = self.config['descriptor_dim']
        self.kenc = mlp([3, d, d], do_bn=False)
        self.names = self.config['layers']
        self.gnn = nn.ModuleList([CrossAttention(d, self.config['heads']) for _ in self.names])
        self.final_proj = nn.Conv1d(d, d, 1)
        self.ot = Sinkhorn(self.config['sinkhorn_iterations'], self.config['epsilon'])

    def encode(self, kpts, scores, size):
        k = normalize_keypoints(kpts, size).transpose(1, 2)
        return self.kenc(torch.cat([k, scores.unsqueeze(1)], dim=1))

    def forward(self, data: Dict) -> Dict:
        """ data: keypoints{0,1} (B,N,2), scores{0,1} (B,N), descriptors{0,1} (B,D,N), size{0,1} """
        d0, d1 = (data[f'descriptors{i}'] + self.encode(data[f'keypoints{i}'], data[f'scores{i}'], data[f'size{i}'])
                  for i in (0, 1))
        for layer, name in zip(self.gnn, self.names):
            s0, s1 = (d1, d0) if name == 'cross' else (d0, d1)
            d0, d1 = d0 + layer(d0, s0), d1 + layer(d1, s1)
        m0, m1 = self.final_proj(d0), self.final_proj(d1)
        scores = torch.einsum('bdn,bdm->bnm', m0, m1) / self.config['descriptor_dim'] ** .5
        P = self.ot(scores)
        out = {'assignment': P}
        if 'matches' in data:
            b, i, j = data['matches'].unbind(1)
            out['loss'] = -(P[b, i, j] + 1e-9).log().mean()
        return out
