# ruff: noqa
"""Programs for TLN109."""

import torch
from torch import nn


def gradient_of_the_features():
    """Warns: not a leaf Tensor"""
    encoder, head = nn.Linear(4, 3), nn.Linear(3, 1)
    features = encoder(torch.rand(2, 4))
    head(features).sum().backward()
    saliency = features.grad  # warning: [TLN109]


def class_activation_map():
    """Raises: 'NoneType' object has no attribute 'mean'"""

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3)
            self.head = nn.Linear(2, 3)

        def forward(self, x):
            self.maps = self.conv(x)
            return self.head(self.maps.mean(dim=(2, 3)))

    net = Classifier()
    net(torch.rand(1, 1, 5, 5))[0, 1].backward()
    weights = net.maps.grad.mean(dim=(2, 3))  # warning: [TLN109]


def leaf_lost_by_an_operation():
    """Warns: not a leaf Tensor"""
    noise = torch.randn(3, requires_grad=True) * 0.01  # warning: [TLN306]
    (noise**2).sum().backward()
    print(noise.grad)  # warning: [TLN109]


def states_of_a_recurrent_net():
    """Warns: not a leaf Tensor"""
    cell = nn.Linear(2, 2)
    h = torch.zeros(1, 2)
    for x in torch.rand(3, 1, 2):
        h = torch.tanh(cell(h) + x)
    h.sum().backward()
    vanishing = h.grad  # warning: [TLN109]


def retained_too_late():
    """Warns: not a leaf Tensor"""
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    h.sum().backward()
    missing = h.grad  # warning: [TLN109]
    h.retain_grad()


def retained():
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    h.retain_grad()
    h.pow(2).sum().backward()
    print(h.grad)


def gradient_of_the_input():
    """A leaf whose flag was set by an assignment."""
    image = torch.rand(1, 4) * 0.5
    image.requires_grad = True
    nn.Linear(4, 1)(image).sum().backward()
    saliency = image.grad.abs()


def gradient_of_a_detached_copy():
    net = nn.Linear(4, 4)
    start = net(torch.rand(1, 4)).detach().requires_grad_()
    start.pow(2).sum().backward()
    print(start.grad)


def gradients_of_parameters():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    net(torch.rand(1, 2)).sum().backward()
    for name, p in net.named_parameters():
        print(name, p.grad.norm())
    print(net[0].weight.grad)


def computed_without_recording():
    net = nn.Linear(2, 2)
    with torch.no_grad():
        start = net(torch.rand(1, 2))
    start.requires_grad_()
    start.sum().backward()
    print(start.grad)


def attribute_of_another_class():
    class Node:
        def __init__(self, data):
            self.data, self.grad = data, 0.0

        def __mul__(self, other):
            return Node(self.data * other.data)

    product = Node(2.0) * Node(3.0)
    product.grad += 1.0
    print(product.grad)


def leaf_of_unknown_shape():
    def test(shape):
        x = torch.rand(*shape).clone().requires_grad_(True)
        (x**2).sum().backward()
        return x.grad.clone()

    test([3])


def copy_on_another_device():
    """Warns: not a leaf Tensor"""
    device = torch.device("meta" if torch.get_num_threads() else "cpu")
    image = torch.rand(1, 4, requires_grad=True)
    there = image.to(device)
    missing = there.grad  # warning: [TLN109]


def conversion_to_the_cpu():
    image = torch.rand(4, requires_grad=True)
    same = image.to("cpu")
    same.pow(2).sum().backward()
    assert same.grad is image.grad
