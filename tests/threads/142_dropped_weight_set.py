# thread: https://github.com/salesforce/awd-lstm-lm/issues/114
# diagnosis: A wrapper sets a dropped-out weight where the wrapped layer has a Parameter of that name.
# mistake: 23
# expected: TLN307
# symptom: raises TypeError: cannot assign 'torch.FloatTensor' as parameter

import torch
import torch.nn as nn


class WeightDrop(nn.Module):
    def __init__(self, module, weights, dropout):
        super().__init__()
        self.module, self.weights, self.dropout = module, weights, dropout
        for name in weights:
            raw = getattr(module, name)
            self.register_parameter(f"{name}_raw", nn.Parameter(raw.data))

    def _setweights(self):
        for name in self.weights:
            raw = getattr(self, f"{name}_raw")
            dropped = nn.functional.dropout(raw, p=self.dropout, training=self.training)
            setattr(self.module, name, dropped)

    def forward(self, *args):
        self._setweights()
        return self.module(*args)


rnn = WeightDrop(nn.LSTM(6, 6), ["weight_hh_l0"], dropout=0.5)
output, _ = rnn(torch.randn(3, 2, 6))
