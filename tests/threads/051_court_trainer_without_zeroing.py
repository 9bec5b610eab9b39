# thread: https://github.com/yastrebksv/TennisCourtDetector/issues/7
# diagnosis: The training function has a backward and a step for each batch, and nothing that clears the gradients.
# mistake: 19
# expected: TLN402
# symptom: prints grows with the batches: True

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, train_loader, optimizer, criterion, epoch, max_iters=100):
    model.train()
    losses = []
    for iter_id, batch in enumerate(train_loader):
        out = model(batch[0].float())
        loss = criterion(torch.sigmoid(out), batch[1].float())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if iter_id > max_iters:
            break
    return sum(losses) / len(losses)


model = nn.Conv2d(3, 15, kernel_size=3, padding=1)
frames = TensorDataset(torch.ones(4, 3, 6, 6), torch.zeros(4, 15, 6, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
loader = DataLoader(frames, batch_size=1, shuffle=True)
train(model, loader, optimizer, nn.MSELoss(), epoch=0)
norm = model.weight.grad.norm()
train(model, loader, optimizer, nn.MSELoss(), epoch=1)
print("grows with the batches:", bool(model.weight.grad.norm() > 1.9 * norm))
