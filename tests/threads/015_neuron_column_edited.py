# thread: https://github.com/Hunter-DDM/knowledge-neurons/issues/14
# diagnosis: A column of a layer's weight is edited in place while the weight requires grad.
# mistake: 29
# expected: TLN203
# symptom: raises RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation

import torch
import torch.nn as nn


class FeedForward(nn.Module):
    def __init__(self, hidden, inner):
        super().__init__()
        self.up = nn.Linear(hidden, inner)
        self.down = nn.Linear(inner, hidden)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Encoder(nn.Module):
    def __init__(self, layers, hidden, inner):
        super().__init__()
        self.layer = nn.ModuleList([FeedForward(hidden, inner) for _ in range(layers)])


def edit_fact(encoder, neurons, old_vector, new_vector, strength):
    for layer, pos in neurons:
        encoder.layer[layer].down.weight[:, pos] -= old_vector * strength
        encoder.layer[layer].down.weight[:, pos] += new_vector * strength


edit_fact(Encoder(2, 8, 32), [(0, 3), (1, 17)], torch.randn(8), torch.randn(8), strength=2.0)
