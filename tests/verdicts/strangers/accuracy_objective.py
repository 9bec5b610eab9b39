import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def error_rate(logits, labels):
    predicted = logits.argmax(dim=1)
    return (predicted != labels).float().mean()


torch.manual_seed(0)
x = torch.randn(60, 4)
labels = torch.randint(0, 3, (60,))
clf = Classifier()
opt = torch.optim.SGD(clf.parameters(), lr=0.1)
for epoch in range(10):
    opt.zero_grad()
    loss = error_rate(clf(x), labels)
    loss.backward()
    opt.step()
    print(epoch, loss.item())
