# thread: https://github.com/THGLab/LP-PDBBind/pull/1
# diagnosis: A retraining script remembers the weights of its best epoch without copying them.
# mistake: 40
# expected: TLN206
# symptom: prints remembered weights drifted: True

import math

import torch
import torch.nn as nn


def rmse(model, loader):
    with torch.no_grad():
        errors = [(model(drug, protein) - y).pow(2).mean().item() for drug, protein, y in loader]
    return math.sqrt(sum(errors) / len(errors))


class Affinity(nn.Module):
    def __init__(self):
        super().__init__()
        self.drug, self.protein, self.head = nn.Linear(6, 8), nn.Linear(9, 8), nn.Linear(8, 1)

    def forward(self, drug, protein):
        return self.head(torch.relu(self.drug(drug) * self.protein(protein))).squeeze(1)


def retrain(model, train, valid, epochs):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    best_loss, best_weights, kept = math.inf, None, None
    for epoch in range(epochs):
        for drug, protein, y in train:
            loss = nn.functional.mse_loss(model(drug, protein), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        valid_loss = rmse(model, valid) + epoch
        if valid_loss < best_loss:
            best_loss = valid_loss
            best_weights = model.state_dict()
            kept = model.head.weight.detach().clone()
    print("remembered weights drifted:", not torch.equal(best_weights["head.weight"], kept))
    return best_weights


data = [(torch.randn(5, 6), torch.randn(5, 9), torch.randn(5)) for _ in range(2)]
retrain(Affinity(), data, data, epochs=3)
