# ruff: noqa
"""Programs for TLN207."""

import torch
from torch import nn


def update_before_the_backward():
    """Holds: w.grad == 40"""
    w = torch.tensor(2.0, requires_grad=True)
    loss = w**2
    w.data *= 10  # warning: [TLN207]
    loss.backward()


def activations_masked():
    """Holds: (w.grad == 0).all()"""
    w = torch.ones(3, requires_grad=True)
    h = torch.ones(3) * w
    out = (h * h).sum()
    h.data.zero_()  # warning: [TLN207]
    out.backward()


def output_clamped():
    """Holds: out._version == 0"""
    net = nn.Linear(2, 1)
    out = net(torch.rand(3, 2))
    out.data.clamp_(min=0.0)  # strict: [TLN207]
    out.mean().backward()


def sigmoid_rounded():
    """Holds: (w.grad == 0).all()"""
    w = torch.zeros(4, requires_grad=True)
    gate = torch.sigmoid(w)
    gate.data.round_()  # warning: [TLN207]
    gate.sum().backward()


def state_reset():
    """Holds: h.requires_grad and h.sum() == 0"""
    cell = nn.Linear(2, 2)
    h = torch.tanh(cell(torch.rand(1, 2)))
    h.data[0] = 0.0  # smell: [TLN207]


def weights_replaced():
    """Holds: w.grad == 2"""
    w, x = torch.tensor(1.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    y = w * x
    x.data = torch.tensor(2.0)  # warning: [TLN207]
    y.backward()


def initialised():
    net = nn.Linear(2, 1)
    net.weight.data.normal_(0.0, 0.02)
    net.bias.data.zero_()
    net.weight.data = torch.ones(1, 2)


def updated_by_hand():
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    w.data -= 0.1 * w.grad.data


def gradient_clipped():
    net = nn.Linear(2, 1)
    net(torch.rand(3, 2)).sum().backward()
    net.weight.grad.data.clamp_(-1, 1)


def weights_clipped_after_the_step():
    critic = nn.Linear(2, 1)
    optimizer = torch.optim.RMSprop(critic.parameters())
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        critic(x).mean().backward()
        optimizer.step()
        for p in critic.parameters():
            p.data.clamp_(-0.01, 0.01)


def attribute_of_another_class():
    class Batch:
        def __init__(self, data):
            self.data = data

    batch = Batch(torch.ones(3))
    batch.data += 1
    batch.data = batch.data * 2


def read_only():
    w = torch.ones(3, requires_grad=True)
    total = w.data.sum()
    copy = w.data.clone()
    copy += 1


def data_of_what_an_index_gives():
    """Holds: not (new.weight[:2, :2] == 7).any()"""
    new = nn.Linear(4, 4)
    new.weight[:2, :2].data = torch.full((2, 2), 7.0)  # warning: [TLN207]


def data_of_an_element_of_a_list():
    layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
    weights = [layer.weight for layer in layers]
    for index in range(2):
        weights[index].data = torch.zeros(2, 2)
    assert not layers[0].weight.any()


def part_of_a_parameter_in_a_constructor():
    """The old way to initialise a part: nothing has read the bias yet."""

    class Highway(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(width, 2 * width) for _ in range(2)])
            for layer in self.layers:
                layer.bias[width:].data.fill_(1)

    assert Highway(3).layers[0].bias[4] == 1


def part_of_an_activation():
    """Holds: h._version == 0"""
    h = torch.nn.Linear(2, 2)(torch.ones(1, 2))
    h[:, 1:].data.fill_(1)  # strict: [TLN207, TLN220]
    h.sum().backward()


def part_scaled_in_place():
    """Holds: (spectrum[:, -1] == -1).all()"""
    spectrum = torch.ones(2, 3)
    spectrum[:, -1].data *= -1  # strict: [TLN207]


def part_computed_anew():
    """Holds: (spectrum == 1).all()"""
    spectrum = torch.ones(2, 3)
    spectrum[:, -1].data = -spectrum[:, -1].data  # warning: [TLN207]


def gate_clamped_for_a_caller():
    """Holds: gate._version == 0"""
    layer = nn.Linear(2, 2)

    def gates(x):
        h = torch.sigmoid(layer(x))
        h.data.clamp_(min=0.1)  # smell: [TLN207]
        return h

    gate = gates(torch.ones(1, 2))


def scores_masked_before_anything_saves_them():
    """Holds: scores._version == 0"""
    layer, values = nn.Linear(2, 2), torch.rand(2, 2, requires_grad=True)

    def attention(x, mask):
        scores = layer(x)
        scores.data.masked_fill_(mask, 0.0)  # strict: [TLN207]
        return scores, scores @ values

    scores, out = attention(torch.ones(1, 2), torch.tensor([[True, False]]))
    out.sum().backward()
def given_another_shape_through_data():
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    d = y.data
    d.unsqueeze_(0)
    y.sum().backward()
