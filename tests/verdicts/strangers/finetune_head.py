import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.head = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.head(self.body(x))


def finetune(pretrained, n_new, x, y, epochs=15):
    optimizer = torch.optim.SGD(pretrained.parameters(), lr=0.1, momentum=0.9)
    pretrained.head = nn.Linear(32, n_new)
    start = pretrained.head.weight.detach().clone()
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(pretrained(x), y)
        loss.backward()
        optimizer.step()
    change = (pretrained.head.weight.detach() - start).abs().max().item()
    print(f"loss {loss.item():.3f}; head moved by {change:.4f}")
    return change


if __name__ == "__main__":
    torch.manual_seed(0)
    finetune(Backbone(10), 3, torch.randn(48, 16), torch.randint(0, 3, (48,)))
