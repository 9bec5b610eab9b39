# thread: https://github.com/tk-rusch/coRNN/issues/1
# diagnosis: The test function sets eval in the middle of the training loop.
# mistake: 29, 41
# expected: TLN407
# symptom: prints model.training False

import torch
from torch import nn, optim


class Oscillator(nn.Module):
    def __init__(self, n_hid):
        super().__init__()
        self.cell, self.drop, self.readout = nn.RNNCell(2, n_hid), nn.Dropout(0.1), nn.Linear(n_hid, 1)

    def forward(self, x):
        h = torch.zeros(x.size(1), self.cell.hidden_size)
        for t in range(x.size(0)):
            h = self.cell(x[t], h)
        return self.readout(self.drop(h))


model = Oscillator(12)
objective = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=2e-2)


def test():
    model.eval()
    with torch.no_grad():
        return objective(model(torch.rand(6, 20, 2)), torch.ones(20, 1)).item()


for i in range(6):
    batch, label = torch.rand(6, 8, 2), torch.ones(8, 1)
    optimizer.zero_grad()
    loss = objective(model(batch), label)
    loss.backward()
    optimizer.step()
    if i % 3 == 0 and i != 0:
        print(test())
print("model.training", model.training)
