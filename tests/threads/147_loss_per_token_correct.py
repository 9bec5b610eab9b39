# correct: 147_loss_per_token.py
# cure: The loss is reduced before the backward.

import torch
import torch.nn as nn


class SpanModel(nn.Module):
    def __init__(self, width, tags, loss_type="ce"):
        super().__init__()
        self.start, self.end = nn.Linear(width, tags), nn.Linear(width, tags)
        reduction = "none"
        if loss_type == "ce":
            self.criterion = nn.CrossEntropyLoss(reduction=reduction)
        else:
            self.criterion = nn.NLLLoss(reduction=reduction)

    def forward(self, hidden, start_ids, end_ids):
        start_loss = self.criterion(self.start(hidden).flatten(0, 1), start_ids.flatten())
        end_loss = self.criterion(self.end(hidden).flatten(0, 1), end_ids.flatten())
        return start_loss + end_loss


model = SpanModel(8, 3)
optimizer = torch.optim.AdamW(model.parameters())
ids = torch.randint(0, 3, (2, 6))
loss = model(torch.randn(2, 6, 8), ids, ids)
model.zero_grad()
loss.mean().backward()
optimizer.step()
