# thread: https://github.com/jfpower/anfis-pytorch/issues/6
# diagnosis: The consequents of a fuzzy system are solved with torch.lstsq, which raises since it was removed.
# mistake: 20
# expected: TLN901
# symptom: raises RuntimeError: This function was deprecated since version 1.9 and is now removed

import torch
import torch.nn as nn


class Consequents(nn.Module):
    def __init__(self, inputs, rules, outputs):
        super().__init__()
        self.coeff = nn.Parameter(torch.zeros(rules, outputs, inputs + 1), requires_grad=False)

    def fit_coeff(self, x, weights, y_actual):
        x_plus = torch.cat([x, torch.ones(x.shape[0], 1)], dim=1)
        weighted = torch.einsum("bp,bq->bpq", weights, x_plus).reshape(x.shape[0], -1)
        try:
            coeff_2d, _ = torch.lstsq(y_actual, weighted)
        except ValueError as e:
            print("lstsq failed:", e)
            raise
        self.coeff.copy_(coeff_2d[: weighted.shape[1]].view(self.coeff.shape[0], -1, 1).transpose(1, 2))


layer = Consequents(2, rules=2, outputs=1)
layer.fit_coeff(torch.rand(20, 2), torch.rand(20, 2), torch.rand(20, 1))
