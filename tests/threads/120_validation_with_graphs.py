# thread: https://github.com/hszhao/semseg/issues/60
# diagnosis: The validation switches to eval and computes its outputs with grad mode on.
# mistake: 15, 35
# expected: TLN406
# symptom: prints outputs have graphs: True

import torch
import torch.nn as nn


def validate(val_loader, model, criterion):
    model.eval()
    total, hits = 0.0, 0
    for i, (input, target) in enumerate(val_loader):
        output = model(input)
        loss = criterion(output, target)
        total += loss.item()
        hits += (output.argmax(1) == target).sum().item()
    print("outputs have graphs:", output.requires_grad)
    return total / len(val_loader), hits


def main(epochs):
    model = nn.Conv2d(3, 4, 3, padding=1)
    criterion = nn.CrossEntropyLoss(ignore_index=255)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = [(torch.rand(2, 3, 8, 8), torch.randint(0, 4, (2, 8, 8))) for _ in range(2)]
    for epoch in range(epochs):
        model.train()
        for input, target in data:
            loss = criterion(model(input), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        validate(data, model, criterion)


main(epochs=1)
