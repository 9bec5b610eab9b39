# ruff: noqa
"""Programs for TLN512."""

import torch
import torch.nn.functional as F
from torch import nn


def residual_added_in_place():
    """Raises: is a view and is being modified inplace"""
    block = nn.Conv2d(1, 1, 3, padding=1)
    block.register_full_backward_hook(lambda m, gi, go: None)
    x = torch.rand(1, 1, 4, 4)
    out = block(x)
    out += x  # error: [TLN512]


def relu_after_a_hooked_norm():
    """Raises: is a view and is being modified inplace"""
    conv, norm = nn.Conv1d(2, 2, 1), nn.BatchNorm1d(2)
    grads = []
    norm.register_full_backward_hook(lambda m, gi, go: grads.append(go[0]))
    y = norm(conv(torch.rand(3, 2, 4)))
    y = F.relu(y, inplace=True)  # error: [TLN512]


def hook_on_the_in_place_layer():
    """Raises: is a view and is being modified inplace"""
    fc, act = nn.Linear(2, 2), nn.ReLU(inplace=True)
    act.register_full_backward_hook(print)
    hidden = fc(torch.rand(1, 2))
    act(hidden)  # error: [TLN512]


def feature_map_hooked_for_grad_cam():
    """Raises: is a view and is being modified inplace"""
    features = nn.Linear(4, 4)
    head = nn.Linear(4, 2)

    def hook(module, grad_input, grad_output):
        print(grad_output)

    features.register_full_backward_hook(hook)
    z = features(torch.rand(2, 4))
    z.mul_(0.5)  # error: [TLN512]
    head(z).sum().backward()


def input_modified_after_the_call():
    """Raises: is a view and its base or another view of its base has been modified inplace"""
    pool = nn.AvgPool1d(2)
    fc = nn.Linear(4, 4)
    pool.register_full_backward_hook(print)
    x = fc(torch.rand(1, 4))
    y = pool(x)
    x += 1  # error: [TLN201]  # error: [TLN512]
    y.sum().backward()


def out_of_place():
    block = nn.Linear(2, 2)
    block.register_full_backward_hook(lambda m, gi, go: None)
    out = block(torch.rand(1, 2))
    out = out + 1
    out += 1
    F.relu(out).sum().backward()


def without_gradients():
    block = nn.Linear(2, 2)
    block.register_full_backward_hook(lambda m, gi, go: None)
    with torch.no_grad():
        out = block(torch.rand(1, 2))
        out += 1


def forward_hook_only():
    block = nn.Linear(2, 2)
    block.register_forward_hook(lambda m, i, o: None)
    out = block(torch.rand(1, 2))
    out += 1


def hook_of_another_module():
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    second.register_full_backward_hook(lambda m, gi, go: None)
    out = first(torch.rand(1, 2))
    out += 1
    second(out)


def data_modified_after_the_call():
    fc = nn.AvgPool1d(2)
    fc.register_full_backward_hook(lambda m, gi, go: None)
    x = torch.rand(1, 4)
    y = fc(x)
    x += 1


def written_after_a_relu_that_keeps_its_result():
    act = nn.ReLU()
    fc = nn.Linear(4, 4)
    act.register_full_backward_hook(lambda m, gi, go: None)
    x = fc(torch.rand(1, 4))
    y = act(x)
    x += 1
    y.sum().backward()


def written_where_no_backward_comes_by():
    pool = nn.AvgPool1d(2)
    fc = nn.Linear(4, 4)
    pool.register_full_backward_hook(print)
    x = fc(torch.rand(1, 4))
    y = pool(x)
    x += 1  # smell: [TLN204]
    x.sum().backward()


def written_behind_what_gives_a_leaf():
    pool = nn.AvgPool1d(2)
    fc = nn.Linear(4, 4)
    pool.register_full_backward_hook(print)
    x = fc(torch.rand(1, 4))
    y = eval("lambda t: t.detach().requires_grad_()")(pool(x))
    x += 1  # smell: [TLN204]
    y.sum().backward()
