import torch
from torch import nn
import torch.nn.functional as F


class TopicModel(nn.Module):
    def __init__(self, vocab=50, topics=5):
        super().__init__()
        self.encode = nn.Linear(vocab, topics)
        self.words = nn.Linear(topics, vocab, bias=False)

    def forward(self, bow):
        theta = F.softmax(self.encode(bow))
        return F.log_softmax(self.words(theta), dim=-1)


def main():
    torch.manual_seed(0)
    docs = torch.poisson(torch.full((40, 50), 0.5))
    model = TopicModel()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(20):
        opt.zero_grad()
        loss = -(docs * model(docs)).sum(dim=1).mean()
        loss.backward()
        opt.step()
    print("nll per document:", loss.item())


main()
