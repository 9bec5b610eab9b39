# ruff: noqa
"""Programs for TLN103."""

import torch
import torch.nn.functional as F
from torch import nn


def loss_per_sample():
    """Raises: grad can be implicitly created only for scalar outputs"""
    net = nn.Linear(4, 3)
    criterion = nn.CrossEntropyLoss(reduction="none")
    loss = criterion(net(torch.rand(8, 4)), torch.zeros(8, dtype=torch.long))
    loss.backward()  # error: [TLN103]


def output_of_a_network():
    """Raises: grad can be implicitly created only for scalar outputs"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3)
            self.head = nn.Linear(2 * 2 * 2, 5)

        def forward(self, x):
            return self.head(self.conv(x).flatten(1))

    Net()(torch.rand(1, 1, 4, 4)).backward()  # error: [TLN103]


def mean_over_one_dimension():
    """Raises: grad can be implicitly created only for scalar outputs"""
    x = torch.rand(4, 3, requires_grad=True)
    x.pow(2).mean(dim=1).backward()  # error: [TLN103]


def gradient_of_a_field():
    """Raises: grad can be implicitly created only for scalar outputs"""
    x = torch.linspace(0, 1, 10, requires_grad=True)
    u = torch.sin(3 * x)
    du = torch.autograd.grad(u, x)[0]  # error: [TLN103]


def weighted_sum_forgotten():
    """Raises: grad can be implicitly created only for scalar outputs"""
    logits = torch.rand(4, 2, requires_grad=True)
    weights = torch.rand(4)
    losses = F.cross_entropy(logits, torch.zeros(4, dtype=torch.long), reduction="none") * weights
    torch.autograd.backward(losses)  # error: [TLN103]


def one_element():
    w = torch.rand(1, requires_grad=True)
    (w * 3).backward()
    (w * torch.rand(1, 1)).backward()


def matrix_of_one_element():
    net = nn.Linear(4, 1)
    net(torch.rand(1, 4)).backward()


def weighed_by_a_vector():
    x = torch.rand(3, requires_grad=True)
    (x * x).backward(torch.ones(3))
    torch.autograd.backward([x * x], grad_tensors=[torch.ones(3)])
    torch.autograd.grad(x * x, x, grad_outputs=torch.ones(3))


def reduced_by_default():
    net = nn.Linear(4, 3)
    nn.CrossEntropyLoss()(net(torch.rand(8, 4)), torch.zeros(8, dtype=torch.long)).backward()
    nn.MSELoss(reduction="sum")(net(torch.rand(8, 4)), torch.zeros(8, 3)).backward()


def shape_that_nobody_knows():
    import random

    n = random.choice([1])
    x = torch.rand(n, requires_grad=True)
    (x * x).backward()


def reduction_set_after_the_loss_was_made():
    criterion = nn.MSELoss(reduction="none")
    criterion.reduction = "mean"
    w = torch.ones(3, requires_grad=True)
    criterion(w, torch.zeros(3)).backward()


def reduction_set_under_a_name_that_is_computed():
    criterion = nn.MSELoss(reduction="none")
    setattr(criterion, eval("'reduction'"), "mean")
    w = torch.ones(3, requires_grad=True)
    criterion(w, torch.zeros(3)).backward()


def loss_configured_by_unknown_code():
    configure = eval("lambda loss: setattr(loss, 'reduction', 'mean')")
    criterion = nn.MSELoss(reduction="none")
    configure(criterion)
    w = torch.ones(3, requires_grad=True)
    criterion(w, torch.zeros(3)).backward()


def loss_with_a_hook_from_elsewhere():
    attach = eval("lambda m: m.register_forward_hook(lambda m, given, result: result.sum())")
    criterion = nn.L1Loss(reduction="none")
    attach(criterion)
    w = torch.ones(3, requires_grad=True)
    criterion(w, torch.zeros(3)).backward()


def reduction_taken_away_after_the_loss_was_made():
    """Raises: grad can be implicitly created only for scalar outputs"""
    criterion = nn.MSELoss()
    criterion.reduction = "none"
    w = torch.ones(3, requires_grad=True)
    criterion(w, torch.zeros(3)).backward()  # error: [TLN103]


def gradient_of_a_leaf_that_is_told_so():
    hidden = torch.rand(3, 2, requires_grad=True) * 2
    cut = eval("0.5") * hidden.detach()
    cut.requires_grad = True
    (2 * cut).mean().backward()
    hidden.backward(cut.grad)


def root_of_which_nobody_knows():
    """Raises: does not require grad"""
    a = nn.Parameter(torch.ones(1, 3), requires_grad=False)
    eval("lambda p: None")(a)
    torch.autograd.backward([a])  # warning: [TLN103]
