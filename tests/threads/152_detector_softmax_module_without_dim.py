# thread: https://github.com/amdegroot/ssd.pytorch/issues/114
# diagnosis: A detector builds nn.Softmax() without a dimension for its class scores.
# mistake: 17, 23
# expected: TLN602
# symptom: warns Implicit dimension choice for softmax has been deprecated

import torch
import torch.nn as nn


class Detector(nn.Module):
    def __init__(self, phase, num_classes, boxes):
        super().__init__()
        self.phase, self.num_classes, self.boxes = phase, num_classes, boxes
        self.conf = nn.Conv2d(4, boxes * num_classes, 3, padding=1)
        if phase == "test":
            self.softmax = nn.Softmax()

    def forward(self, x):
        conf = self.conf(x).permute(0, 2, 3, 1).contiguous()
        conf = conf.view(conf.size(0), -1)
        if self.phase == "test":
            return self.softmax(conf.view(-1, self.num_classes))
        return conf.view(conf.size(0), -1, self.num_classes)


net = Detector("test", num_classes=3, boxes=2)
print(net(torch.rand(1, 4, 5, 5)).shape)
