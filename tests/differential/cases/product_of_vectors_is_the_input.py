# expected: saved on line 8, written on line 7
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
product = x @ x
with torch.no_grad():
    x -= 1
product.backward(inputs=[product])
