# thread: https://github.com/ermongroup/ncsn/issues/2
# diagnosis: The score network is put into eval for a logged test loss, and never into train again.
# mistake: 30
# expected: TLN407
# symptom: prints mode at the end: False

import torch
import torch.nn as nn


def dsm(score_net, samples, sigma):
    noise = torch.randn_like(samples) * sigma
    target = -noise / sigma**2
    return ((score_net(samples + noise) - target) ** 2).sum(-1).mean() / 2


def train(config, loader, test_batch):
    score_net = nn.Sequential(nn.Linear(2, 32), nn.BatchNorm1d(32), nn.Softplus(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(score_net.parameters(), lr=config["lr"])
    step = 0
    score_net.train()
    for epoch in range(config["epochs"]):
        for X in loader:
            step += 1
            loss = dsm(score_net, X, config["sigma"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % config["log_every"] == 0:
                score_net.eval()
                with torch.no_grad():
                    print(step, dsm(score_net, test_batch, config["sigma"]).item())
    print("mode at the end:", score_net.training)


train({"lr": 1e-3, "epochs": 2, "sigma": 0.1, "log_every": 2}, torch.randn(3, 8, 2), torch.randn(4, 2))
