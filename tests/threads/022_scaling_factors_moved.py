# thread: https://github.com/vinsis/ternary-quantization/issues/4
# diagnosis: Each factor is converted after it was told to require grad, so the list holds results and no leaves.
# mistake: 11, 21
# expected: TLN304, TLN306
# symptom: raises ValueError: can't optimize a non-leaf Tensor

import torch


def trainable_scales(layers, dtype):
    return [torch.ones(2, requires_grad=True).to(dtype) for _ in layers]


def quantise(weight, scale):
    return torch.where(weight > 0, scale[0], -scale[1]) * weight.abs().mean()


model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)).double()
to_quantise = [m for m in model if isinstance(m, torch.nn.Linear)]
scales = trainable_scales(to_quantise, torch.float64)
optimizer = torch.optim.Adam(scales, lr=1e-3)
for layer, scale in zip(to_quantise, scales):
    error = (quantise(layer.weight.detach(), scale) - layer.weight.detach()).pow(2).mean()
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
