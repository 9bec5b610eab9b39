"""Two pictures through one network: pairs, a sigmoid at the end and a loss that expects it."""

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(2))
        self.fc = nn.Sequential(nn.Linear(32, 8), nn.ReLU(inplace=True), nn.Linear(8, 1))
        self.sigmoid = nn.Sigmoid()
        self.body.apply(self.init_weights)
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            with torch.no_grad():
                m.bias.fill_(0.01)

    def forward_once(self, x):
        output = self.body(x)
        return output.view(output.size()[0], -1)

    def forward(self, input1, input2):
        output1 = self.forward_once(input1)
        output2 = self.forward_once(input2)
        output = torch.cat((output1, output2), 1)
        return self.sigmoid(self.fc(output))


class Matcher(Dataset):
    def __init__(self, count):
        self.images = torch.rand(count, 1, 6, 6)
        self.labels = torch.randint(2, (count,))

    def __len__(self):
        return len(self.images) // 2

    def __getitem__(self, index):
        other = len(self.images) - 1 - index
        same = self.labels[index] == self.labels[other]
        return self.images[index], self.images[other], same.float()


def train(model, loader, optimizer, epoch):
    model.train()
    criterion = nn.BCELoss()
    for batch_idx, (images_1, images_2, targets) in enumerate(loader):
        optimizer.zero_grad()
        outputs = model(images_1, images_2).squeeze()
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        print(epoch, batch_idx, loss.item())


def test(model, loader):
    model.eval()
    test_loss = 0
    correct = 0
    with torch.no_grad():
        for images_1, images_2, targets in loader:
            outputs = model(images_1, images_2).squeeze()
            test_loss += F.binary_cross_entropy(outputs, targets).sum().item()
            pred = torch.where(outputs > 0.5, 1, 0)
            correct += pred.eq(targets.view_as(pred)).sum().item()
    print(test_loss / len(loader.dataset), correct)


def contrastive(model, a, b, target, margin=1.0):
    distance = F.pairwise_distance(model.forward_once(a), model.forward_once(b))
    return (target * distance.pow(2) + (1 - target) * F.relu(margin - distance).pow(2)).mean()


model = SiameseNetwork()
optimizer = optim.Adadelta(model.parameters(), lr=0.5)
scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
loader = DataLoader(Matcher(12), batch_size=3)
for epoch in range(2):
    train(model, loader, optimizer, epoch)
    test(model, loader)
    scheduler.step()
for a, b, target in loader:
    optimizer.zero_grad()
    contrastive(model, a, b, target).backward()
    optimizer.step()
