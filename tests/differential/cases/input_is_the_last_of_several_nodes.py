# expected: freed on line 8
import torch

x = torch.randn(4, requires_grad=True)
y = torch.nn.functional.softsign(x)
y.backward(torch.ones(4))
loss = torch.nn.functional.smooth_l1_loss(y, y)
loss.backward(inputs=[y])
