# thread: https://github.com/wenet-e2e/wekws/pull/73
# diagnosis: An executor clips and steps for every batch and leaves the old gradients in place.
# mistake: 28
# expected: TLN402
# symptom: prints old gradients stay: True

import logging

import torch
from torch.nn.utils import clip_grad_norm_


class Executor:
    def __init__(self):
        self.step = 0

    def train(self, model, optimizer, data_loader, args):
        model.train()
        clip = args.get("grad_clip", 50.0)
        for batch_idx, (feats, target) in enumerate(data_loader):
            if target.size(0) == 0:
                continue
            logits = model(feats)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits.squeeze(-1), target)
            loss.backward()
            grad_norm = clip_grad_norm_(model.parameters(), clip)
            if torch.isfinite(grad_norm):
                optimizer.step()
            logging.debug("batch %d loss %f", batch_idx, loss.item())
        return grad_norm


model = torch.nn.Linear(10, 1)
batch = (torch.randn(3, 10), torch.ones(3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.0)
one = Executor().train(model, optimizer, [batch], {})
three = Executor().train(model, optimizer, [batch] * 3, {"grad_clip": 5.0})
print("old gradients stay:", bool(three > 3.5 * one))
