import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(12, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 4))

    def forward(self, x):
        return self.seq(x)


def accuracy(model, loader):
    model.eval()
    hits = count = 0
    for x, y in loader:
        logits = model(x)
        hits += (logits.argmax(dim=1) == y).sum().item()
        count += y.numel()
    return hits / count


def main():
    torch.manual_seed(0)
    x = torch.randn(200, 12)
    y = x[:, :4].argmax(dim=1)
    loader = DataLoader(TensorDataset(x, y), batch_size=50)
    print("untrained accuracy:", accuracy(Net(), loader))


if __name__ == "__main__":
    main()
