# thread: https://github.com/hendrycks/ethics/issues/5
# diagnosis: model.train() stands before the loop over the epochs, and the evaluation at the end of each epoch sets eval.
# mistake: 14, 35
# expected: TLN407
# symptom: prints epoch 1 trains with dropout: False

import argparse

import torch
from torch import nn


def evaluate(model, dataloader):
    model.eval()
    cors = []
    for text, label in dataloader:
        with torch.no_grad():
            cors.append(((model(text).squeeze(1) > 0) == label.bool()).float().mean())
    return torch.stack(cors).mean()


def main(args):
    model = nn.Sequential(nn.Linear(10, 16), nn.Dropout(args.dropout), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    criterion = nn.BCEWithLogitsLoss()
    data = [(torch.randn(8, 10), torch.randint(0, 2, (8,)).float()) for _ in range(2)]
    model.train()
    for epoch in range(args.nepochs):
        print(f"epoch {epoch} trains with dropout:", model.training)
        for text, label in data:
            model.zero_grad()
            loss = criterion(model(text).squeeze(1), label)
            loss.backward()
            optimizer.step()
        evaluate(model, data)


main(argparse.Namespace(dropout=0.1, learning_rate=1e-3, nepochs=2))
