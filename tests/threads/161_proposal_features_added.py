# thread: https://github.com/zaiweizhang/H3DNet/issues/29
# diagnosis: Features are refined by relu and then raised in place by the original ones.
# mistake: 23, 31
# expected: TLN201
# symptom: raises RuntimeError: modified by an inplace operation

import torch
import torch.nn as nn
import torch.nn.functional as F


class RefineProposals(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(channels, channels, 1), nn.Conv1d(channels, channels, 1)
        self.bn1, self.bn2 = nn.BatchNorm1d(channels), nn.BatchNorm1d(channels)
        self.score = nn.Conv1d(channels, classes, 1)

    def forward(self, features, end_points):
        original_feature = features.contiguous()
        net = F.relu(self.bn1(self.conv1(features)))
        net = F.relu(self.bn2(self.conv2(net)))
        net += original_feature
        end_points["scores"] = self.score(net)
        return net, end_points


module = RefineProposals(8, 4)
net, end_points = module(torch.rand(2, 8, 10), {})
loss = end_points["scores"].logsumexp(1).mean()
loss.backward()
