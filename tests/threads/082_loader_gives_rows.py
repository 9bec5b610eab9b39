# thread: https://github.com/pytorch/pytorch/issues/16045
# diagnosis: The model returns a column per batch, the dataset rows, and the loss compares everything with everything.
# mistake: 15
# expected: TLN606
# symptom: warns Using a target size

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def train_epoch(model, dl, opt, loss_func):
    model.train()
    for xb, yb in dl:
        loss = loss_func(model(xb), yb)
        loss.backward()
        opt.step()
        opt.zero_grad()


x = torch.randn(40, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5])
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
dl = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)
for epoch in range(2):
    train_epoch(model, dl, optim.Adam(model.parameters(), lr=1e-2), nn.MSELoss())
