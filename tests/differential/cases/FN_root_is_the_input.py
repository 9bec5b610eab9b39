# expected: freed on line 8
# said: ok: which of the nodes of a composed operation have run where its result is the only input
import torch

x = torch.randn(1, 3, requires_grad=True)
b = torch.nn.functional.relu6(torch.einsum("ij,ij->i", x, x))
b.backward(inputs=[b])
b.backward()
