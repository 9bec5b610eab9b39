import torch
from torch import nn
import torch.nn.functional as F


def info_nce(a, b, temperature=0.2):
    a, b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    logits = a @ b.T / temperature
    return F.cross_entropy(logits, torch.arange(a.size(0)))


def train_step(encoder, optimizer, batch):
    view1 = batch + 0.1 * torch.randn_like(batch)
    view2 = batch + 0.1 * torch.randn_like(batch)
    loss = info_nce(encoder(view1), encoder(view2))
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8))
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)
    data = torch.randn(64, 20)
    for i in range(20):
        value = train_step(encoder, optimizer, data)
        if i % 5 == 0:
            print(i, value)
