# thread: https://github.com/ServiceNow/LCFCN/issues/20
# diagnosis: A helper of the loss sets eval between model.train() and the forward pass that is trained.
# mistake: 14, 20
# expected: TLN407
# symptom: prints trained in eval mode: True

import torch
import torch.nn as nn
import torch.nn.functional as F


@torch.no_grad()
def get_blobs(model, batch):
    model.eval()
    return (model(batch["images"]).argmax(1) > 0).long()


def compute_loss(model, batch):
    model.train()
    blobs = get_blobs(model, batch)
    scores = F.log_softmax(model(batch["images"]), dim=1)
    print("trained in eval mode:", not model.training)
    loss = F.nll_loss(scores, batch["points"], ignore_index=255)
    return loss + F.nll_loss(scores, blobs) / (1 + blobs.sum())


net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 2, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-5)
for _ in range(2):
    batch = {"images": torch.rand(1, 3, 10, 10), "points": torch.randint(0, 2, (1, 10, 10))}
    opt.zero_grad()
    loss = compute_loss(net, batch)
    loss.backward()
    opt.step()
