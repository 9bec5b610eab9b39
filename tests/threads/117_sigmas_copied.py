# thread: https://github.com/scraed/LanPaint/issues/38
# diagnosis: A schedule that is a tensor already goes through torch.tensor.
# mistake: 19
# expected: TLN706
# symptom: warns To copy construct from a tensor

import torch


class Sampling:
    def __init__(self, steps):
        self.sigmas = torch.linspace(0.03, 14.6, steps)


class InpaintWrapper:
    def __init__(self, inner, sigmas):
        self.inner = inner
        device = sigmas.device
        self.table = torch.cat((torch.tensor([0.0], device=device), torch.tensor(inner.sigmas, device=device)))

    def step_of(self, sigma):
        return torch.argmin((self.table - sigma).abs()).item()


wrapper = InpaintWrapper(Sampling(10), torch.linspace(14.6, 0.0, 5))
print(wrapper.step_of(3.0))
