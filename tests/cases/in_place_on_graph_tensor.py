# ruff: noqa
"""Programs for TLN204."""

import torch
import torch.nn.functional as F
from torch import nn


def returned_after_a_write():
    """Holds: h._version == 1"""
    net = nn.Linear(2, 2)
    h = torch.tanh(net(torch.rand(3, 2)))
    h *= 2  # smell: [TLN204]


def probabilities_sharpened():
    """Holds: p._version == 1"""
    p = F.softmax(torch.rand(4, requires_grad=True), dim=0)
    p.pow_(2)  # smell: [TLN204]
    best = p.argmax().item()


def squared_then_shifted():
    """Holds: y._version == 1"""
    x = torch.rand(3, requires_grad=True)
    y = 2 * x
    energy = y**2
    y.add_(1)  # smell: [TLN204]


def through_a_module():
    """Holds: h._version == 1"""
    layer, activation = nn.Linear(2, 2), nn.ReLU(inplace=True)
    h = torch.exp(layer(torch.rand(3, 2)))
    out = activation(h)  # smell: [TLN204]


def residual_before_a_norm():
    conv, norm = nn.Conv1d(2, 2, 3, padding=1), nn.BatchNorm1d(2)
    x = torch.rand(3, 2, 4)
    out = norm(conv(x))
    out += x
    out.sum().backward()


def relu_in_place_after_linear():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
    net(torch.rand(3, 2)).sum().backward()


def accumulator_in_no_graph():
    total = torch.zeros(2)
    for _ in range(3):
        total += torch.rand(2)
    total /= 3


def loss_accumulated():
    """`+` saves nothing: the old total may go."""
    net = nn.Linear(2, 1)
    loss = torch.zeros(())
    for _ in range(3):
        loss += net(torch.rand(4, 2)).pow(2).mean()
    loss.backward()


def reward_of_an_episode():
    reward = 0
    for _ in range(3):
        reward += torch.rand(()).item()


def moving_average_of_weights():
    net = nn.Linear(2, 2)
    average = [p.detach().clone() for p in net.parameters()]
    for a, p in zip(average, net.parameters()):
        a.mul_(0.9).add_(p.detach(), alpha=0.1)


def written_under_no_grad_after_backward():
    x = torch.rand(3, requires_grad=True)
    y = x.exp()
    y.sum().backward()
    with torch.no_grad():
        y.mul_(2)


def argument_of_unknown_kind():
    def scale(value):
        value *= 2
        return value

    scale(3)
    scale([1])


def shape_of_the_scores_looked_at():
    """`expand_as` looks at the shape of its argument alone, whatever it is called on."""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q = nn.Linear(4, 4)

        def forward(self, x, mask):
            scores = torch.matmul(self.q(x), x.transpose(1, 2))
            mask = (mask == 0).view(1, 1, 3).expand_as(scores)
            scores.masked_fill_(mask, float("-inf"))
            return torch.softmax(scores.float(), dim=-1).type_as(scores)

    Attention()(torch.rand(2, 3, 4), torch.ones(3)).sum().backward()


def activation_after_a_layer_that_is_given():
    """The way of every ResNet: whatever `norm` is, it hardly saves its result."""

    class Block(nn.Module):
        def __init__(self, norm=None):
            super().__init__()
            if norm is None:
                norm = nn.BatchNorm1d
            self.fc, self.norm = nn.Linear(4, 4), norm(4)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            return self.relu(self.norm(self.fc(x)))

    Block()(torch.rand(3, 4)).sum().backward()


def results_without_a_graph():
    """Holds: not chosen[0].requires_grad and not chosen[1].requires_grad"""

    class Sampler(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 3)

        def sample(self, x):
            p = self.head(x).sigmoid()
            p.mul_(2)  # strict: [TLN204]
            return p.argmax(-1), p > 1

        def labels(self, x):
            p = self.head(x).exp()
            p.div_(p.sum())  # strict: [TLN204]
            return [float(each) for each in p.flatten().tolist()]

    chosen = Sampler().sample(torch.ones(2, 3))
    labels = Sampler().labels(torch.ones(2, 3))


