# thread: https://github.com/pytorch/pytorch/issues/31700
# diagnosis: torch.gels is called, which was removed.
# mistake: 12
# expected: TLN901
# symptom: raises AttributeError: module 'torch' has no attribute 'gels'

import torch


def fit_line(xs, ys):
    design = torch.stack([xs, torch.ones_like(xs)], dim=1)
    solution, _ = torch.gels(ys.unsqueeze(1), design)
    return solution[:2].squeeze(1)


xs = torch.linspace(0, 1, 30)
slope, offset = fit_line(xs, 3 * xs + 1 + 0.01 * torch.randn(30))
print(slope, offset)
