# thread: https://github.com/yudi-mars/daisyRec/pull/15
# diagnosis: The model ends in a sigmoid and is trained with BCEWithLogitsLoss.
# mistake: 22
# expected: TLN601
# symptom: prints predictions are probabilities: True

import torch
import torch.nn as nn


class FactorModel(nn.Module):
    def __init__(self, user_num, item_num, factors):
        super().__init__()
        self.users, self.items = nn.Embedding(user_num, factors), nn.Embedding(item_num, factors)
        self.criterion = nn.BCEWithLogitsLoss(reduction="sum")

    def forward(self, user, item):
        return torch.sigmoid((self.users(user) * self.items(item)).sum(dim=-1))

    def calc_loss(self, batch):
        user, item, label = batch
        return self.criterion(self(user, item), label.float())

    def fit(self, batches, epochs, lr):
        optimizer = torch.optim.SGD(self.parameters(), lr=lr)
        for epoch in range(epochs):
            for batch in batches:
                optimizer.zero_grad()
                loss = self.calc_loss(batch)
                loss.backward()
                optimizer.step()


model = FactorModel(6, 9, 4)
batch = (torch.randint(0, 6, (8,)), torch.randint(0, 9, (8,)), torch.randint(0, 2, (8,)))
model.fit([batch], epochs=2, lr=0.01)
given = model(batch[0], batch[1])
print("predictions are probabilities:", bool(((given > 0) & (given < 1)).all()))
