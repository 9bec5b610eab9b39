# thread: https://github.com/wkentaro/pytorch-fcn/issues/57
# diagnosis: The method validate switches to the evaluation mode, and the iterations that follow stay in it.
# mistake: 20, 31
# expected: TLN407
# symptom: prints training: False

import torch
import torch.nn as nn


class Trainer(object):
    def __init__(self, model, optimizer, train_loader, val_loader, interval_validate):
        self.model = model
        self.optim = optimizer
        self.train_loader, self.val_loader = train_loader, val_loader
        self.interval_validate = interval_validate
        self.iteration = 0

    def validate(self):
        self.model.eval()
        hits = 0
        with torch.no_grad():
            for data, target in self.val_loader:
                hits += (self.model(data).argmax(1) == target).sum().item()
        return hits

    def train_epoch(self):
        self.model.train()
        for data, target in self.train_loader:
            if self.iteration % self.interval_validate == 0:
                self.validate()
            self.optim.zero_grad()
            loss = nn.functional.cross_entropy(self.model(data), target)
            loss.backward()
            self.optim.step()
            self.iteration += 1
        print("training:", self.model.training)


fcn = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.Dropout2d(), nn.Conv2d(6, 4, 1))
batches = [(torch.randn(1, 3, 8, 8), torch.randint(0, 4, (1, 8, 8))) for _ in range(3)]
Trainer(fcn, torch.optim.SGD(fcn.parameters(), lr=1e-3), batches, batches[:1], 2).train_epoch()
