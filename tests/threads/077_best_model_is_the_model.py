# thread: https://github.com/thunlp/OpenKE/pull/131
# diagnosis: The best model is kept as another name of the model that goes on training.
# mistake: 29
# expected: TLN312
# symptom: prints best is a copy: False

import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, learning_rate, valid_steps):
        self.trainModel = model
        self.optimizer = torch.optim.Adagrad(model.parameters(), lr=learning_rate)
        self.valid_steps = valid_steps

    def run(self, triples, epochs):
        best_hit, best_model = -1.0, None
        for epoch in range(epochs):
            self.optimizer.zero_grad()
            h, r, t = self.trainModel(triples).unbind(1)
            loss = (h + r - t).norm(p=1, dim=-1).mean()
            loss.backward()
            self.optimizer.step()
            if (epoch + 1) % self.valid_steps == 0:
                hit = -loss.item()
                if hit > best_hit or best_model is None:
                    best_hit = hit
                    best_model = self.trainModel
        return best_model


model = nn.Embedding(12, 5)
best = Trainer(model, 0.5, valid_steps=1).run(torch.randint(0, 12, (7, 3)), epochs=4)
print("best is a copy:", best is not model)
