# thread: https://github.com/optuna/optuna/pull/1725
# diagnosis: The mode is set to train once, before the epochs, and to eval at the end of each.
# mistake: 24
# expected: TLN407
# symptom: prints epochs in training mode: 1

import torch
import torch.nn as nn
import torch.nn.functional as F


def objective(lr, dropout, epochs, train_batches, valid_batches):
    model = nn.Sequential(nn.Linear(20, 12), nn.ReLU(), nn.Dropout(dropout), nn.Linear(12, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    in_train_mode = 0
    model.train()
    for epoch in range(epochs):
        in_train_mode += model.training
        for data, target in train_batches:
            optimizer.zero_grad()
            F.cross_entropy(model(data), target).backward()
            optimizer.step()

        model.eval()
        correct = 0
        with torch.no_grad():
            for data, target in valid_batches:
                correct += model(data).argmax(dim=1).eq(target).sum().item()
    print("epochs in training mode:", in_train_mode)
    return correct


batches = [(torch.randn(6, 20), torch.randint(0, 4, (6,))) for _ in range(3)]
objective(1e-3, 0.2, epochs=4, train_batches=batches, valid_batches=batches)
