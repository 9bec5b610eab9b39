# ruff: noqa
"""Programs for TLN604."""

import torch
from torch import nn


def distances_with_a_safe_zero():
    """Holds: points.grad.isnan().any()"""

    class Distances(nn.Module):
        def forward(self, points):
            squared = ((points[:, None] - points[None]) ** 2).sum(-1)
            return torch.where(squared > 0, squared.sqrt(), torch.zeros_like(squared))  # warning: [TLN604]

    points = torch.rand(3, 2, requires_grad=True)
    Distances()(points).sum().backward()


def entropy():
    """Holds: logits.grad.isnan().any()"""
    logits = torch.tensor([0.0, 200.0], requires_grad=True)
    p = torch.softmax(logits, 0)
    terms = p * torch.where(p == 0, torch.zeros_like(p), torch.log(p))  # warning: [TLN604]  # strict: [TLN605]
    (-terms.sum()).backward()


def inverse_of_a_degree():
    """Holds: weight.grad.isnan().any()"""
    weight = torch.zeros(3, requires_grad=True)
    degree = weight * 2
    normal = degree.rsqrt().masked_fill(degree == 0, 0.0)  # warning: [TLN604]
    normal.sum().backward()


def ratio():
    """Holds: a.grad.isnan().any()"""
    a = torch.tensor([0.0, 1.0], requires_grad=True)
    scaled = a * 1
    ratio = torch.where(scaled != 0, torch.ones(2) / scaled, torch.zeros(2))  # warning: [TLN604]
    ratio.sum().backward()


def angle_at_the_poles():
    """Holds: x.grad.isnan().any()"""
    x = torch.tensor([1.0, 0.5], requires_grad=True)
    angle = torch.where(x < 1, torch.acos(x), torch.zeros_like(x))  # warning: [TLN604]
    angle.sum().backward()


def masked_before():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    safe = torch.where(x > 0, x, torch.ones_like(x))
    y = torch.where(x > 0, safe.sqrt(), torch.zeros_like(x))
    z = torch.where(x > 0, x.clamp(min=1e-8).sqrt(), torch.zeros_like(x))
    (y + z).sum().backward()


def data_without_gradients():
    x = torch.tensor([0.0, 1.0])
    y = torch.where(x > 0, torch.log(x), torch.zeros_like(x))
    w = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.no_grad():
        z = torch.where(w > 0, torch.log(w), torch.zeros_like(w))


def regular_functions():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    gamma = torch.where(x > 0.04, ((x + 0.055) / 1.055) ** 2.4, x / 12.92)
    elu = torch.where(x > 0, x, torch.exp(x) - 1.5)
    (gamma + elu).sum().backward()


def singular_point_is_kept():
    x = torch.tensor([0.5, 4.0], requires_grad=True)
    y = torch.where(x < 1, torch.sqrt(x), x)
    y.sum().backward()


def mask_of_something_else():
    x = torch.tensor([0.5, 4.0], requires_grad=True)
    valid = torch.tensor([1, 0])
    y = torch.where(valid > 0, torch.log(x), torch.zeros_like(x))
    y.sum().backward()


def what_a_helper_is_given():
    def safe_log(x):
        return torch.where(x > 0, torch.log(x), torch.zeros_like(x))

    safe_log(torch.rand(3))


def masked_for_an_argmax():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    scores = torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x))
    best = scores.argmax()
    high = scores > 1
    x[best].backward()


def masked_and_detached():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    weights = torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x)).detach()
    (weights * x).sum().backward()


def masked_for_the_log():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    total = torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x)).sum()
    history = [total.item()]
    (x * 2).sum().backward()


def masked_for_an_argmax_and_a_loss():
    """Holds: x.grad.isnan().any()"""
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    scores = torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x))  # warning: [TLN604]
    best = scores.argmax()
    scores.sum().backward()


def masked_and_returned():
    """Holds: x.grad.isnan().any()"""
    x = torch.tensor([0.0, 4.0], requires_grad=True)

    def score(values):
        scores = torch.where(values > 0, torch.sqrt(values), torch.zeros_like(values))  # warning: [TLN604]
        print(scores.argmax())
        return scores

    score(x)[1:].sum().backward()


