import torch
import torch.nn as nn


class PinballLoss(nn.Module):
    def __init__(self, q=0.9):
        super().__init__()
        self.q = q

    def forward(self, pred, target):
        total = 0.0
        for p, t in zip(pred.flatten().tolist(), target.flatten().tolist()):
            diff = t - p
            total += max(self.q * diff, (self.q - 1) * diff)
        return torch.tensor(total / pred.numel(), requires_grad=True)


torch.manual_seed(0)
x = torch.rand(40, 3)
y = x.sum(dim=1, keepdim=True) + 0.2 * torch.randn(40, 1)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = PinballLoss()
for epoch in range(5):
    opt.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    opt.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
