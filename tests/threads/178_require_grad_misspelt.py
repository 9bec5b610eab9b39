# thread: https://github.com/udacity/deep-learning-v2-pytorch/issues/12
# diagnosis: The attribute's name lacks an s, so the features go on learning.
# mistake: 23
# expected: TLN310
# symptom: prints features frozen: False

import torch
from torch import nn, optim


class Vgg(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.classifier = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 10))

    def forward(self, x):
        return self.classifier(self.features(x))


vgg = Vgg()
for param in vgg.features.parameters():
    param.require_grad = False

vgg.classifier[2] = nn.Linear(8, 5)
optimizer = optim.SGD(vgg.classifier.parameters(), lr=0.001)
for epoch in range(2):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(vgg(torch.rand(3, 3, 8, 8)), torch.randint(0, 5, (3,)))
    loss.backward()
    optimizer.step()
print("features frozen:", vgg.features[0].weight.grad is None)
