import torch
from torch import nn


class Recorder:
    def __init__(self, module):
        self.shapes = []
        self.handle = module.register_forward_hook(self._save)

    def _save(self, module, args, output):
        self.shapes.append(tuple(output.shape))


class Pipeline(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.decoder = nn.Linear(8, 4)

    def forward(self, x):
        code = self.encoder.forward(x)
        return self.decoder(code)


torch.manual_seed(0)
pipe = Pipeline()
rec = Recorder(pipe.encoder)
with torch.inference_mode():
    for batch in torch.randn(6, 4).split(2):
        pipe(batch)
print("recorded:", rec.shapes)
