# expected: multi-view on line 7
import torch

x = torch.zeros(4, requires_grad=True)
loss = torch.nn.functional.binary_cross_entropy_with_logits(x, torch.ones(4))
(gradient,) = torch.autograd.grad(loss, x, create_graph=True)
gradient.unbind()[0].mul_(2)
