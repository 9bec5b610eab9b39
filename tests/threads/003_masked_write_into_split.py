# thread: https://github.com/Skype-line/X-Avatar/issues/12
# diagnosis: A mask is written into one of the outputs of split, which autograd refuses.
# mistake: 13
# expected: TLN209
# symptom: raises RuntimeError: is being modified inplace

import torch
import torch.nn.functional as F


def weights_of_parts(scores, visible, n_parts):
    logits, extra = torch.split(scores, [n_parts, scores.shape[1] - n_parts], dim=1)
    logits[~visible.bool()] = -30.0
    return F.softmax(logits, dim=1), extra


def fit(net, points, visible, n_parts):
    weights, extra = weights_of_parts(net(points), visible, n_parts)
    loss = weights.max(dim=1).values.mean() + extra.abs().mean()
    loss.backward()


net = torch.nn.Linear(3, 7)
fit(net, torch.rand(10, 3), torch.rand(10, 5) > 0.2, n_parts=5)
