# correct: 173_optimizer_before_replacement.py
# cure: The optimizer is built last.

import argparse

import torch
from torch import nn


def main(args):
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 100))
    criterion = nn.CrossEntropyLoss()
    model[4] = nn.Linear(8, args.classes)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum)
    before = model[4].weight.detach().clone()
    for epoch in range(args.epochs):
        images, target = torch.rand(4, 3, 6, 6), torch.randint(0, args.classes, (4,))
        loss = criterion(model(images), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("new layer trained:", not torch.equal(before, model[4].weight))


main(argparse.Namespace(lr=0.1, momentum=0.9, classes=5, epochs=2))
