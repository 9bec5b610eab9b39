# correct: 011_mask_embedding_in_init.py
# cure: The vector is made in the forward pass.

import torch
import torch.nn as nn


class SoftMasked(nn.Module):
    def __init__(self, vocabulary, width, mask_id):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width)
        self.detector = nn.Linear(width, 1)
        self.corrector = nn.Linear(width, vocabulary)
        self.mask_id = mask_id

    def forward(self, ids):
        embedded = self.norm(self.embedding(ids))
        masked = self.norm(self.embedding(torch.full_like(ids[:, :1], self.mask_id)))
        p = torch.sigmoid(self.detector(embedded))
        return self.corrector(p * masked + (1 - p) * embedded)


net = SoftMasked(vocabulary=50, width=16, mask_id=3)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(4):
    ids = torch.randint(0, 50, (2, 7))
    loss = nn.functional.cross_entropy(net(ids).flatten(0, 1), ids.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
