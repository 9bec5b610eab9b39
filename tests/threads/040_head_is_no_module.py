# thread: https://github.com/EleutherAI/gpt-neox/pull/267
# diagnosis: The final layer's class does not inherit from nn.Module, so its weight is not registered with the model.
# mistake: 11, 23
# expected: none
# symptom: prints head registered: False

import torch
import torch.nn as nn


class FinalLinear:
    def __init__(self, hidden, vocabulary):
        self.weight = nn.Parameter(torch.randn(vocabulary, hidden) * 0.02)

    def __call__(self, x):
        return x @ self.weight.t()


class Decoder(nn.Module):
    def __init__(self, vocabulary, hidden, tie):
        super().__init__()
        self.words = nn.Embedding(vocabulary, hidden)
        self.final = None if tie else FinalLinear(hidden, vocabulary)

    def forward(self, ids):
        hidden = self.words(ids)
        return hidden @ self.words.weight.t() if self.final is None else self.final(hidden)


model = Decoder(40, 8, tie=False)
optimizer = torch.optim.Adam(model.parameters())
model(torch.randint(0, 40, (2, 6))).mean().backward()
print("head registered:", any(p is model.final.weight for p in model.parameters()))
