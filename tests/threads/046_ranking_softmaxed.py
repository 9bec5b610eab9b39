# thread: https://github.com/nishnik/Deep-Semantic-Similarity-Model-PyTorch/issues/2
# diagnosis: The similarities of a query are softmaxed in forward and scored by CrossEntropyLoss outside.
# mistake: 32
# expected: TLN601
# symptom: prints forward returns probabilities: True

import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, letters, width, negatives):
        super().__init__()
        self.query = nn.Linear(letters, width)
        self.document = nn.Linear(letters, width)
        self.gamma = nn.Parameter(torch.ones(1))
        self.negatives = negatives

    def forward(self, q, pos, negs):
        q = torch.tanh(self.query(q))
        docs = [torch.tanh(self.document(d)) for d in [pos, *negs]]
        sims = torch.stack([(q * d).sum(-1) for d in docs], dim=-1)
        return torch.softmax(self.gamma * sims, dim=-1)


model = Ranker(letters=15, width=6, negatives=4)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(3):
    q, pos = torch.rand(2, 15), torch.rand(2, 15)
    y_pred = model(q, pos, [torch.rand(2, 15) for _ in range(model.negatives)])
    loss = criterion(y_pred, torch.zeros(2, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("forward returns probabilities:", torch.allclose(y_pred.sum(-1), torch.ones(2)))
