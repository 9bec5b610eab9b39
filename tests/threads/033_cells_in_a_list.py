# thread: https://github.com/ikostrikov/pytorch-meta-optimizer/issues/11
# diagnosis: The recurrent cells are appended to a plain list, so they are not among the module's parameters.
# mistake: 15, 17
# expected: TLN302
# symptom: prints cells trained: False

import torch
import torch.nn as nn


class Learner(nn.Module):
    def __init__(self, num_layers, hidden_size):
        super(Learner, self).__init__()
        self.inp = nn.Linear(2, hidden_size)
        self.cells = []
        for i in range(num_layers):
            self.cells.append(nn.GRUCell(hidden_size, hidden_size))
        self.out = nn.Linear(hidden_size, 1)

    def forward(self, x):
        x = torch.tanh(self.inp(x))
        for cell in self.cells:
            x = cell(x)
        return self.out(x)


meta = Learner(num_layers=2, hidden_size=10)
optimizer = torch.optim.Adam(meta.parameters(), lr=1e-3)
before = meta.cells[0].weight_ih.clone()
for _ in range(3):
    optimizer.zero_grad()
    meta(torch.randn(7, 2)).pow(2).mean().backward()
    optimizer.step()
print("cells trained:", not torch.equal(before, meta.cells[0].weight_ih))
