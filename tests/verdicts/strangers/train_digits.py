import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_loader():
    x = torch.randn(256, 1, 8, 8)
    y = torch.randint(0, 10, (256,))
    return DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.head = nn.Linear(4 * 16, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv(x)), 2)
        return self.head(x.flatten(1))


def run_epoch(model, loader, optimizer, criterion):
    epoch_loss = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        epoch_loss += loss * images.size(0)
    return epoch_loss / len(loader.dataset)


def main():
    torch.manual_seed(0)
    model = SmallCNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = make_loader()
    for epoch in range(3):
        avg = run_epoch(model, loader, optimizer, nn.CrossEntropyLoss())
        print(f"epoch {epoch} loss {avg:.4f}")
    return avg


if __name__ == "__main__":
    main()
