# thread: https://github.com/jongwook/onsets-and-frames/issues/24
# diagnosis: The gradients are clipped after the step has used them.
# mistake: 21
# expected: TLN404
# symptom: prints step took the unclipped gradient: True

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loader, iterations, learning_rate, clip):
    optimizer = torch.optim.SGD(model.parameters(), learning_rate)
    for i, (audio, frames) in zip(range(iterations), loader):
        before = model.weight.detach().clone()
        losses = {"frame": (model(audio) - frames).pow(2).mean(), "size": model.weight.abs().mean()}
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if clip:
            clip_grad_norm_(model.parameters(), clip)
        moved = (model.weight - before).norm() / learning_rate
        print("step took the unclipped gradient:", bool(moved > 2 * clip))


data = [(torch.randn(4, 3) * 50, torch.randn(4, 2) * 50)] * 2
train(torch.nn.Linear(3, 2), data, iterations=2, learning_rate=1e-6, clip=3.0)
