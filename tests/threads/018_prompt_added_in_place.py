# thread: https://github.com/NVlabs/VILA/pull/199
# diagnosis: A learned prompt is changed by += in the forward pass, a leaf that requires grad.
# mistake: 21
# expected: TLN203
# symptom: raises RuntimeError: a leaf Variable that requires grad is being used in an in-place operation

import torch
import torch.nn as nn


class PromptedModel(nn.Module):
    def __init__(self, n_prompt, width, use_dummy):
        super().__init__()
        self.prompt = nn.Parameter(torch.randn(n_prompt, width) * 0.02)
        self.vision = nn.Linear(12, width)
        self.use_dummy = use_dummy

    def forward(self, image=None):
        text = self.prompt
        if image is None and self.use_dummy:
            text += self.vision(torch.zeros(1, 12)).mean() * 0
        else:
            text = torch.cat([self.vision(image), text])
        return text.mean(0)


model = PromptedModel(4, 6, use_dummy=True)
model(image=torch.randn(2, 12)).sum().backward()
model().sum().backward()
