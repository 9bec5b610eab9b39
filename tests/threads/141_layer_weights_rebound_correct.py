# correct: 141_layer_weights_rebound.py
# cure: The weights get a name of their own.

import torch
import torch.nn as nn
import torch.nn.functional as F


class LayerMix(nn.Module):
    def __init__(self, num_layers, hidden, labels):
        super().__init__()
        self.layer_weights = nn.Parameter(torch.ones(num_layers) / num_layers)
        self.classifier = nn.Linear(hidden, labels)

    def forward(self, all_hidden, labels=None):
        weights = F.softmax(self.layer_weights, dim=0)
        mixed = (torch.stack(all_hidden) * weights.view(-1, 1, 1)).sum(0)
        logits = self.classifier(mixed)
        return logits if labels is None else F.cross_entropy(logits, labels)


model = LayerMix(3, 8, 2)
loss = model([torch.randn(4, 8) for _ in range(3)], torch.randint(0, 2, (4,)))
loss.backward()
