import torch
from torch import nn

torch.manual_seed(0)

text = "the quick brown fox jumps over the lazy dog. " * 8
vocab = sorted(set(text))
stoi = {c: i for i, c in enumerate(vocab)}
ids = torch.tensor([stoi[c] for c in text])


class CharLM(nn.Module):
    def __init__(self, n_vocab, dim=24):
        super().__init__()
        self.emb = nn.Embedding(n_vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, n_vocab)

    def forward(self, x, h):
        y, h = self.rnn(self.emb(x), h)
        return self.out(y), h


model = CharLM(len(vocab))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
window = 20
h = torch.zeros(1, 1, 24)
for start in range(0, len(ids) - window - 1, window):
    x = ids[start:start + window].unsqueeze(0)
    y = ids[start + 1:start + window + 1]
    logits, h = model(x, h)
    loss = criterion(logits.squeeze(0), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{start:4d} {loss.item():.3f}")
