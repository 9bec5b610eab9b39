import torch
from torch import nn


class Monitor:
    def __init__(self, model, kinds=(nn.Conv1d,)):
        self.norms = {}
        for name, module in model.named_modules():
            if isinstance(module, kinds):
                module.register_full_backward_hook(self.make_hook(name))

    def make_hook(self, name):
        def hook(module, grad_in, grad_out):
            self.norms[name] = grad_out[0].norm().item()
        return hook


def main():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv1d(1, 4, 3), nn.ReLU(inplace=True),
        nn.Flatten(), nn.Linear(4 * 18, 2),
    )
    monitor = Monitor(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(8, 1, 20), torch.randint(0, 2, (8,))
    for _ in range(3):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        print(monitor.norms)


main()
