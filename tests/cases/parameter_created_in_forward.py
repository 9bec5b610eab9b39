# ruff: noqa
"""Programs for TLN303."""

import torch
from torch import nn


def layer_of_unknown_size():
    """Holds: net(x).detach().allclose(net(x).detach()) is False"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(1, 2, 3)

        def forward(self, x):
            x = torch.relu(self.conv(x)).flatten(1)
            head = nn.Linear(x.shape[1], 4)  # warning: [TLN303]
            return head(x)

    net, x = Net(), torch.rand(1, 1, 8)


def attention_weights():
    """Holds: att.w is not before"""

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.dim = dim

        def forward(self, x):
            self.w = nn.Parameter(torch.randn(self.dim, self.dim))  # warning: [TLN303]
            return torch.softmax(x @ self.w @ x.transpose(-1, -2), dim=-1)

    att = Attention(3)
    att(torch.rand(2, 3))
    before = att.w
    att(torch.rand(2, 3))


def normalised_on_the_fly():
    """Holds: len(list(block.parameters())) == 2"""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 1)

        def forward(self, x):
            x = self.conv(x)
            return nn.BatchNorm2d(4)(x)  # warning: [TLN303]

    block = Block()
    block(torch.rand(2, 3, 4, 4))


def layers_in_a_loop():
    """Holds: len(list(mlp.parameters())) == 0"""

    class MLP(nn.Module):
        def __init__(self, depth):
            super().__init__()
            self.depth = depth

        def forward(self, x):
            for _ in range(self.depth):
                x = torch.tanh(nn.Linear(4, 4)(x))  # warning: [TLN303]
            return x

    mlp = MLP(3)
    mlp(torch.rand(1, 4))


def built_lazily():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = None

        def forward(self, x):
            if self.proj is None:
                self.proj = nn.Linear(x.shape[-1], 2)
            return self.proj(x)

    Net()(torch.rand(1, 3))


def returned_early_when_built():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleDict()

        def forward(self, x, key):
            if key in self.layers:
                return self.layers[key](x)
            self.layers[key] = nn.Linear(x.shape[-1], 2)
            return self.layers[key](x)

    Net()(torch.rand(1, 3), "a")


def layers_without_parameters():
    class Net(nn.Module):
        def forward(self, x):
            x = nn.functional.pad(x, (1, 1))
            x = nn.MaxPool1d(2)(nn.ReLU()(x))
            return nn.Softmax(dim=-1)(nn.Dropout(0.1)(x))

    Net()(torch.rand(1, 1, 6))


def loss_in_forward():
    class WithLoss(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(2, 3)

        def forward(self, x, y):
            return nn.CrossEntropyLoss()(self.net(x), y)

    WithLoss()(torch.rand(2, 2), torch.tensor([0, 2]))


def frozen_constant():
    class Net(nn.Module):
        def forward(self, x):
            offset = nn.Parameter(torch.ones(x.shape[-1]), requires_grad=False)
            return x + offset

    Net()(torch.rand(2))


def forward_of_something_else():
    class Builder:
        def forward(self, n):
            return nn.Linear(n, n)

    assert Builder().forward(2)(torch.rand(1, 2)).shape == (1, 2)


def two_on_one_line():
    """Holds: not list(Net().parameters())"""

    class Net(nn.Module):
        def forward(self, x):
            a, b = nn.Linear(2, 2)(x), nn.Linear(2, 2)(x)  # warning: [TLN303]
            return nn.Linear(2, 2)(a + b)  # warning: [TLN303]


def layer_that_another_network_gives_its_weights():
    class Adaptive(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.Linear(3, 81)

        def forward(self, x, context):
            conv = nn.Conv2d(3, 3, 3, bias=False)
            del conv.weight
            conv.weight = self.weights(context).view(3, 3, 3, 3)
            other = nn.Conv2d(3, 3, 3, bias=False)
            other._parameters["weight"] = conv.weight
            third = nn.Conv2d(3, 3, 3, bias=False)
            same = torch.func.functional_call(third, {"weight": conv.weight}, x)
            return conv(x) + other(x) + same

    net = Adaptive()
    net(torch.rand(1, 3, 8, 8), torch.rand(3)).sum().backward()
    assert net.weights.weight.grad is not None


def layer_whose_weights_are_read():
    """Holds: not list(Sized().parameters())"""

    class Sized(nn.Module):
        def forward(self, x):
            conv = nn.Conv2d(3, 3, 3)  # warning: [TLN303]
            self.size = conv.weight.numel()
            return conv(x)

    Sized()(torch.rand(1, 3, 8, 8))


def trained_before_it_is_returned():
    class Denoise(nn.Module):
        def forward(self, x):
            guess = nn.Parameter(torch.zeros_like(x))
            optimizer = torch.optim.SGD([guess], lr=0.5)
            for _ in range(3):
                optimizer.zero_grad()
                (guess - x).pow(2).sum().backward()
                optimizer.step()
            return guess

    assert torch.allclose(Denoise()(torch.ones(3)), torch.ones(3))


def a_step_by_hand():
    import torch
    from torch import nn

    class Equalizer(nn.Module):
        def __init__(self):
            super().__init__()
            self.taps = nn.Parameter(torch.zeros(3))

        def forward(self, x):
            for each in x:
                self.taps = nn.Parameter(0.9 * self.taps.detach() + 0.1 * each)
            return self.taps

    equalizer = Equalizer()
    equalizer(torch.ones(20, 3))
    assert equalizer.taps.min() > 0.5


def made_of_what_is_given():
    """Holds: net.weight is not before"""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(3))

        def forward(self, x):
            self.weight = nn.Parameter(x + 1)  # warning: [TLN303]
            return self.weight * x

    net = Net()
    before = net.weight
    net(torch.ones(3))


def parameter_whose_gradient_is_read():
    class Attack(nn.Module):
        def forward(self, x):
            self.delta = nn.Parameter(torch.zeros(x.shape[-1]))
            return ((x + self.delta) ** 2).sum()

    attack = Attack()
    attack(torch.ones(3)).backward()
    step = attack.delta.grad.sign()


def parameter_that_autograd_is_asked_of():
    class Saliency(nn.Module):
        def forward(self, x):
            pixels = nn.Parameter(x)
            (map_,) = torch.autograd.grad((pixels**2).sum(), [pixels])
            return map_

    Saliency()(torch.ones(3))


def parameter_that_is_kept_under_another_name():
    class Saliency(nn.Module):
        def forward(self, x):
            pixels = nn.Parameter(x)
            self.pixels = pixels
            return (pixels**2).sum()

    saliency = Saliency()
    saliency(torch.ones(3)).backward()
    shown = saliency.pixels.grad.abs()


def gradient_of_another_parameter():
    """Holds: net(x).item() != net(x).item()"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, x):
            self.weight = nn.Parameter(torch.randn(1))  # warning: [TLN303]
            return self.scale * self.weight * x

    net, x = Net(), torch.ones(1)
    net(x).backward()
    shown = net.scale.grad
