# thread: https://github.com/sicara/easy-few-shot-learning/pull/129
# diagnosis: A script keeps the best state dict of a backbone by reference in its loop over the epochs.
# mistake: 16, 30
# expected: TLN206
# symptom: prints state moved on: True

import torch
from torch import nn, optim

n_epochs = 3
model = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 4))
optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2], gamma=0.1)
loader = [(torch.randn(10, 16), torch.randint(0, 4, (10,))) for _ in range(3)]

best_state = model.state_dict()
best_accuracy = -1.0
for epoch in range(n_epochs):
    model.train()
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = sum((model(x).argmax(1) == y).float().mean().item() for x, y in loader) - epoch
    if accuracy > best_accuracy:
        best_accuracy = accuracy
        best_state = model.state_dict()
        copied = best_state["0.weight"].clone()
    scheduler.step()
print("state moved on:", not torch.equal(copied, best_state["0.weight"]))
model.load_state_dict(best_state)
