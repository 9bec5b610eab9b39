# thread: https://github.com/pytorch/pytorch/issues/115918
# diagnosis: Gradients are asked for a tensor that does not require grad.
# mistake: 12, 21
# expected: TLN113
# symptom: raises RuntimeError: One of the differentiated Tensors does not require grad

import torch


def sensitivities(model, features, weights):
    score = model(features, weights)
    return torch.autograd.grad(score, [features, weights], allow_unused=True)


def linear_model(features, weights):
    return (features @ weights).sum()


features = torch.tensor([[1.0, 2.0], [0.5, 0.1]])
weights = torch.tensor([3.0, 4.0], requires_grad=True)
print(sensitivities(linear_model, features, weights))
