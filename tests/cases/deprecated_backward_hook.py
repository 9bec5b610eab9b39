# ruff: noqa
"""Programs for TLN510."""

import sys
import types
from unittest import mock

import torch
from torch import nn


def grad_cam():
    """Warns: Using a non-full backward hook"""

    class GradCam:
        def __init__(self, model, target):
            self.gradients = None
            target.register_backward_hook(self.keep)  # strict: [TLN510]
            self.model = model

        def keep(self, module, grad_input, grad_output):
            self.gradients = grad_output[0]

    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
    cam = GradCam(net, net[0])
    net(torch.rand(1, 1, 4, 4))[0, 0].backward()  # strict: [TLN220]


def on_every_module():
    """Warns: Using a non-full backward hook"""
    model = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())
    for module in model.modules():
        module.register_backward_hook(lambda m, gi, go: print(gi))  # warning: [TLN510]
    model(torch.rand(1, 2, requires_grad=True)).sum().backward()


def own_module():
    """Warns: Using a non-full backward hook"""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.register_backward_hook(print)  # warning: [TLN510]

        def forward(self, x):
            return torch.tanh(self.fc(x))

    Block()(torch.rand(1, 2)).sum().backward()


def helper():
    """Warns: Using a non-full backward hook"""

    def watch(layer, found):
        handle = layer.register_backward_hook(lambda m, gi, go: found.append(go))  # warning: [TLN510]
        return handle

    layer, found = nn.Linear(2, 2), []
    watch(layer, found)
    layer(torch.rand(1, 2)).sum().backward()


def gradients_ignored():
    layer, called = nn.Linear(2, 2), []
    layer.register_backward_hook(lambda m, gi, go: called.append(m))
    layer(torch.rand(1, 2)).sum().backward()


def full_hook():
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda m, gi, go: None)
    layer(torch.rand(1, 2, requires_grad=True)).sum().backward()


def tensor_hook():
    x = torch.rand(2, requires_grad=True)
    x.register_hook(print)
    x.register_post_accumulate_grad_hook(lambda p: None)


def forward_hooks():
    layer = nn.Linear(2, 2)
    layer.register_forward_pre_hook(lambda m, i: None)
    layer.register_forward_hook(lambda m, i, o: None)
    layer(torch.rand(1, 2))


def method_of_another_class():
    class Registry:
        def register_backward_hook(self, hook):
            self.hook = hook

    Registry().register_backward_hook(print)


def what_an_old_torch_gets():
    net = nn.Linear(2, 2)
    if hasattr(net, "register_full_backward_hook"):
        net.register_full_backward_hook(lambda module, before, after: None)
    else:
        net.register_backward_hook(lambda module, before, after: print(before))


def by_version():
    net = nn.Linear(2, 2)
    if torch.__version__ >= "1.8":
        net.register_full_backward_hook(lambda module, before, after: None)
    else:
        net.register_backward_hook(lambda module, before, after: print(before))


def hook_of_the_outputs_gradient():
    """What it reads is the gradient of the module's output, whatever the last operation is."""
    seen = []

    def keep(module, grad_input, grad_output):
        seen.append(grad_output[0])

    embedding = torch.nn.Embedding(4, 2)
    embedding.register_backward_hook(keep)
    embedding(torch.tensor([1, 2])).sum().backward()
    assert seen[0].shape == (2, 2)


def hook_that_returns_the_outputs_gradient():
    """Warns: non-full backward hook"""

    def double(module, grad_input, grad_output):
        return tuple(2 * each for each in grad_output)

    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    net.register_backward_hook(double)  # warning: [TLN510]
    net(torch.rand(1, 2, requires_grad=True)).sum().backward()


def hooks_of_activations():
    """Holds: (x.grad == 0).all()"""

    def guide(module, grad_input, grad_output):
        return (torch.clamp(grad_input[0], min=0.0),)

    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1), nn.Tanh())
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.register_backward_hook(guide)  # strict: [TLN510]
        if isinstance(module, (nn.Tanh, nn.Sigmoid)):
            module.register_backward_hook(guide)  # strict: [TLN510]
    x = torch.rand(4, 2, requires_grad=True)
    (-model(x)).sum().backward()


def hooks_of_layers_of_two_operations():
    """Warns: non-full backward hook"""

    class Twice(nn.Module):
        def forward(self, x):
            return x.sin() * x.cos()

    def guide(module, grad_input, grad_output):
        return tuple(None if each is None else torch.clamp(each, min=0.0) for each in grad_input)

    model = nn.Sequential(Twice(), nn.ReLU())
    for module in model.modules():
        if isinstance(module, (nn.ReLU, Twice)):
            module.register_backward_hook(guide)  # warning: [TLN510]
    model(torch.rand(4, 2, requires_grad=True)).sum().backward()


def hook_of_a_method_that_takes_whatever_comes():
    """Warns: non-full backward hook"""

    class Conv(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.cached = None
            self.register_backward_hook(self.forget)  # strict: [TLN510]

        def forward(self, x):
            self.cached = self.linear.weight.detach()
            return torch.tanh(self.linear(x))

        def forget(self, *given):
            self.cached = None

    Conv()(torch.rand(3, 2)).sum().backward()


def hook_that_looks_at_what_it_takes():
    """Warns: non-full backward hook"""

    seen = []
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())

    def look(*given):
        seen.append(given[1])

    net.register_backward_hook(look)  # warning: [TLN510]
    net(torch.rand(3, 2)).sum().backward()


def hook_that_keeps_what_came_out():
    """Warns: non-full backward hook"""
    from functools import partial

    kept = {}

    def keep(module, i, o, name):
        kept[name] = o

    layers = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    layers.register_backward_hook(partial(keep, name="first"))  # strict: [TLN510]
    layers(torch.rand(3, 2)).sum().backward()


def hook_of_another_framework():
    """Its Modules have one of that name, which is not deprecated."""
    sys.modules.setdefault("jittor", types.SimpleNamespace(nn=types.SimpleNamespace(ReLU=mock.MagicMock)))
    import jittor

    layer = jittor.nn.ReLU()
    layer.register_backward_hook(lambda module, grad_input, grad_output: None)
