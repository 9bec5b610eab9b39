# expected: freed on line 10
import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.nn.functional.tanhshrink(x)
z = y.expm1()
y.backward(inputs=[y])
(y - 1).backward()
# the subtraction held nothing; `tanh` was freed by the second
z.backward()
