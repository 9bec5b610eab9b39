# thread: https://github.com/pai4451/ML2021/issues/2
# diagnosis: The running loss is a sum of losses with their graphs, which grows with every batch.
# mistake: 32
# expected: TLN106
# symptom: prints running loss has a graph: True

import torch
from torch import nn


class Output:
    def __init__(self, loss, logits):
        self.loss, self.logits = loss, logits


class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.start = nn.Linear(width, 1)

    def forward(self, tokens, answer):
        logits = self.start(tokens).squeeze(-1)
        return Output(nn.functional.cross_entropy(logits, answer), logits)


model = Reader(16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
batches = [(torch.randn(4, 12, 16), torch.randint(0, 12, (4,))) for _ in range(6)]
train_loss = 0
for step, (tokens, answer) in enumerate(batches, 1):
    output = model(tokens, answer)
    train_loss += output.loss
    output.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 3 == 0:
        print(f"step {step} loss {train_loss / 3:.3f}")
        print("running loss has a graph:", train_loss.requires_grad)
        train_loss = 0
