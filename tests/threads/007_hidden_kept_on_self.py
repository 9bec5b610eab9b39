# thread: https://github.com/sgadgil6/cnslab_fmri/issues/4
# diagnosis: The module keeps its hidden state on self across batches, so the second backward reaches the first graph.
# mistake: 20, 31
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SignalClassifier(nn.Module):
    def __init__(self, n_in, n_hidden, batch):
        super(SignalClassifier, self).__init__()
        self.lstm = nn.LSTM(n_in, n_hidden, batch_first=True)
        self.fc = nn.Linear(n_hidden, 1)
        self.hidden = (torch.zeros(1, batch, n_hidden), torch.zeros(1, batch, n_hidden))

    def forward(self, x):
        seq, self.hidden = self.lstm(x, self.hidden)
        return torch.sigmoid(self.fc(seq[:, -1])).squeeze(1)


def run(epochs, loader, model):
    opt = torch.optim.Adam(model.parameters())
    bce = nn.BCELoss()
    for epoch in range(epochs):
        for scans, diagnosis in loader:
            opt.zero_grad()
            loss = bce(model(scans), diagnosis)
            loss.backward()
            opt.step()


data = TensorDataset(torch.randn(32, 10, 6), torch.randint(0, 2, (32,)).float())
run(2, DataLoader(data, batch_size=8, shuffle=True), SignalClassifier(6, 12, 8))
