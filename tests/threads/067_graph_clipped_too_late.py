# thread: https://github.com/VGraphRNN/VGRNN/issues/4
# diagnosis: clip_grad_norm_ is the last statement of the iteration, behind the step, and the next one zeroes.
# mistake: 36
# expected: TLN404
# symptom: prints clipping had an effect: False

import torch
import torch.nn as nn


class GraphAutoencoder(nn.Module):
    def __init__(self, x_dim, z_dim):
        super().__init__()
        self.mu, self.std = nn.Linear(x_dim, z_dim), nn.Linear(x_dim, z_dim)

    def forward(self, x, adj):
        h = adj @ x
        mu, std = self.mu(h), nn.functional.softplus(self.std(h))
        z = mu + std * torch.randn_like(std)
        return z @ z.t(), mu, std


def run(clip, seed):
    torch.manual_seed(seed)
    model = GraphAutoencoder(6, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    adj = (torch.rand(9, 9) > 0.7).float()
    x = torch.rand(9, 6)
    for k in range(5):
        optimizer.zero_grad()
        logits, mu, std = model(x, adj)
        kld = (mu.pow(2) + std.pow(2) - 2 * std.log() - 1).mean() / 2
        loss = nn.functional.binary_cross_entropy_with_logits(logits, adj) + kld
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    return model.mu.weight.detach()


print("clipping had an effect:", not torch.equal(run(1e-6, seed=3), run(1e6, seed=3)))
