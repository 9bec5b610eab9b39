# thread: https://github.com/ThilinaRajapakse/pytorch-transformers-classification/issues/21
# diagnosis: The scheduler is stepped before the optimizer in each iteration.
# mistake: 23
# expected: TLN404
# symptom: warns Detected call of `lr_scheduler.step()` before `optimizer.step()`

import torch
from torch import nn


def train(batches, model, args):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args["learning_rate"], eps=args["adam_epsilon"])
    total = len(batches) * args["epochs"]
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, (total - step) / total))
    tr_loss = 0.0
    for _ in range(args["epochs"]):
        for ids, labels in batches:
            model.train()
            loss = nn.functional.cross_entropy(model(ids).mean(1), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            tr_loss += loss.item()
            scheduler.step()
            optimizer.step()
            model.zero_grad()
    return tr_loss / total


model = nn.Sequential(nn.Embedding(30, 8), nn.Linear(8, 2))
data = [(torch.randint(0, 30, (4, 6)), torch.randint(0, 2, (4,))) for _ in range(3)]
train(data, model, {"learning_rate": 4e-5, "adam_epsilon": 1e-8, "epochs": 2})
