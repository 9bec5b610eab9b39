"""Several trainers share one model's memory (threads here), each with an optimizer of its own."""

import threading

import torch
import torch.nn.functional as F
from torch import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=3)
        self.conv2_drop = nn.Dropout2d()
        self.fc1 = nn.Linear(36, 8)
        self.fc2 = nn.Linear(8, 4)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv2_drop(self.conv1(x)), 2))
        x = x.view(-1, 36)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, training=self.training)
        x = self.fc2(x)
        return F.log_softmax(x, dim=1)


def train_epoch(epoch, rank, model, data_loader, optimizer):
    model.train()
    for batch_idx, (data, target) in enumerate(data_loader):
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % 10 == 0:
            print(f"{rank}: epoch {epoch} {loss.item():.6f}")


def train(rank, model, batches):
    optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    for epoch in range(2):
        train_epoch(epoch, rank, model, batches, optimizer)


def test(model, batches):
    model.eval()
    losses, hits = [], 0
    with torch.no_grad():
        for data, target in batches:
            output = model(data)
            losses.append(F.nll_loss(output, target, reduction="sum"))
            hits += output.max(1)[1].eq(target).sum().item()
    print(torch.stack(losses).sum().item(), hits)


if __name__ == "__main__":
    torch.manual_seed(1)
    model = Net()
    model.share_memory()
    batches = [(torch.rand(3, 1, 8, 8), torch.randint(4, (3,))) for _ in range(2)]
    workers = [threading.Thread(target=train, args=(rank, model, batches)) for rank in range(2)]
    for worker in workers:  # one after the other: threads, unlike processes, would race for the same `.grad`
        worker.start()
        worker.join()
    test(model, batches)
