import torch
import torch.nn as nn


def scatter_sum(src, index, num):
    out = src.new_zeros(num, *src.shape[1:])
    return out.index_add(0, index, src)


def scatter_mean(src, index, num):
    cnt = scatter_sum(torch.ones_like(src[:, :1]), index, num).clamp(min=1)
    return scatter_sum(src, index, num) / cnt


def with_self_loops(edge_index, n):
    loop = torch.arange(n, device=edge_index.device)
    return torch.cat([edge_index, torch.stack([loop, loop])], dim=1)


class EGCL(nn.Module):
    """E(n)-equivariant layer (Satorras et al. 2021), distances instead of squared distances."""

    def __init__(self, hid, edge_dim=0, act=nn.SiLU, residual=True, coords_range=3.0):
        super().__init__()
        self.residual = residual
        self.coords_range = coords_range
        self.phi_e = nn.Sequential(
            nn.Linear(2 * hid + 1 + edge_dim, hid), act(),
            nn.Linear(hid, hid), act(),
        )
        self.phi_h = nn.Sequential(nn.Linear(2 * hid, hid), act(), nn.Linear(hid, hid))
        last = nn.Linear(hid, 1, bias=False)
        nn.init.xavier_uniform_(last.weight, gain=0.001)
        self.phi_x = nn.Sequential(nn.Linear(hid, hid), act(), last, nn.Tanh())

    def edge_model(self, h, row, col, dist, edge_attr):
        feats = [h[row], h[col], dist]
        if edge_attr is not None:
            feats.append(edge_attr)
        return self.phi_e(torch.cat(feats, dim=-1))

    def forward(self, h, x, edge_index, edge_attr=None):
        row, col = edge_index
        n = h.shape[0]
        diff = x[row] - x[col]                                    # (E, 3)
        dist = diff.pow(2).sum(dim=-1, keepdim=True).sqrt()       # (E, 1)
        m = self.edge_model(h, row, col, dist, edge_attr)         # (E, hid)

        trans = diff / (dist + 1.0) * self.phi_x(m) * self.coords_range
        x = x + scatter_mean(trans, row, n)

        agg = scatter_sum(m, row, n)
        out = self.phi_h(torch.cat([h, agg], dim=-1))
        h = h + out if self.residual else out
        return h, x


class EGNN(nn.Module):
    def __init__(self, in_dim, hid, out_dim, n_layers=3, self_loops=True, **layer_kwargs):
        super().__init__()
        self.self_loops = self_loops
        self.embed_in = nn.Linear(in_dim, hid)
        self.embed_out = nn.Linear(hid, out_dim)
        for i in range(n_layers):
            self.add_module("gcl_%d" % i, EGCL(hid, **layer_kwargs))
        self.n_layers = n_layers

    def forward(self, h, x, edge_index):
        # h: (N, F) node features, x: (N, 3) positions, edge_index: (2, E)
        if self.self_loops:
            edge_index = with_self_loops(edge_index, h.size(0))
        h = self.embed_in(h)
        for i in range(self.n_layers):
            h, x = self._modules["gcl_%d" % i](h, x, edge_index)
        return self.embed_out(h), x
