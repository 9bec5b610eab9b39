# expected: non-scalar on line 7
import torch

x = torch.randn(2, 2, 3, requires_grad=True)
y = x[torch.tensor([[True, False], [False, False]])]
y[:, 0].backward(inputs=[x])
y.backward()
