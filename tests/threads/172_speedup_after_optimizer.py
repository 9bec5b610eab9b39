# thread: https://github.com/microsoft/nni/issues/4521
# diagnosis: The layers are replaced by smaller ones after the optimizer got the parameters of the old ones.
# mistake: 29, 35
# expected: TLN305
# symptom: prints pruned layer trained: False

import torch
import torch.nn as nn


def speedup(model, masks):
    for name, keep in masks.items():
        old = getattr(model, name)
        new = nn.Linear(old.in_features, old.out_features)
        new.weight.data.copy_(old.weight.data * keep)
        setattr(model, name, new)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
speedup(model, {"fc1": (torch.rand(8, 8) > 0.5).float(), "fc2": torch.ones(2, 8)})
before = model.fc2.weight.detach().clone()
for x, y in [(torch.randn(4, 8), torch.randint(0, 2, (4,))) for _ in range(3)]:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
print("pruned layer trained:", not torch.equal(before, model.fc2.weight))
