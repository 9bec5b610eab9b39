"""Mixed precision with a scaler, gradients accumulated over four batches, clipped after unscaling."""

import contextlib

import torch
from torch import nn
from torch.amp import GradScaler, autocast

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
ACCUMULATE = 2


def build():
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Dropout(0.1), nn.Linear(8, 3)).to(device)


def run_epoch(model, loader, criterion, optimizer, scheduler, scaler):
    model.train()
    running = torch.zeros((), device=device)
    optimizer.zero_grad(set_to_none=True)
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        with autocast(device_type=device, dtype=torch.bfloat16):
            logits = model(x)
            loss = criterion(logits, y) / ACCUMULATE
        scaler.scale(loss).backward()
        running += loss.detach() * ACCUMULATE
        if (step + 1) % ACCUMULATE == 0:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            scheduler.step()
    return (running / len(loader)).item()


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    correct = total = 0
    for x, y in loader:
        with autocast(device_type=device, dtype=torch.bfloat16):
            prediction = model(x.to(device)).argmax(dim=-1)
        correct += (prediction == y.to(device)).sum().item()
        total += len(y)
    return correct / total


def run_with_sync(model, batches, optimizer):
    """As with a wrapped model: gradients are exchanged with the last micro batch only."""
    for number, (x, y) in enumerate(batches):
        last = number == len(batches) - 1
        context = contextlib.nullcontext() if last else getattr(model, "no_sync", contextlib.nullcontext)()
        with context:
            loss = nn.functional.cross_entropy(model(x), y) / len(batches)
            loss.backward()
    optimizer.step()
    optimizer.zero_grad()


loader = [(torch.rand(4, 6), torch.randint(3, (4,))) for _ in range(4)]
model = build()
decay = [p for p in model.parameters() if p.ndim > 1]
rest = [p for p in model.parameters() if p.ndim <= 1]
groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
scaler = GradScaler(device, enabled=device == "cuda")
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(2):
    print(epoch, run_epoch(model, loader, criterion, optimizer, scheduler, scaler), evaluate(model, loader))
run_with_sync(model, loader, optimizer)
