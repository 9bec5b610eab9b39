# thread: https://github.com/pytorch/examples/pull/779
# diagnosis: The update of plain SGD is written into the parameters outside of no_grad.
# mistake: 29
# expected: TLN203
# symptom: raises RuntimeError: a leaf Variable that requires grad is being used in an in-place operation

import torch
import torch.nn as nn


class NextWord(nn.Module):
    def __init__(self, ntoken, ninp):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.decoder = nn.Linear(ninp, ntoken)

    def forward(self, tokens):
        return self.decoder(torch.tanh(self.encoder(tokens)))


def train(model, corpus, lr, clip):
    criterion = nn.CrossEntropyLoss()
    for i in range(len(corpus) - 1):
        model.zero_grad()
        loss = criterion(model(corpus[i]), corpus[i + 1])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for p in model.parameters():
            p.add_(p.grad, alpha=-lr)


train(NextWord(20, 8), torch.randint(0, 20, (6, 4)), lr=20, clip=0.25)
