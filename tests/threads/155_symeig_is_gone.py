# thread: https://github.com/aiqm/torchani/pull/627
# diagnosis: Vibrational modes are found with torch.symeig, which was removed.
# mistake: 19
# expected: TLN901
# symptom: raises RuntimeError: This function was deprecated since version 1.9 and is now removed

import torch


def hessian(energy, coordinates):
    force = torch.autograd.grad(energy, coordinates, create_graph=True)[0].flatten()
    rows = [torch.autograd.grad(f, coordinates, retain_graph=True)[0].flatten() for f in force]
    return torch.stack(rows)


def vibrations(masses, matrix):
    inverse = 1 / masses.sqrt().repeat_interleave(3)
    scaled = matrix * inverse.unsqueeze(0) * inverse.unsqueeze(1)
    eigenvalues, eigenvectors = torch.symeig(scaled, eigenvectors=True)
    return eigenvalues.clamp(min=0).sqrt(), eigenvectors.t()


x = torch.randn(2, 3, dtype=torch.double, requires_grad=True)
energy = (x[0] - x[1]).pow(2).sum().pow(2)
print(vibrations(torch.tensor([1.0, 12.0], dtype=torch.double), hessian(energy, x))[0])
