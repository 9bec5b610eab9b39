# correct: 153_gels_is_gone.py
# cure: linalg.lstsq takes the arguments the other way round.

import torch


def fit_line(xs, ys):
    design = torch.stack([xs, torch.ones_like(xs)], dim=1)
    solution = torch.linalg.lstsq(design, ys.unsqueeze(1)).solution
    return solution[:2].squeeze(1)


xs = torch.linspace(0, 1, 30)
slope, offset = fit_line(xs, 3 * xs + 1 + 0.01 * torch.randn(30))
print(slope, offset)
