# thread: https://github.com/YanaiEliyahu/AdasOptimizer/issues/2
# diagnosis: The filter of trainable parameters is exhausted by counting before the optimizer gets it.
# mistake: 14, 20
# expected: TLN305
# symptom: raises ValueError: optimizer got an empty parameter list

import torch
import torch.nn as nn


def build_optimizer(model, config):
    params = filter(lambda p: p.requires_grad, model.parameters())
    print("trainable:", sum(p.numel() for p in params))
    return torch.optim.Adam(params, lr=config["lr"])


model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 3))
for p in model[0].parameters():
    p.requires_grad = False
optimizer = build_optimizer(model, {"lr": 3e-4})
