# thread: https://github.com/Turoad/lanedet/issues/32
# diagnosis: The head for the existence of lanes returns probabilities, and the loss of the detector expects logits.
# mistake: 32
# expected: TLN601
# symptom: prints cost of a sure answer: 0.31

import torch
import torch.nn as nn
import torch.nn.functional as F


class ExistHead(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.dropout = nn.Dropout2d(0.1)
        self.conv8 = nn.Conv2d(channels, classes, 1)
        self.fc10 = nn.Linear(classes, classes)

    def forward(self, x):
        x = self.conv8(self.dropout(x)).mean(dim=(2, 3))
        return torch.sigmoid(self.fc10(F.relu(x)))


class Detector(nn.Module):
    def __init__(self, lanes):
        super().__init__()
        self.exist = ExistHead(8, lanes)
        self.bce_loss = nn.BCEWithLogitsLoss()

    def forward(self, feats, batch):
        exist = self.exist(feats)
        return {"loss_exist": self.bce_loss(exist, batch["lane_exist"].float())}


detector = Detector(lanes=4)
nn.init.constant_(detector.exist.fc10.bias, 50.0)
losses = detector(torch.rand(2, 8, 5, 5), {"lane_exist": torch.ones(2, 4)})
print(f"cost of a sure answer: {losses['loss_exist'].item():.2f}")
