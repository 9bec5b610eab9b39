# correct: 005_forward_before_the_loop.py
# cure: The forward pass belongs to the iteration.

import torch

pairs = [(0, 3), (3, 1), (1, 1), (1, 4), (4, 0)]
src = torch.tensor([a for a, _ in pairs])
dst = torch.tensor([b for _, b in pairs])
onehot = torch.nn.functional.one_hot(src, num_classes=5).float()
table = torch.randn((5, 5), requires_grad=True)

for step in range(20):
    scores = onehot @ table
    likelihood = scores.exp() / scores.exp().sum(1, keepdim=True)
    nll = -likelihood[torch.arange(len(pairs)), dst].log().mean()
    table.grad = None
    nll.backward()
    with torch.no_grad():
        table -= 5.0 * table.grad
print(nll.item())
