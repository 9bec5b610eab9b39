import torch
from torch import nn


class QueryAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim, 1))
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        batch = x.size(0)
        q = self.query.expand(batch, -1, -1)
        score = torch.bmm(x, q)
        attn = torch.softmax(score, dim=0)
        pooled = torch.bmm(attn.transpose(1, 2), x).squeeze(1)
        return self.out(pooled)


def main():
    torch.manual_seed(0)
    model = QueryAttention(6)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    x, y = torch.randn(10, 7, 6), torch.randint(0, 2, (10,))
    for _ in range(10):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    print(loss.item())
    return model, x


if __name__ == "__main__":
    main()
