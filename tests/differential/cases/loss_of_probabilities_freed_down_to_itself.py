# expected: ok
import torch

x = torch.randn(2, 3, requires_grad=True)
loss = torch.nn.functional.cross_entropy(x, torch.full((2, 3), 1 / 3))
loss.backward(inputs=[loss])
(loss + loss).backward()
