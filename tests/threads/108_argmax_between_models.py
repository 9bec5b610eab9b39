# thread: https://github.com/pytorch/pytorch/issues/1339
# diagnosis: The second model gets the argmax of the first, which therefore has no gradient.
# mistake: 32, 36
# expected: TLN116
# symptom: prints first model: None

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width, tags):
        super().__init__()
        self.score = nn.Linear(width, tags)

    def forward(self, x):
        return self.score(x)


class Reader(nn.Module):
    def __init__(self, tags, classes):
        super().__init__()
        self.embed = nn.Linear(1, 6)
        self.out = nn.Linear(6, classes)

    def forward(self, tag):
        return self.out(torch.relu(self.embed(tag)))


first_model, second_model = Tagger(5, 4), Reader(4, 3)
x, y = torch.randn(8, 5), torch.randint(0, 3, (8,))
tag = torch.max(first_model(x), 1)[1]
loss = nn.functional.cross_entropy(second_model(tag.float().unsqueeze(1)), y)
first_model.zero_grad()
second_model.zero_grad()
loss.backward()
print("first model:", first_model.score.weight.grad)
