# expected: numpy on line 7
# said: ok: what `vmap` gives back is unknown code, which may have changed the flags of what it was given
import torch

x = torch.rand(3, requires_grad=True)
y = torch.func.vmap(torch.sin)(x)
x.numpy()
