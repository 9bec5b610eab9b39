# expected: freed on line 8
# said: ok: which of the nodes of a composed operation is the last one depends on the rank and the reduction
import torch

x = torch.randn(2, 3, requires_grad=True)
loss = torch.nn.functional.cross_entropy(x, x.argmax(1))
loss.backward(inputs=[loss])
loss.backward()