def upper_triangle_of_distances():
    """Holds: stars.grad.isnan().any()"""
    stars = torch.rand(5, 3, requires_grad=True)
    gap = stars.unsqueeze(0) - stars.unsqueeze(1)
    far = (gap * gap).sum(dim=2).sqrt()  # warning: [TLN604]
    (far.triu(1) - 1).pow(2).mean().backward()


def mean_distance():
    """Holds: points.grad.isnan().any()"""
    points = torch.rand(2, 4, 3, requires_grad=True)
    gaps = points[:, :, None] - points[:, None]
    spread = gaps.square().sum(-1) ** 0.5  # warning: [TLN604]
    spread.mean().backward()


def root_of_a_new_weight():
    """Holds: weight.grad.isnan().any()"""
    weight = torch.zeros(3, requires_grad=True)
    size = (weight**2).sum().sqrt()  # warning: [TLN604]
    size.backward()


def distances_off_zero():
    stars = torch.rand(5, 3, requires_grad=True)
    others = torch.rand(5, 3)
    gap = stars[:, None] - stars[None]
    (gap.square().sum(-1) + 1e-9).sqrt().mean().backward()
    gap.square().sum(-1).clamp(min=1e-9).sqrt().mean().backward(retain_graph=True) if False else None
    (stars[:, None] - others[None]).square().sum(-1).sqrt().mean().backward()
    (stars[:, None] - stars[:, None].detach().flip(0) - 2).square().sum(-1).sqrt().mean().backward()
    with torch.no_grad():
        far = (stars[:, None] - stars[None]).square().sum(-1).sqrt()
    (stars[:, None] - stars[None]).square().sum().sqrt().backward()
    apart = stars[:, None] - stars[None]
    (apart.square().sum(0) + 1).sqrt().sum().backward()


def zero_that_is_filled():
    weight = torch.zeros(3)
    weight[:] = 2.0
    weight.requires_grad_()
    weight.square().sum().sqrt().backward()
    drawn = nn.Parameter(torch.zeros(3))
    nn.init.normal_(drawn)
    drawn.square().sum().sqrt().backward()
    diagonal = torch.rand(4, 2, requires_grad=True)
    squares = (diagonal[:, None] - diagonal[None]).square().sum(-1)
    squares.fill_diagonal_(1.0)
    squares.sqrt().sum().backward()


def gradient_that_is_mended():
    points = torch.rand(4, 2, requires_grad=True)
    points.register_hook(torch.nan_to_num)
    (points[:, None] - points[None]).square().sum(-1).sqrt().mean().backward()


def a_factor_of_what_is_masked():
    """Holds: scores.grad.isnan().any()"""

    def entropy(p):
        terms = torch.where(p > 0, p * torch.log(p), torch.zeros_like(p))  # warning: [TLN604]
        return -terms.sum(dim=-1)

    scores = nn.Parameter(torch.tensor([[1.0, -1.0]]))
    open_ = torch.relu(scores)
    entropy(open_ / (open_.sum(dim=-1, keepdim=True) + 1e-6)).mean().backward()


def an_operand_of_an_operand_of_what_is_masked():
    """Holds: x.grad.isnan().any()"""
    x = torch.tensor([0.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0])
    y = (torch.exp(-1 / x) * w + 1).masked_fill(x <= 0, 0.0)  # warning: [TLN604]
    y.sum().backward()


def a_factor_of_what_is_masked_is_safe_itself():
    p = torch.tensor([0.0, 0.5], requires_grad=True)
    safe = torch.where(p > 0, p, torch.ones_like(p))
    terms = torch.where(p > 0, p * torch.log(safe), torch.zeros_like(p))
    terms.sum().backward()
    assert not p.grad.isnan().any()


def sums_over_what_is_masked():
    p = torch.tensor([0.0, 0.5], requires_grad=True)
    terms = torch.where(p > 0, p.log().cumsum(0), torch.zeros_like(p))
    terms.sum().backward()
    assert not p.grad.isnan().any()


def relu_stops_what_is_not_a_number():
    x = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
    p = torch.relu(x)
    terms = torch.where(p > 0, p * p.sqrt(), torch.zeros_like(p))
    terms.sum().backward()
    assert not x.grad.isnan().any()
