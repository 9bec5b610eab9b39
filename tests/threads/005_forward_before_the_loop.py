# thread: https://github.com/karpathy/nn-zero-to-hero/issues/31
# diagnosis: The forward pass is made once and its loss is differentiated in every iteration.
# mistake: 21
# expected: TLN101
# symptom: raises RuntimeError: backward through the graph a second time

import torch

pairs = [(0, 3), (3, 1), (1, 1), (1, 4), (4, 0)]
src = torch.tensor([a for a, _ in pairs])
dst = torch.tensor([b for _, b in pairs])
onehot = torch.nn.functional.one_hot(src, num_classes=5).float()
table = torch.randn((5, 5), requires_grad=True)

scores = onehot @ table
likelihood = scores.exp() / scores.exp().sum(1, keepdim=True)
nll = -likelihood[torch.arange(len(pairs)), dst].log().mean()

for step in range(20):
    table.grad = None
    nll.backward()
    with torch.no_grad():
        table -= 5.0 * table.grad
print(nll.item())
