# expected: saved on line 9, written on line 8
# said: ok: which of the nodes of a composed operation is the last one depends on the ranks of its operands
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
product = x @ x
with torch.no_grad():
    x -= 1
product.backward(inputs=[product])
