# ruff: noqa
"""Programs for TLN705."""

import torch
from torch import nn


def predictions_of_an_epoch():
    """Holds: depth == 'CatBackward0'"""
    model = nn.Linear(2, 1)
    loader = [torch.rand(4, 2) for _ in range(6)]
    all_preds = torch.tensor([])
    all_labels = torch.tensor([])
    for batch in loader:
        preds = model(batch).squeeze(1)
        all_preds = torch.cat((all_preds, preds), dim=0)  # strict: [TLN705]
        all_labels = torch.cat((all_labels, torch.ones(4)), dim=0)
    loss = ((all_preds - all_labels) ** 2).mean()
    depth = all_preds.grad_fn.next_functions[0][0].name()


def hidden_states_of_an_rnn():
    """Holds: out.grad_fn.next_functions[0][0].name() == 'CatBackward0'"""

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(2, 3)

        def forward(self, x):
            h = torch.zeros(x.size(1), 3)
            outputs = None
            for t in range(x.size(0)):
                h = self.cell(x[t], h)
                if outputs is None:
                    outputs = h.unsqueeze(0)
                else:
                    outputs = torch.cat([outputs, h.unsqueeze(0)], dim=0)  # strict: [TLN705]
            return outputs

    out = Decoder()(torch.rand(5, 2, 2))


def rollout_of_an_agent():
    """Holds: rewards.shape == (11,)"""

    def rollout(policy, steps):
        rewards = torch.zeros(1)
        state = torch.rand(3)
        step = 0
        while step < steps:
            state = policy(state)
            rewards = torch.hstack([rewards, state.sum()])  # strict: [TLN705]
            step += 1
        return rewards

    rewards = rollout(nn.Linear(3, 3), 10)


def rows_put_in_front():
    """Holds: table.shape == (9, 2)"""
    table = torch.zeros(1, 2)
    for i in range(8):
        table = torch.vstack((torch.full((1, 2), float(i)), table))  # strict: [TLN705]


def list_and_one_concatenation():
    pieces = []
    for i in range(8):
        pieces.append(torch.rand(2))
    whole = torch.cat(pieces)


def autoregressive_generation():
    model = nn.Linear(1, 1)
    tokens = torch.zeros(1, 1)
    for _ in range(8):
        following = model(tokens[:, -1:])  # strict: [TLN220]
        tokens = torch.cat([tokens, following], dim=1)


def dense_block():
    class DenseBlock(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(2 + 2 * i, 2) for i in range(6))

        def forward(self, x):
            for layer in self.layers:
                x = torch.cat([x, layer(x)], dim=1)
            return x

    DenseBlock()(torch.rand(3, 2))


def decoder_with_skips():
    skips = [torch.rand(1, 2) for _ in range(6)]
    fc = nn.Linear(4, 2)
    x = torch.rand(1, 2)
    for skip in skips:
        x = torch.cat([x, skip], dim=1)
        x = fc(x)


def started_anew_in_each_round():
    for _ in range(8):
        pair = torch.rand(2)
        pair = torch.cat([pair, torch.rand(2)])


def window_that_slides():
    window = torch.zeros(5)
    for i in range(8):
        window = torch.cat([window[1:], torch.full((1,), float(i))])


def three_rounds():
    x = torch.rand(2)
    for _ in range(3):
        x = torch.cat([x, torch.rand(2)])


def not_in_a_loop():
    def extend(history, x):
        history = torch.cat([history, x])
        return history

    extend(torch.rand(2), torch.rand(2))


def features_and_labels():
    """Holds: features.shape == (100, 2)"""
    features, labels = torch.empty(0, 2), torch.empty(0)
    for _ in range(100):
        features = torch.cat([features, torch.rand(1, 2)])  # strict: [TLN705]
        labels = torch.cat([labels, torch.rand(1)])
    print(features.mean(), labels.mean())


def one_in_each_of_two_loops():
    """Holds: features.shape == (100, 2)"""
    features, labels = torch.empty(0, 2), torch.empty(0)
    for _ in range(100):
        features = torch.cat([features, torch.rand(1, 2)])  # strict: [TLN705]
    for _ in range(100):
        labels = torch.cat([labels, torch.rand(1)])  # strict: [TLN705]
    print(features.mean(), labels.mean())
