# correct: 057_validation_inside_the_epoch.py
# cure: The mode is set back after validation.

import torch
from torch import nn


def predict(model, data):
    model.eval()
    with torch.no_grad():
        return [model(x).argmax(-1) for x, _ in data]


class TrainManager:
    def __init__(self, model, freq):
        self.model, self.freq, self.steps = model, freq, 0
        self.optimizer = torch.optim.Adam(model.parameters())

    def train_and_validate(self, train_data, dev_data, epochs):
        for epoch in range(epochs):
            self.model.train()
            for src, trg in train_data:
                self.optimizer.zero_grad()
                loss = nn.functional.cross_entropy(self.model(src), trg)
                loss.backward()
                self.optimizer.step()
                self.steps += 1
                if self.steps % self.freq == 0:
                    self._validate(dev_data)
                    self.model.train()
            print("still training mode:", self.model.training)

    def _validate(self, dev_data):
        return predict(self.model, dev_data)


net = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.3), nn.Linear(8, 3))
data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for _ in range(4)]
TrainManager(net, freq=2).train_and_validate(data, data[:1], epochs=1)
