# thread: https://github.com/pytorch/pytorch/issues/140469
# diagnosis: The random leaf is scaled before it is handed to the optimizer, so that is no leaf.
# mistake: 13, 15
# expected: TLN304, TLN306
# symptom: raises ValueError: can't optimize a non-leaf Tensor

import argparse

import torch


def synthesize(args, classes, shape):
    images = torch.randn(size=(classes * args.per_class, *shape), dtype=torch.float, requires_grad=True) * 0.01
    labels = torch.arange(classes).repeat_interleave(args.per_class)
    optimizer = torch.optim.SGD([images], lr=args.lr, momentum=0.5)
    return images, labels, optimizer


args = argparse.Namespace(per_class=3, lr=0.1, steps=5)
images, labels, optimizer = synthesize(args, classes=4, shape=(1, 6, 6))
classifier = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 4))
for step in range(args.steps):
    loss = torch.nn.functional.cross_entropy(classifier(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
