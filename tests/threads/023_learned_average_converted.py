# thread: https://github.com/Linardos/SalEMA/issues/7
# diagnosis: The learned weight of a moving average is converted after it was wrapped, so the attribute is no parameter.
# mistake: 15, 27
# expected: TLN301, TLN304
# symptom: raises ValueError: can't optimize a non-leaf Tensor

import torch
import torch.nn as nn


class SmoothedNet(nn.Module):
    def __init__(self, start, precision):
        super().__init__()
        self.backbone = nn.Linear(8, 8)
        self.alpha = nn.Parameter(torch.tensor([start])).to(precision)

    def forward(self, clip):
        state, maps = None, []
        for frame in clip:
            now = self.backbone(frame)
            state = now if state is None else self.alpha * now + (1 - self.alpha) * state
            maps.append(state)
        return torch.stack(maps)


model = SmoothedNet(0.25, torch.float64).double()
optimizer = torch.optim.Adam(
    [{"params": model.backbone.parameters(), "lr": 1e-4}, {"params": [model.alpha], "lr": 0.1}]
)
loss = model(torch.randn(5, 2, 8).double()).pow(2).mean()
loss.backward()
optimizer.step()
