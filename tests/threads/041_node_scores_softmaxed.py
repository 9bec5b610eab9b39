# thread: https://github.com/mlelarge/graph_neural_net/pull/37
# diagnosis: The scores are softmaxed and then given to a cross entropy that softmaxes them again.
# mistake: 21
# expected: TLN601
# symptom: prints loss cannot fall below: 0.55

import torch
import torch.nn as nn


class MatchingLoss(nn.Module):
    def __init__(self, reduction="mean"):
        super().__init__()
        self.loss = nn.CrossEntropyLoss(reduction=reduction)
        self.normalize = torch.nn.Softmax(dim=2)

    def forward(self, raw_scores):
        total = 0.0
        probabilities = self.normalize(raw_scores)
        for scores in probabilities:
            total = total + self.loss(scores, torch.arange(len(scores)))
        return total / len(raw_scores)


perfect = 100 * torch.eye(3).repeat(2, 1, 1)
loss = MatchingLoss()(perfect)
print(f"loss cannot fall below: {loss.item():.2f}")
