"""Sine waves with two LSTM cells, trained by L-BFGS; the forecast feeds on itself."""

import numpy as np
import torch
from torch import nn, optim

np.random.seed(2)
torch.manual_seed(0)
T, L, N = 20, 25, 4
x = np.empty((N, L), "int64")
x[:] = np.array(range(L)) + np.random.randint(-4 * T, 4 * T, N).reshape(N, 1)
data = np.sin(x / 1.0 / T).astype("float64")


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm1 = nn.LSTMCell(1, 5)
        self.lstm2 = nn.LSTMCell(5, 5)
        self.linear = nn.Linear(5, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t = torch.zeros(input.size(0), 5, dtype=torch.double)
        c_t = torch.zeros(input.size(0), 5, dtype=torch.double)
        h_t2 = torch.zeros(input.size(0), 5, dtype=torch.double)
        c_t2 = torch.zeros(input.size(0), 5, dtype=torch.double)

        for input_t in input.split(1, dim=1):
            h_t, c_t = self.lstm1(input_t, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        for i in range(future):
            h_t, c_t = self.lstm1(output, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        return torch.cat(outputs, dim=1)


input = torch.from_numpy(data[1:, :-1])
target = torch.from_numpy(data[1:, 1:])
test_input = torch.from_numpy(data[:1, :-1])
test_target = torch.from_numpy(data[:1, 1:])
seq = Sequence()
seq.double()
criterion = nn.MSELoss()
optimizer = optim.LBFGS(seq.parameters(), lr=0.8, max_iter=2)
for i in range(2):
    print("STEP: ", i)

    def closure():
        optimizer.zero_grad()
        out = seq(input)
        loss = criterion(out, target)
        print("loss:", loss.item())
        loss.backward()
        return loss

    optimizer.step(closure)
    with torch.no_grad():
        future = 5
        pred = seq(test_input, future=future)
        loss = criterion(pred[:, :-future], test_target)
        print("test loss:", loss.item())
        y = pred.detach().numpy()
    print(y[0][-1])
