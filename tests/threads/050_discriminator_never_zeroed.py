# thread: https://github.com/Hsintien-Ng/idinvert_pytorch-reproduced/issues/1
# diagnosis: The generator's gradients are cleared before its step, and the discriminator's never.
# mistake: 19
# expected: TLN402
# symptom: prints stale: True

import torch
import torch.nn as nn
import torch.nn.functional as F


def training_loop(E, D, images, optimizer_E, optimizer_D, d_weight):
    norms = []
    for x in images:
        fake = E(x)
        d_loss = F.softplus(-D(x)).mean() + F.softplus(D(fake.detach())).mean()
        d_loss.backward()
        norms.append(D.weight.grad.norm().item())
        optimizer_D.step()

        optimizer_E.zero_grad()
        e_loss = F.mse_loss(fake, x) + d_weight * F.softplus(-D(fake)).mean()
        e_loss.backward()
        optimizer_E.step()
    return norms


E, D = nn.Linear(9, 9), nn.Linear(9, 1)
image = torch.randn(4, 9)
norms = training_loop(
    E, D, [image] * 6, torch.optim.Adam(E.parameters(), 0.0), torch.optim.Adam(D.parameters(), 0.0), 0.08
)
print("stale:", norms[-1] > 3 * norms[0])
