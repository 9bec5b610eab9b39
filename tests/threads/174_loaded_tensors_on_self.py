# thread: https://github.com/pytorch/examples/issues/277
# diagnosis: The weights of a rewritten network are plain tensors from a checkpoint, and the optimizer finds no parameters.
# mistake: 17, 18, 19, 29
# expected: TLN305, TLN311
# symptom: raises ValueError: optimizer got an empty parameter list

import torch
import torch.nn as nn
import torch.nn.functional as F


class DecomposedNet(nn.Module):
    def __init__(self, pretrained):
        super(DecomposedNet, self).__init__()
        weight = pretrained["conv1.weight"].view(10, 25)
        u, s, v = torch.linalg.svd(weight, full_matrices=False)
        self.left = u * s
        self.right = v
        self.bias = pretrained["conv1.bias"]

    def forward(self, x):
        kernel = (self.left @ self.right).view(10, 1, 5, 5)
        return F.conv2d(x, kernel, self.bias).flatten(1)


stored = nn.Conv2d(1, 10, 5).state_dict()
model = DecomposedNet({f"conv1.{name}": value for name, value in stored.items()})
print(model(torch.rand(1, 1, 6, 6)).shape)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
