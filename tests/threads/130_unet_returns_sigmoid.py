# thread: https://github.com/avBuffer/UNet3plus_pth/issues/23
# diagnosis: The segmentation network returns a sigmoid, and the training script builds a BCEWithLogitsLoss for it.
# mistake: 32
# expected: TLN601
# symptom: prints output within (0, 1): True

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class SmallUNet(nn.Module):
    def __init__(self, n_channels, n_classes):
        super().__init__()
        self.n_classes = n_classes
        self.down = nn.Conv2d(n_channels, 8, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(8, n_classes, 2, stride=2)

    def forward(self, x):
        d1 = self.up(F.relu(self.down(x)))
        return F.sigmoid(d1)


def train_net(net, args, loader):
    optimizer = torch.optim.RMSprop(net.parameters(), lr=args.lr, weight_decay=1e-8)
    criterion = nn.CrossEntropyLoss() if net.n_classes > 1 else nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        for imgs, true_masks in loader:
            masks_pred = net(imgs)
            loss = criterion(masks_pred, true_masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return masks_pred


data = [(torch.rand(2, 3, 8, 8), torch.randint(0, 2, (2, 1, 8, 8)).float())]
pred = train_net(SmallUNet(3, 1), argparse.Namespace(lr=1e-3, epochs=2), data)
print("output within (0, 1):", bool(((pred > 0) & (pred < 1)).all()))
