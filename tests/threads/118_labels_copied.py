# thread: https://github.com/KRLabsOrg/LettuceDetect/pull/18
# diagnosis: The labels, a tensor made above, are passed to torch.tensor again.
# mistake: 18
# expected: TLN706
# symptom: warns To copy construct from a tensor

import torch


class SpanDetector:
    def __init__(self, width, device="cpu"):
        self.head = torch.nn.Linear(width, 2).to(device)
        self.device = device

    def prepare(self, answer_start, length):
        labels = torch.full((length,), -100)
        labels[answer_start:] = 0
        labels = torch.tensor(labels, device=self.device)
        return labels

    def predict(self, hidden, answer_start):
        labels = self.prepare(answer_start, len(hidden))
        with torch.no_grad():
            predictions = self.head(hidden).argmax(-1)
        return torch.where(labels == -100, labels, predictions)


print(SpanDetector(4).predict(torch.randn(7, 4), answer_start=3))
