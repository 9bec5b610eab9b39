# expected: ok
import torch

x = torch.randn(2, 3, requires_grad=True)
loss = torch.nn.functional.cross_entropy(x, torch.zeros(2, dtype=torch.long), label_smoothing=0.1)
loss.backward(inputs=[loss])
(loss + loss).backward()
