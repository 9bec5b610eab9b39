# thread: https://github.com/hustzxd/EfficientPyTorch/issues/1
# diagnosis: The optimizer is built, and then the model's last layer is replaced.
# mistake: 16, 17
# expected: TLN305
# symptom: prints new layer trained: False

import argparse

import torch
from torch import nn


def main(args):
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 100))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum)
    model[4] = nn.Linear(8, args.classes)
    before = model[4].weight.detach().clone()
    for epoch in range(args.epochs):
        images, target = torch.rand(4, 3, 6, 6), torch.randint(0, args.classes, (4,))
        loss = criterion(model(images), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("new layer trained:", not torch.equal(before, model[4].weight))


main(argparse.Namespace(lr=0.1, momentum=0.9, classes=5, epochs=2))
