"""SchNet-like energy model; forces come from the gradient of the energy."""
import math
from typing import Optional, Tuple

import torch
from torch import nn
from torch.autograd import grad


def shifted_softplus(x: torch.Tensor) -> torch.Tensor:
    return nn.functional.softplus(x) - math.log(2.0)


class GaussianSmearing(nn.Module):
    def __init__(self, cutoff: float, n: int):
        super().__init__()
        centers = torch.linspace(0.0, cutoff, n)
        self.register_buffer("centers", centers)
        self.coeff = -0.5 / (centers[1] - centers[0]).item() ** 2

    def forward(self, d: torch.Tensor) -> torch.Tensor:
        return torch.exp(self.coeff * (d.unsqueeze(-1) - self.centers) ** 2)


class CosineCutoff(nn.Module):
    def __init__(self, cutoff: float):
        super().__init__()
        self.cutoff = cutoff

    def forward(self, d):
        return 0.5 * (torch.cos(d * math.pi / self.cutoff) + 1.0) * (d < self.cutoff)


class Interaction(nn.Module):
    def __init__(self, dim: int, n_rbf: int):
        super().__init__()
        self.filter1 = nn.Linear(n_rbf, dim)
        self.filter2 = nn.Linear(dim, dim)
        self.inp = nn.Linear(dim, dim, bias=False)
        self.out1 = nn.Linear(dim, dim)
        self.out2 = nn.Linear(dim, dim)

    def forward(self, x, src, dst, rbf, cut):
        w = self.filter2(shifted_softplus(self.filter1(rbf))) * cut.unsqueeze(-1)
        msg = self.inp(x)[src] * w
        agg = torch.zeros_like(x).index_add(0, dst, msg)
        return x + self.out2(shifted_softplus(self.out1(agg)))


class SchNetForces(nn.Module):
    def __init__(self, dim=32, n_interactions=2, n_rbf=16, cutoff=5.0, max_z=20, force_weight=0.9):
        super().__init__()
        self.cutoff = cutoff
        self.force_weight = force_weight
        self.embedding = nn.Embedding(max_z, dim)
        self.rbf = GaussianSmearing(cutoff, n_rbf)
        self.cut = CosineCutoff(cutoff)
        self.interactions = nn.ModuleList([Interaction(dim, n_rbf) for _ in range(n_interactions)])
        self.atomwise = nn.ModuleList([nn.Linear(dim, dim // 2), nn.Linear(dim // 2, 1)])

    def neighbours(self, pos: torch.Tensor, mol: torch.Tensor):
        with torch.no_grad():
            near = torch.cdist(pos, pos) < self.cutoff
            same = mol[:, None] == mol[None, :]
            near &= same
            near.fill_diagonal_(False)
        return near.nonzero(as_tuple=True)

    def energy(self, z, pos, mol, n_mol):
        src, dst = self.neighbours(pos, mol)
        d = (pos[src] - pos[dst]).norm(dim=-1)
        rbf, cut = self.rbf(d), self.cut(d)
        x = self.embedding(z)
        for block in self.interactions:
            x = block(x, src, dst, rbf, cut)
        l1, l2 = self.atomwise
        e = l2(shifted_softplus(l1(x))).squeeze(-1)
        return e.new_zeros(n_mol).index_add(0, mol, e)

    def forces_of(self, energy: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
        (g,) = grad(energy.sum(), pos)
        return -g

    def forward(
        self,
        z: torch.Tensor,
        pos: torch.Tensor,
        mol: torch.Tensor,
        target: Optional[Tuple[torch.Tensor, torch.Tensor]] = None,
    ):
        pos = pos.detach().requires_grad_(True)
        n_mol = int(mol.max()) + 1
        energy = self.energy(z, pos, mol, n_mol)
        forces = self.forces_of(energy, pos)
        if target is None:
            return energy, forces
        e_ref, f_ref = target
        rho = self.force_weight
        return (1 - rho) * (energy - e_ref).pow(2).mean() + rho * (forces - f_ref).pow(2).mean()
