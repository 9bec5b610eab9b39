# thread: https://github.com/pliang279/MultiBench/issues/26
# diagnosis: model.train() is called in the validation part, after eval, so the validation runs with dropout.
# mistake: 24
# expected: none
# symptom: prints validated in training mode: True

import torch
from torch import nn


def train(model, train_data, valid_data, total_epochs, optimizer):
    criterion = nn.MSELoss()
    for epoch in range(total_epochs):
        model.train()
        for x, y in train_data:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            total = 0.0
            for x, y in valid_data:
                model.train()
                total += criterion(model(x), y).item()
        print("validated in training mode:", model.training)


net = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.5), nn.Linear(16, 1))
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
train(net, data, data[:1], 2, torch.optim.SGD(net.parameters(), lr=0.01))
