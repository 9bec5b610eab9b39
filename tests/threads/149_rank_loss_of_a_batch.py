# thread: https://github.com/dillondavis/RecurrentAttentionConvolutionalNeuralNetwork/issues/4
# diagnosis: A ranking loss returns one value per sample, which worked as long as a batch had one.
# mistake: 32
# expected: TLN103
# symptom: raises RuntimeError: grad can be implicitly created only for scalar outputs

import torch
import torch.nn as nn
import torch.nn.functional as F


class RankLoss(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, scores1, scores2, target):
        p1 = F.softmax(scores1, dim=1).gather(1, target.view(-1, 1))
        p2 = F.softmax(scores2, dim=1).gather(1, target.view(-1, 1))
        return torch.clamp(p1 - p2 + self.margin, min=0)


class Manager:
    def __init__(self, scales, lr=0.01):
        self.scales = scales
        self.criterion_rank = RankLoss(0.05)
        self.optimizer = torch.optim.SGD(scales.parameters(), lr=lr)

    def do_batch(self, batch, label):
        scores = [scale(batch) for scale in self.scales]
        self.optimizer.zero_grad()
        self.criterion_rank(scores[0], scores[1], label).backward()
        self.optimizer.step()


Manager(nn.ModuleList([nn.Linear(5, 3), nn.Linear(5, 3)])).do_batch(torch.randn(4, 5), torch.tensor([0, 2, 1, 1]))
