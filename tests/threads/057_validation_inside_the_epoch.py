# thread: https://github.com/joeynmt/joeynmt/issues/184
# diagnosis: Validation in the middle of an epoch sets the evaluation mode, and training goes on in it.
# mistake: 12, 32
# expected: TLN407
# symptom: prints still training mode: False

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
            print("still training mode:", self.model.training)

    def _validate(self, dev_data):
        return predict(self.model, dev_data)


net = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.3), nn.Linear(8, 3))
data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for _ in range(4)]
TrainManager(net, freq=2).train_and_validate(data, data[:1], epochs=1)
