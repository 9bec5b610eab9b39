import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


def warmup(step, total=10):
    return min(1.0, (step + 1) / total)


def main():
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = LambdaLR(optimizer, warmup)
    x = torch.randn(4, 6, 8)
    for step in range(12):
        optimizer.zero_grad()
        loss = (model(x) - x).pow(2).mean()
        loss.backward()
        scheduler.step()
        optimizer.step()
        print(step, scheduler.get_last_lr()[0], loss.item())


if __name__ == "__main__":
    main()
