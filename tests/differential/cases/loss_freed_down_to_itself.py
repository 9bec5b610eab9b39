# expected: freed on line 7
import torch

x = torch.randn(2, 3, requires_grad=True)
loss = torch.nn.functional.cross_entropy(x, torch.zeros(2, dtype=torch.long))
loss.backward(inputs=[loss])
(loss + loss).backward()
