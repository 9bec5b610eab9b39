# thread: https://github.com/asyml/texar-pytorch/issues/310
# diagnosis: The training function evaluates every few batches and does not switch back.
# mistake: 26, 30
# expected: TLN407
# symptom: prints dropout is off: True

import torch
import torch.nn as nn


def main(display_steps, eval_steps):
    model = nn.Sequential(nn.Embedding(30, 8), nn.Flatten(), nn.Dropout(0.5), nn.Linear(40, 2))
    optim = torch.optim.Adam(model.parameters())
    train_set = [(torch.randint(0, 30, (4, 5)), torch.randint(0, 2, (4,))) for _ in range(6)]

    def _train_epoch():
        model.train()
        for step, (ids, labels) in enumerate(train_set, 1):
            optim.zero_grad()
            loss = nn.functional.cross_entropy(model(ids), labels)
            loss.backward()
            optim.step()
            if step % display_steps == 0:
                print(step, loss.item())
            if step % eval_steps == 0:
                _eval_epoch()

    @torch.no_grad()
    def _eval_epoch():
        model.eval()
        for ids, labels in train_set[:2]:
            model(ids)

    _train_epoch()
    print("dropout is off:", not model.training)


main(display_steps=2, eval_steps=3)
