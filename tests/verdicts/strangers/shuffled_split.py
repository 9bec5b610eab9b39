import random
import torch
from torch import nn


def k_folds(n, k):
    order = list(range(n))
    random.shuffle(order)
    return [order[i::k] for i in range(k)]


def fit_fold(x, y, held_out, epochs=20):
    keep = sorted(set(range(len(x))) - set(held_out))
    model = nn.Linear(x.size(1), 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[keep]), y[keep])
        loss.backward()
        opt.step()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x[held_out]), y[held_out]).item()


def main(seed=0):
    torch.manual_seed(seed)
    x = torch.randn(50, 4)
    y = x @ torch.ones(4, 1) + torch.randn(50, 1)
    scores = [fit_fold(x, y, fold) for fold in k_folds(50, 5)]
    print("cv scores", [round(s, 3) for s in scores])
    return scores


if __name__ == "__main__":
    main()
