# thread: https://github.com/qubvel-org/segmentation_models.pytorch/pull/611
# diagnosis: The thresholded prediction is wrapped in a new tensor that requires grad, so that backward runs and nothing learns.
# mistake: 14
# expected: TLN105, TLN706
# symptom: prints learns: False

import torch
import torch.nn as nn


def _threshold(x, threshold=None):
    if threshold is None:
        return x
    return torch.tensor((x > threshold).type(x.dtype), requires_grad=True)


class DiceLoss(nn.Module):
    def __init__(self, eps=1.0, threshold=None):
        super().__init__()
        self.eps, self.threshold = eps, threshold

    def forward(self, y_pr, y_gt):
        y_pr = _threshold(torch.sigmoid(y_pr), self.threshold)
        overlap = (y_pr * y_gt).sum()
        return 1 - (2 * overlap + self.eps) / (y_pr.sum() + y_gt.sum() + self.eps)


net = nn.Conv2d(3, 1, 1)
loss = DiceLoss(threshold=0.5)(net(torch.rand(1, 3, 6, 6)), torch.ones(1, 1, 6, 6))
loss.backward()
print("learns:", net.weight.grad is not None)
