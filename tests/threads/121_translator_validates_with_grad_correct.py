# correct: 121_translator_validates_with_grad.py
# cure: The method runs under no_grad.

import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, loss):
        self.model, self.valid_loss = model, loss

    @torch.no_grad()
    def validate(self, valid_iter):
        self.model.eval()
        stats = []
        for batch in valid_iter:
            src, tgt = batch["src"], batch["tgt"]
            outputs = self.model(src)
            loss = self.valid_loss(outputs.transpose(1, 2), tgt)
            print("graph built while validating:", outputs.grad_fn is not None)
            stats.append(loss.item())
        self.model.train()
        return sum(stats) / len(stats)


model = nn.Sequential(nn.Embedding(20, 8), nn.Dropout(0.1), nn.Linear(8, 20))
trainer = Trainer(model, nn.CrossEntropyLoss())
trainer.validate([{"src": torch.randint(0, 20, (2, 5)), "tgt": torch.randint(0, 20, (2, 5))} for _ in range(2)])
