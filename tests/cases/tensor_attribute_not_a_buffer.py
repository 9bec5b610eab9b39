# ruff: noqa
"""Programs for TLN311."""

import math

import torch
from torch import nn


def image_statistics():
    """Holds: net.mean.dtype == torch.float32"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)  # smell: [TLN311]
            self.conv = nn.Conv2d(3, 4, 3)

        def forward(self, x):
            return self.conv(x - self.mean)

    net = Net().double()


def causal_mask():
    """Holds: len(net.state_dict()) == 1"""

    class Attention(nn.Module):
        def __init__(self, n, dim):
            super().__init__()
            self.mask = torch.tril(torch.ones(n, n))  # smell: [TLN311]
            self.w = nn.Parameter(torch.randn(dim, dim))

        def forward(self, x):
            scores = x @ self.w @ x.transpose(-1, -2)
            return torch.softmax(scores * self.mask, dim=-1) @ x

    net = Attention(4, 3)
    net(torch.rand(4, 3))


def sobel_kernel():
    """Holds: 'kernel' not in loss.state_dict()"""

    class EdgeLoss(nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = torch.tensor([[[[1.0, 0.0, -1.0]]]])  # smell: [TLN311]

        def forward(self, prediction, target):
            p = nn.functional.conv2d(prediction, self.kernel)
            t = nn.functional.conv2d(target, self.kernel)
            return (p - t).abs().mean()

    loss = EdgeLoss()
    loss(torch.rand(1, 1, 4, 4), torch.rand(1, 1, 4, 4))


def fixed_frequencies():
    """Holds: net.frequencies.dtype != net.linear.weight.dtype"""

    class Fourier(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.frequencies = torch.linspace(1.0, 10.0, n)  # smell: [TLN311]
            self.linear = nn.Linear(n, 1)

        def forward(self, t):
            return self.linear(torch.sin(t * self.frequencies))

    net = Fourier(4).double()


def registered():
    class Positional(nn.Module):
        def __init__(self, n, dim):
            super().__init__()
            table = torch.zeros(n, dim)
            table[:, 0] = torch.arange(n).float() * math.pi
            self.register_buffer("table", table)

        def forward(self, x):
            return x + self.table

    Positional(4, 2)(torch.rand(4, 2))


def moved_by_hand():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.tensor([0.5, 0.2])

        def forward(self, x):
            return x - self.mean.to(x.device)

    Net()(torch.rand(3, 2))


def created_on_a_device():
    class Net(nn.Module):
        def __init__(self, device):
            super().__init__()
            self.mean = torch.tensor([0.5, 0.2], device=device)

        def forward(self, x):
            return x - self.mean

    Net("cpu")(torch.rand(3, 2))


def state_of_a_recurrent_net():
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = torch.zeros(1, 2)
            self.cell = nn.RNNCell(2, 2)

        def forward(self, x):
            self.h = self.cell(x, self.h)
            return self.h

    Cell()(torch.rand(1, 2)).sum().backward()


def scalar():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.eps = torch.tensor(1e-5)

        def forward(self, x):
            return x / (x.norm() + self.eps)

    Net()(torch.rand(3))


def never_computed_with():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.anchors = torch.tensor([8.0, 16.0, 32.0])
            self.conv = nn.Conv1d(1, 1, 1)

        def forward(self, x):
            return self.conv(x)

        def describe(self):
            return self.anchors.tolist()

    Net()(torch.rand(1, 1, 3))


def moves_its_tensors_itself():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.tensor([0.5, 0.2])

        def _apply(self, function, recurse=True):
            super()._apply(function, recurse)
            self.mean = function(self.mean)
            return self

        def forward(self, x):
            return x - self.mean

    Net().double()(torch.rand(3, 2).double())


def given_by_the_caller():
    class Distance(nn.Module):
        def __init__(self, centre):
            super().__init__()
            self.centre = centre

        def forward(self, x):
            return (x - self.centre).norm(dim=1)

    Distance(torch.zeros(2))(torch.rand(3, 2))


def made_of_what_the_caller_gave():
    """It is on the caller's device."""

    class StyleLoss(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.target = self.gram(features).detach()
            self.plain = features.detach()

        def gram(self, x):
            flat = x.view(x.size(0), -1)
            return flat @ flat.t() / flat.numel()

        def forward(self, x):
            return nn.functional.mse_loss(self.gram(x), self.target) + (x - self.plain).abs().mean()

    StyleLoss(torch.rand(2, 3))(torch.rand(2, 3, requires_grad=True)).backward()


def number_of_a_configuration():
    """A tensor without dimensions works with tensors of every device."""

    class FeedForward(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.scale = torch.tensor(config.residual_weight)

        def forward(self, x):
            return x + self.linear(x) * self.scale

    class Config:
        residual_weight = 0.5

    FeedForward(Config())(torch.rand(3, 2)).sum().backward()


def number_computed_of_a_configuration():
    """The same of a tensor that is computed: of what is not known to have dimensions nothing is said."""

    class Convolution(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.conv = nn.Conv1d(1, 1, config.kernel)
            self.padding = torch.tensor((config.kernel - 1) * config.dilation, dtype=torch.int64) - config.stride

        def forward(self, x):
            return self.conv(nn.functional.pad(x, (int(self.padding), 0))) * self.padding

    class Config:
        kernel, dilation, stride = 3, 1, 1

    Convolution(Config())(torch.rand(1, 1, 5)).sum().backward()


def a_buffer_assigned_anew():
    class Blur(nn.Module):
        def __init__(self, channels=0):
            super().__init__()
            self.register_buffer("kernel", torch.tensor([[[1.0, 2.0, 1.0]]]) / 4)
            if channels > 0:
                self.kernel = self.kernel.repeat(channels, 1, 1)

        def forward(self, x):
            return nn.functional.conv1d(x, self.kernel, groups=self.kernel.shape[0])

    Blur(2)(torch.rand(1, 2, 5))


def part_of_a_causal_mask():
    """Holds: 'mask' not in net.state_dict()"""

    class Attention(nn.Module):
        def __init__(self, dim, block_size):
            super().__init__()
            self.qkv = nn.Linear(dim, 3 * dim)
            self.mask = torch.tril(torch.ones(block_size, block_size))  # smell: [TLN311]

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            scores = q @ k.transpose(-2, -1) / c**0.5
            scores = scores.masked_fill(self.mask[:t, :t] == 0, float("-inf"))
            return scores.softmax(-1) @ v

    net = Attention(4, 8)
    net(torch.rand(2, 3, 4))


def positions_with_another_shape():
    """Holds: len(net.state_dict()) == 2"""

    class Net(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.down = nn.Linear(dim, dim)
            self.positions = torch.arange(10).float()  # smell: [TLN311]

        def forward(self, x):
            return self.down(x) + self.positions[:, None]

    net = Net(4)
    net(torch.rand(10, 4))


def part_moved_by_hand():
    class Attention(nn.Module):
        def __init__(self, block_size):
            super().__init__()
            self.mask = torch.tril(torch.ones(block_size, block_size))

        def forward(self, x):
            mask = self.mask[: x.size(0), : x.size(0)].to(x.device)
            return (x @ x.t()).masked_fill(mask == 0, float("-inf"))

    Attention(8)(torch.rand(3, 4))


def number_of_a_table():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scales = torch.tensor([0.5, 2.0])

        def forward(self, x):
            return x * self.scales[0] + self.scales.sum()

    Scaled()(torch.rand(3))


def a_parameter_or_a_table_of_its_numbers():
    class Encoding(nn.Module):
        def __init__(self, learned=False):
            super().__init__()
            if learned:
                self.edges = nn.Parameter(torch.linspace(0, 1, 5))
            else:
                self.edges = torch.linspace(0, 1, 5)

        def forward(self, x):
            edges = torch.sort(self.edges)[0]
            return torch.stack([x - edges[i] for i in range(5)])

    Encoding()(torch.rand(3))


def a_parameter_or_a_table_that_meets_the_input():
    """Holds: list(net.buffers()) == []"""

    class Encoding(nn.Module):
        def __init__(self, learned=False):
            super().__init__()
            if learned:
                self.edges = nn.Parameter(torch.linspace(0, 1, 5))
            else:
                self.edges = torch.linspace(0, 1, 5)  # smell: [TLN311]

        def forward(self, x):
            return x[:, None] - self.edges

    net = Encoding()
    net(torch.rand(3))


def two_tables_of_one_class():
    """Holds: list(net.buffers()) == []"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.low = torch.tensor([0.5, 2.0])  # smell: [TLN311]
            self.high = torch.tensor([1.5, 3.0])

        def forward(self, x):
            return (x - self.low) / (self.high - x)

    net = Scaled()
    net(torch.rand(3, 2))


def a_table_made_longer_by_what_the_input_says_and_moved():

    class Masked(nn.Module):
        def __init__(self, length):
            super().__init__()
            self.mask = torch.ones(length, dtype=torch.bool)
            self.moved = torch.ones(length)

        def forward(self, given, index):
            mask = self.mask.repeat(given.shape[0]).to(given.device)
            weight = self.moved.repeat(given.size(0)).to(given.device)
            return given.flatten(0, 1)[mask] * weight[:, None]

    net = Masked(2)
    net(torch.rand(3, 2, 2), 0)


def a_size_of_what_somebody_elses_layer_makes():
    from importlib import import_module

    class Net(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.kept = torch.ones(3, 2)
            self.embed = layer(self)
            self.rnn = nn.Linear(2, 2)

        def forward(self, given):
            found = self.embed(given)
            out = self.rnn(found)
            return out.repeat(1, found.size()[1], 1)

    Net(lambda net: nn.Identity())(torch.rand(3, 2, 2))


def a_tensor_without_elements_keeps_the_place_of_one():
    class Encoding(nn.Module):
        def __init__(self, n, separate):
            super().__init__()
            if separate:
                self.cls = nn.Parameter(torch.zeros(1, 1, n))
            else:
                self.cls = torch.tensor([])
            self.separate = separate

        def forward(self, x):
            if self.separate:
                x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1)
            return x

    Encoding(3, False)(torch.ones(2, 4, 3))
