import torch
from torch import nn
import torch.nn.functional as F


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 16)
        self.box = nn.Linear(16, 4)
        self.cls = nn.Linear(16, 3)

    def forward(self, x):
        h = F.relu(self.trunk(x))
        return self.box(h), self.cls(h)


def step(model, opt, x, boxes, labels):
    pred_box, pred_cls = model(x)
    loss = F.cross_entropy(pred_cls, labels)
    loss = F.l1_loss(pred_box, boxes)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


torch.manual_seed(0)
model = TwoHeads()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for it in range(10):
    print(it, step(model, opt, torch.randn(16, 8), torch.rand(16, 4), torch.randint(0, 3, (16,))))
