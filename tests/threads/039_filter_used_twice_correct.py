# correct: 039_filter_used_twice.py
# cure: A list can be gone through twice.

import torch
import torch.nn as nn


def build_optimizer(model, config):
    params = [p for p in model.parameters() if p.requires_grad]
    print("trainable:", sum(p.numel() for p in params))
    return torch.optim.Adam(params, lr=config["lr"])


model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 3))
for p in model[0].parameters():
    p.requires_grad = False
optimizer = build_optimizer(model, {"lr": 3e-4})
