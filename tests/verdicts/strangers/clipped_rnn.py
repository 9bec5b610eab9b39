import torch
from torch import nn


def make_batch(n=32, length=15):
    x = torch.randint(0, 2, (n, length, 1)).float()
    return x, x.sum(dim=1)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(1, 10, nonlinearity="relu", batch_first=True)
        self.fc = nn.Linear(10, 1)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.fc(h[-1])


torch.manual_seed(0)
model = Counter()
opt = torch.optim.SGD(model.parameters(), lr=1e-3)
MAX_NORM = 0.5
for step in range(20):
    x, y = make_batch()
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    norm = nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
    if step % 5 == 0:
        print(f"{step} loss={loss.item():.3f} norm={norm.item():.2f}")
