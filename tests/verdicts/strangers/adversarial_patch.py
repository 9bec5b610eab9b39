import torch
from torch import nn


def attack(model, image, target, steps=20, lr=0.05):
    for p in model.parameters():
        p.requires_grad_(False)
    patch = torch.rand(1, 3, 4, 4, requires_grad=True) * 0.1
    opt = torch.optim.Adam([patch], lr=lr)
    for _ in range(steps):
        padded = nn.functional.pad(patch, (2, 6, 2, 6))
        logits = model(image + padded)
        loss = nn.functional.cross_entropy(logits, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return patch.detach()


if __name__ == "__main__":
    torch.manual_seed(0)
    victim = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(400, 10)).eval()
    out = attack(victim, torch.rand(1, 3, 12, 12), torch.tensor([3]))
    print(out.abs().max())
