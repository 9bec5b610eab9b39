# thread: https://github.com/ultralytics/ultralytics/pull/11217
# diagnosis: What the last batches of an epoch accumulated is thrown away at the start of the next one.
# mistake: 16
# expected: TLN405
# symptom: prints lost batches: 2

import torch
import torch.nn as nn


def train(model, optimizer, loader, epochs, accumulate):
    ni = last_step = lost = 0
    for epoch in range(epochs):
        lost += ni - last_step
        last_step = ni
        optimizer.zero_grad()
        for x, y in loader:
            loss = nn.functional.smooth_l1_loss(model(x), y)
            loss.backward()
            ni += 1
            if ni - last_step >= accumulate:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm=10.0)
                optimizer.step()
                optimizer.zero_grad()
                last_step = ni
    return lost


net = nn.Linear(5, 4)
data = [(torch.randn(2, 5), torch.randn(2, 4)) for _ in range(5)]
print("lost batches:", train(net, torch.optim.SGD(net.parameters(), lr=0.01), data, epochs=3, accumulate=4))
