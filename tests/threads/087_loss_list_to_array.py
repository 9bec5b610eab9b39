# thread: https://github.com/DeepReinforcementLearning/DeepReinforcementLearningInAction/issues/42
# diagnosis: The losses are appended with their graphs and turned into an array for the plot.
# mistake: 23, 30
# expected: TLN106, TLN111
# symptom: raises RuntimeError: Can't call numpy() on Tensor that requires grad

import numpy as np
import torch


def two_layers(x, w1, w2):
    return torch.relu(x @ w1) @ w2


w1 = torch.randn(20, 12, requires_grad=True)
w2 = torch.randn(12, 3, requires_grad=True)
images, labels = torch.rand(50, 20), torch.randint(0, 3, (50,))
lr, losses = 1e-3, []
lossfn = torch.nn.CrossEntropyLoss()
for i in range(10):
    rows = np.random.randint(0, len(images), size=8)
    loss = lossfn(two_layers(images[rows], w1, w2), labels[rows])
    losses.append(loss)
    loss.backward()
    with torch.no_grad():
        w1 -= lr * w1.grad
        w2 -= lr * w2.grad
        w1.grad.zero_()
        w2.grad.zero_()
smooth = np.convolve(np.array(losses), np.ones(3) / 3)
