# expected: freed on line 7
import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.selu(x)
y.backward(inputs=[y])
y.backward()