def results_that_are_kept():
    """Holds: sampler.p._version == 1"""

    class Sampler(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 3)

        def gates(self, x):
            p = self.head(x).sigmoid()
            p.mul_(2)  # smell: [TLN204]
            self.p = p
            return p.argmax(-1)

    sampler = Sampler()
    sampler.gates(torch.ones(2, 3))


def a_result_that_is_dropped_on_the_path_of_the_write():
    """Holds: Deconv(False)(torch.ones(1, 2)).requires_grad"""

    class Deconv(nn.Module):
        def __init__(self, bn=True, act=True):
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.conv = nn.Linear(2, 2)
            self.bn = nn.LayerNorm(2) if bn else None
            self.act = act

        def forward(self, x):
            x = self.first(x)
            y = self.conv(x)
            if self.bn is not None:
                x = self.bn(y)
            if self.act:
                x = torch.relu_(x)  # strict: [TLN204]
            return x

    Deconv(False)(torch.ones(1, 2)).sum().backward()


def a_result_that_is_kept_on_the_path_of_the_write():
    """Holds: net.y.requires_grad"""

    class Deconv(nn.Module):
        def __init__(self, bn=True, act=True):
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.conv = nn.Linear(2, 2)
            self.bn = nn.LayerNorm(2) if bn else None
            self.act = act

        def gates(self, x):
            x = self.first(x)
            y = self.y = self.conv(x)
            if self.bn is not None:
                x = self.bn(y)
            if self.act:
                x = torch.relu_(x)  # smell: [TLN204]
            return x

    net = Deconv(False)
    net.gates(torch.ones(1, 2))


def in_code_that_its_name_calls_inference():
    """Holds: sampler.p._version == 1"""

    class Sampler(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 3)

        def sample_actions(self, x):
            p = self.head(x).sigmoid()
            p.mul_(2)  # strict: [TLN204]
            self.p = p
            return p.argmax(-1)

    sampler = Sampler()
    sampler.sample_actions(torch.ones(2, 3))


def what_is_none_where_it_was_saved_and_has_a_method_called():
    class Scorer(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 3)

        def score(self, x, mask):
            p = torch.relu(self.head(x))
            if mask is not None:
                p = p * mask
            mask = mask.squeeze(-1)
            p *= 2
            return p, mask

        def as_written(self, x, mask):
            if mask is None:
                p = torch.relu(self.head(x))
            else:
                p = self.head(x) * mask
            p *= mask.sum()
            return p

    net = Scorer()
    net.score(torch.ones(1, 3), torch.ones(1, 1))[0].sum().backward()
    net.as_written(torch.ones(1, 3), torch.ones(1, 1)).sum().backward()


def what_may_be_none_where_it_was_saved():
    """Holds: p._version == 1"""

    class Scorer(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 3)

        def score(self, x, mask):
            p = torch.relu(self.head(x))
            if mask is not None:
                p = p * mask
            p *= 2  # smell: [TLN204]
            return p, mask

    p, _ = Scorer().score(torch.ones(1, 3), None)


def a_method_that_is_only_called_with_grad_mode_off():
    """Holds: not out.requires_grad"""

    class Scorer(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 3)

        def scored(self, x):
            p = torch.tanh(self.head(x))
            p *= 2  # strict: [TLN204]
            return p

        def weighted(self, x):
            p = torch.tanh(self.head(x))
            p *= 2  # smell: [TLN204]
            return p

        @torch.inference_mode()
        def ranked(self, x):
            return self.scored(x) + self.weighted(x)

    scorer = Scorer()
    out = scorer.ranked(torch.rand(2, 3))
    scorer.weighted(torch.rand(2, 3))
