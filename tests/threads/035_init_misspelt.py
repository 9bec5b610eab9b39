# thread: https://github.com/mikeizbicki/cmc-csci181-deeplearning/issues/7
# diagnosis: The constructor is spelt with single underscores, never runs, and the model has no parameters.
# mistake: 16, 28
# expected: TLN305
# symptom: raises ValueError: optimizer got an empty parameter list

import argparse

import torch
import torch.nn as nn

args = argparse.Namespace(hidden=12, letters=26, lr=0.1, decay=1e-4)


class NameModel(nn.Module):
    def _init_(self):
        super(NameModel, self)._init_()
        self.act = nn.ReLU()
        self.conv = nn.Conv1d(args.letters, args.hidden, 3, padding=1)
        self.fc = nn.Linear(args.hidden, 18)

    def forward(self, x):
        out = self.act(self.conv(x.transpose(1, 2)))
        return self.fc(out.mean(dim=2))


model = NameModel()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, weight_decay=args.decay)
