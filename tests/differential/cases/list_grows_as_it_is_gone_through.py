# expected: freed on line 8
import torch

x = torch.tensor(2.0, requires_grad=True)
largest, *rest = x.sort()
# of a list that grows there is another iteration
for _ in rest:
    largest.sum().backward()
    rest.append(x)
