# ruff: noqa
"""Programs for TLN201."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def residual_after_relu():
    """Raises: modified by an inplace operation"""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 2, 3, padding=1)

        def forward(self, x):
            out = torch.relu(self.conv(x))
            out += x  # error: [TLN201]
            return out

    Block()(torch.rand(1, 2, 4, 4)).sum().backward()


def attention_scaled_after_softmax():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            weights = F.softmax(self.q(x) @ self.k(x).transpose(-2, -1), dim=-1)
            weights.mul_(0.5)  # error: [TLN201]
            return weights @ x

    Attention()(torch.rand(1, 3, 4)).sum().backward()


def inplace_activation_on_a_saved_result():
    """Raises: modified by an inplace operation"""
    net = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid(), nn.ReLU(inplace=True))
    net(torch.rand(3, 2)).sum().backward()  # error: [TLN201]


def mask_reused():
    """Raises: modified by an inplace operation"""
    net = nn.Linear(3, 3)
    mask = torch.ones(3)
    masked = net(torch.rand(2, 3)) * mask
    mask.zero_()  # error: [TLN201]
    masked.sum().backward()


def noise_buffer_refilled():
    """Raises: modified by an inplace operation"""
    mu = torch.zeros(3, requires_grad=True)
    log_sigma = torch.zeros(3, requires_grad=True)
    noise = torch.randn(3)
    loss = torch.zeros(())
    for _ in range(2):
        noise.normal_()  # error: [TLN201]
        loss = loss + (mu + noise * log_sigma.exp()).pow(2).sum()
    loss.backward()


def written_through_a_view():
    """Raises: modified by an inplace operation"""
    x = torch.rand(4, requires_grad=True)
    y = torch.exp(x)
    head = y[:2]
    head.zero_()  # error: [TLN201]
    y.sum().backward()


def out_argument():
    """Raises: modified by an inplace operation"""
    x = torch.rand(3, requires_grad=True)
    scale = torch.rand(3)
    y = x * scale
    torch.add(scale, 1, out=scale)  # error: [TLN201]
    y.sum().backward()


def normalised_by_its_own_norm():
    """Raises: modified by an inplace operation"""
    net = nn.Linear(3, 3)
    h = net(torch.rand(2, 3))
    norm = h.norm(dim=1, keepdim=True)
    h /= norm  # error: [TLN201]
    h.sum().backward()


def clamped_probability():
    """Raises: modified by an inplace operation"""
    logits = torch.rand(4, requires_grad=True)
    p = logits.sigmoid()
    p.clamp_(1e-6, 1 - 1e-6)  # error: [TLN201]
    (-p.log().mean()).backward()


def residual_before_relu():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 2, 3, padding=1)
            self.norm = nn.BatchNorm2d(2)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            out = self.norm(self.conv(x))
            out += x
            return self.relu(out)

    Block()(torch.rand(1, 2, 4, 4)).sum().backward()


def relu_in_place_after_conv():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(inplace=True), nn.Conv2d(2, 1, 3))
    net(torch.rand(1, 1, 6, 6)).sum().backward()


def counters_lists_and_arrays():
    steps, names, total = 0, [], np.zeros(2)
    x = torch.rand(2, requires_grad=True)
    y = x.exp()
    steps += 1
    names += ["y"]
    total += y.detach().numpy().copy()
    y.sum().backward()


def written_after_backward():
    x = torch.rand(3, requires_grad=True)
    y = x.exp()
    y.sum().backward()
    with torch.no_grad():
        y.zero_()


def fresh_buffer():
    x = torch.rand(3, requires_grad=True)
    mask = torch.zeros(3)
    mask.fill_(1.0)
    (x * mask).sum().backward()


def copy_is_written():
    x = torch.rand(3, requires_grad=True)
    y = x.exp()
    shown = y.detach().clone()
    shown.mul_(100)
    y.sum().backward()


def target_network_averaged():
    online, target = nn.Linear(2, 2), nn.Linear(2, 2)
    loss = online(torch.rand(3, 2)).pow(2).mean()
    with torch.no_grad():
        for p, q in zip(online.parameters(), target.parameters()):
            q.mul_(0.9).add_(p, alpha=0.1)
    loss.backward()


def constant_factor_saves_nothing_to_overwrite():
    """`2 * x` keeps the number, not the tensor."""
    x = torch.rand(3, requires_grad=True)
    y = 2 * x
    z = y * 3
    z += 1
    z.sum().backward()


def mul_without_gradient_for_the_other():
    """`y * scale` saves `y` only if `scale` requires grad."""
    x = torch.rand(3, requires_grad=True)
    scale = torch.rand(3)
    y = x + 1
    z = y * scale
    y.zero_()
    z.sum().backward()


def a_list_on_the_other_path():
    class Clamp(nn.Module):
        def forward(self, images):
            if isinstance(images, torch.Tensor):
                return torch.clamp(images, 0.0, 1.0)
            return [image.clamp_(0.0, 1.0) for image in images]

    Clamp()(torch.rand(2, 3, requires_grad=True)).sum().backward()


def activation_by_default():
    """Raises: modified by an inplace operation"""

    class Block(nn.Module):
        def __init__(self, features, norm=None, activation=nn.Sigmoid):
            super().__init__()
            if norm is None:
                norm = nn.LayerNorm
            self.linear, self.norm, self.activation = nn.Linear(features, features), norm(features), activation()

        def forward(self, x):
            x = self.activation(self.norm(self.linear(x)))
            x += 1  # error: [TLN201]
            return x

    Block(3)(torch.rand(2, 3)).sum().backward()


def layers_in_a_class_of_their_own():
    """Raises: modified by an inplace operation"""

    class Linears(nn.Sequential):
        def __init__(self, features, bias=True):
            layers = [nn.Linear(features, features, bias=bias)]
            if features > 2:
                layers.append(nn.LayerNorm(features))
            layers.append(nn.ReLU(inplace=True))
            super().__init__(*layers)

    class Net(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.layers = Linears(features)

        def forward(self, x):
            y = self.layers(x)
            y *= 2  # error: [TLN201]
            return y

    Net(3)(torch.rand(2, 3)).sum().backward()


def layers_that_join_by_assignment():
    """Raises: modified by an inplace operation"""

    class Linears(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self.linear = nn.Linear(features, features)
            setattr(self, "act", nn.Tanh())

    class Net(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.layers = Linears(features)

        def forward(self, x):
            y = self.layers(x)
            y *= 2  # error: [TLN201]
            return y

    Net(3)(torch.rand(2, 3)).sum().backward()


def a_key_that_was_taken_out():
    class Net(nn.Module):
        def __init__(self, features, **options):
            super().__init__()
            self.linear = nn.Linear(features, features)
            saves = options.pop("saves", False)
            self.act = nn.Tanh() if "saves" in options else nn.Identity()

        def forward(self, x):
            y = self.act(self.linear(x))
            y *= 2
            return y

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net(3, saves=True)

        def forward(self, x):
            y = self.net(x)
            y += 1
            return y

    Twice()(torch.rand(2, 3)).sum().backward()


def dropout_in_place_after_what_saved_its_result():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, features, rate):
            super().__init__()
            self.linear, self.drop = nn.Linear(features, features), nn.Dropout(rate, inplace=True)

        def forward(self, x):
            return self.drop(torch.sigmoid(self.linear(x)))  # error: [TLN201]

    Net(3, 0.5)(torch.rand(2, 3)).sum().backward()


def a_method_that_only_tensors_have():
    """Raises: modified by an inplace operation"""

    class Pool(nn.Module):
        def forward(self, x):
            highest = x.amax((1, 2), keepdim=True)
            highest += 1  # error: [TLN201]
            return highest

    Pool()(torch.rand(2, 3, 4, requires_grad=True)).sum().backward()


def memory_saved_in_a_method_for_inference():
    class Pairs(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.gate, self.value = nn.LayerNorm(3), nn.Linear(3, 3), nn.Linear(3, 3)

        def _inference_forward(self, z):
            z = self.norm(z)
            g = self.gate(z)
            g.sigmoid_()
            x = self.value(z)
            x *= g
            z += x
            return z

        def forward(self, z, in_place=False):
            if in_place:
                return self._inference_forward(z)
            z = self.norm(z)
            return z + self.value(z) * torch.sigmoid(self.gate(z))

    Pairs()(torch.rand(2, 3)).sum().backward()


def a_factor_that_lies_in_columns():
    x = torch.rand(3, 3, requires_grad=True)
    q, _ = torch.linalg.qr(x)
    y = q.exp()
    flat = y.reshape(9)
    flat.mul_(2)  # strict: [TLN204]
    y.sum().backward()


def flattened_after_layers():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.conv = nn.Conv2d(features, features, 1)

        def forward(self, x):
            x = nn.functional.adaptive_avg_pool2d(x, (4, 4))
            x = torch.relu(self.conv(x))
            x = torch.flatten(x, 1)
            x.zero_()  # error: [TLN201]
            return x

    Net(3)(torch.rand(2, 3, 8, 8)).sum().backward()


def attention_by_einsum_with_dropout():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, features, rate):
            super().__init__()
            self.qkv, self.drop = nn.Linear(features, features * 3), nn.Dropout(rate)
            self.out = nn.Linear(features, features)

        def forward(self, x):
            b, n, c = x.shape
            q, k, v = self.qkv(x).reshape(b, n, 3, 1, c).permute(2, 0, 3, 1, 4)
            weights = torch.einsum("bhqd, bhkd -> bhqk", q, k).softmax(dim=-1)
            weights += 1  # error: [TLN201]
            out = torch.einsum("bhal, bhlv -> bhav", self.drop(weights), v)
            return self.out(out.permute(0, 2, 1, 3).contiguous().view(b, n, -1))

    Attention(4, 0.1)(torch.rand(2, 3, 4)).sum().backward()


def all_layers_but_the_last():
    """Raises: modified by an inplace operation"""

    class Head(nn.Module):
        def __init__(self, features, hidden, number):
            super().__init__()
            self.number = number
            sizes = [hidden] * (number - 1)
            self.layers = nn.ModuleList(nn.Linear(n, k) for n, k in zip([features] + sizes, sizes + [features]))

        def forward(self, x):
            for i, layer in enumerate(self.layers):
                x = torch.relu(layer(x)) if i < self.number - 1 else layer(x)
                x *= 2  # error: [TLN201]
            return x

    Head(3, 4, 2)(torch.rand(2, 3)).sum().backward()


def only_with_a_gate():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, features, gate):
            super().__init__()
            self.linear, self.gate = nn.Linear(features, features), gate

        def forward(self, x):
            x = self.linear(x)
            if self.gate:
                x = torch.sigmoid(x)
            x += 1  # error: [TLN201]
            return x

    Net(3, True)(torch.rand(2, 3)).sum().backward()


def two_decisions_that_need_not_meet():
    class Net(nn.Module):
        def __init__(self, features, gate):
            super().__init__()
            self.linear, self.gate, self.shift = nn.Linear(features, features), gate, not gate

        def forward(self, x):
            x = self.linear(x)
            if self.gate:
                x = torch.sigmoid(x)
            if self.shift:
                x += 1  # strict: [TLN204]
            return x

    for gate in (True, False):
        Net(3, gate)(torch.rand(2, 3)).sum().backward()


def a_decision_about_the_mode():
    class Net(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.linear = nn.Linear(features, features)

        def forward(self, x):
            x = self.linear(x)
            if not self.training:
                x = torch.sigmoid(x)
            x += 1  # strict: [TLN204]
            return x

    Net(3)(torch.rand(2, 3)).sum().backward()


def layers_of_two_kinds_in_turn():
    class Net(nn.Module):
        def __init__(self, features, number):
            super().__init__()
            layers = []
            for i in range(number):
                layers.append(nn.Linear(features, features) if i % 2 else nn.Tanh())
            self.layers = nn.ModuleList(layers)

        def forward(self, x):
            for i, layer in enumerate(self.layers):
                x = layer(x)
                if i % 2:
                    x += 1
            return x

    Net(3, 4)(torch.rand(2, 3)).sum().backward()


def a_list_that_grows():
    class Net(nn.Module):
        def __init__(self, features, number):
            super().__init__()
            self.layers = nn.ModuleList([nn.Tanh() for _ in range(number)])
            self.layers.append(nn.Linear(features, features))

        def forward(self, x):
            y = self.layers[-1](x)
            y += 1
            return y

    Net(3, 4)(torch.rand(2, 3)).sum().backward()


def outputs_in_a_list():
    """Raises: modified by an inplace operation"""

    class Heads(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.conv = nn.Sequential(nn.Conv2d(features, features, 1), nn.ReLU(inplace=True))
            self.logits, self.boxes = nn.Conv2d(features, 2, 1), nn.Conv2d(features, 4, 1)

        def forward(self, features):
            logits, boxes = [], []
            for feature in features:
                t = self.conv(feature)
                t.zero_()  # error: [TLN201]
                logits.append(self.logits(t))
                boxes.append(self.boxes(t))
            return logits, boxes

    sum(each.sum() for each in Heads(3)(torch.rand(2, 1, 3, 4, 4))[0]).backward()


def a_loss_beside_the_output():
    """Raises: modified by an inplace operation"""

    class Pool(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.linear = nn.Linear(features, features)

        def forward(self, x):
            s = torch.softmax(self.linear(x), dim=-1)
            size_loss = torch.norm(s.sum(dim=1), dim=1)
            size_loss.relu_()  # error: [TLN201]
            size_loss = size_loss.mean()
            return s + 1, size_loss

    out, loss = Pool(3)(torch.rand(2, 4, 3))
    (out.sum() + loss).backward()


def something_else_beside_the_output():
    class Pool(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.linear = nn.Linear(features, features)

        def forward(self, x):
            s = torch.softmax(self.linear(x), dim=-1)
            spread = torch.norm(s.sum(dim=1), dim=1)
            spread.relu_()  # smell: [TLN204]
            return s + 1, spread.mean()

    Pool(3)(torch.rand(2, 4, 3))[0].sum().backward()


def a_cast_to_the_dtype_it_has():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.q, self.v = nn.Linear(features, features), nn.Linear(features, features)

        def forward(self, x):
            q, v = self.q(x), self.v(x)
            scores = torch.matmul(q, q.transpose(1, 2))
            weights = torch.softmax(scores.float(), dim=-1).to(v.dtype)
            weights += 1  # error: [TLN201]
            return torch.matmul(weights, v)

    Attention(3)(torch.rand(2, 4, 3)).sum().backward()


def a_cast_that_somebody_wanted():
    class Attention(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.q, self.v = nn.Linear(features, features), nn.Linear(features, features)

        def forward(self, x):
            q, v = self.q(x), self.v(x).double()
            weights = torch.softmax(torch.matmul(q, q.transpose(1, 2)), dim=-1).to(v.dtype)
            weights += 1
            return torch.matmul(weights, v)

    Attention(3)(torch.rand(2, 4, 3)).sum().backward()


def a_layer_out_of_a_list_of_unknown_ones():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, *layers):
            super().__init__()
            self.layers = nn.ModuleList()
            for layer in layers:
                self.layers.append(layer)

        def forward(self, x):
            y = self.layers[0](x.exp())
            z = torch.tanh(y)
            z += 1  # error: [TLN201]
            return z

    Net(nn.Linear(3, 3))(torch.rand(2, 3)).sum().backward()


def numbers_of_the_standard_library():
    """Raises: modified by an inplace operation"""
    w = torch.ones(3, requires_grad=True)
    angle = w * math.pi / np.sqrt(2.0)
    wave = torch.exp(angle * math.sqrt(len(w)))
    wave *= torch.finfo(w.dtype).eps  # error: [TLN201]
    wave.sum().backward()


def array_of_a_tensor_s_size():
    """Passes: an array is no tensor, whatever is written into it."""
    w = torch.ones(3, requires_grad=True)
    y = torch.exp(w)
    marks = np.zeros(len(y))
    marks[0] = 1
    marks += 1
    y.sum().backward()


def copies_of_another_dtype():
    x = torch.rand(3, requires_grad=True)
    p = torch.sigmoid(x.double())
    shown = p.float()
    shown.clamp_(0.1, 0.9)
    p.sum().backward()
    low = x.bfloat16().exp()
    wide = low.float()
    wide += 1
    low.sum().backward()
    layer = torch.nn.Linear(3, 2).double()
    out = layer(torch.rand(4, 3, dtype=torch.float64)).exp()
    shown = out.float()
    shown.mul_(2)
    out.sum().backward()


def cast_that_does_nothing():
    """Raises: modified by an inplace operation"""
    x = torch.rand(3, requires_grad=True)
    p = torch.sigmoid(x)
    shown = p.float()
    shown.clamp_(0.1, 0.9)  # error: [TLN201]
    p.sum().backward()


def only_in_the_last_round():
    w = torch.ones(3, requires_grad=True)
    x = torch.zeros(3)
    first = eval("4")
    total = 0
    for i in range(5):
        total = total + (w * x).sum()
        if i < first:
            continue
        break
    total.backward()
    x += 1


def in_rounds_that_a_number_picks():
    """Raises: modified by an inplace operation"""
    w = torch.ones(3, requires_grad=True)
    x = torch.zeros(3)
    every = eval("2")
    total = 0
    for i in range(5):
        if i % every:
            x += 1  # warning: [TLN201]
        total = total + (w * x).sum()
    total.backward()


def in_every_round():
    """Raises: modified by an inplace operation"""
    w = torch.ones(3, requires_grad=True)
    x = torch.zeros(3)
    total = 0
    for i in range(5):
        x += 1  # error: [TLN201]
        total = total + (w * x).sum()
    total.backward()


def table_scaled_by_a_look_up():
    """Raises: modified by an inplace operation"""
    table = nn.Embedding(10, 4, max_norm=1.0)
    scores = torch.rand(2, 4) @ (table.weight * table.weight).t()
    rows = table(torch.tensor([1, 2]))  # error: [TLN201]
    (scores.sum() + rows.sum()).backward()


def diagonal_of_attention_filled():
    """Raises: modified by an inplace operation"""
    x = torch.rand(4, 3, requires_grad=True)
    attention = torch.softmax(x @ x.T, dim=-1)
    attention.fill_diagonal_(0.0)  # error: [TLN201]
    (attention @ x).sum().backward()


def tables_with_a_norm_in_training():
    class Tastes(nn.Module):
        def __init__(self):
            super().__init__()
            self.users = nn.Embedding(10, 4, max_norm=1.0)
            self.bags = nn.EmbeddingBag(10, 4, max_norm=0.5)

        def forward(self, user, items):
            return (self.users(user) * self.bags(items) + self.users(user + 1)).sum()

    tastes = Tastes()
    optimizer = torch.optim.SGD(tastes.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        tastes(torch.tensor([1]), torch.tensor([[2, 3]])).backward()
        optimizer.step()


def copy_of_a_table_before_the_look_up():
    table = nn.Embedding(10, 4, max_norm=1.0)
    penalty = (table.weight.clone() ** 2).sum()
    rows = table(torch.tensor([1, 2]))
    (penalty + rows.sum()).backward()


def diagonal_filled_where_nobody_saved_it():
    z = torch.rand(4, 3, requires_grad=True)
    similarity = z @ z.T
    similarity.fill_diagonal_(-1e9)
    nn.functional.cross_entropy(similarity, torch.arange(4)).backward()
    apart = torch.cdist(z, z).clone().fill_diagonal_(float("inf"))
    apart.min().backward()
    mask = torch.ones(4, 4, dtype=torch.bool).fill_diagonal_(False)
    assert not mask.diagonal().any()


def forward_hook_scales_in_place():
    """Raises: modified by an inplace operation"""
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 1))

    def scaled(module, inputs, output):
        output.mul_(255)  # error: [TLN201]

    net[1].register_forward_hook(scaled)
    net(torch.rand(2, 3)).sum().backward()


def forward_pre_hook_clamps_in_place():
    """Raises: modified by an inplace operation"""
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 1))

    def clamped(module, inputs):
        inputs[0].clamp_(0.1, 0.9)  # error: [TLN201]

    net[2].register_forward_pre_hook(clamped)
    net(torch.rand(2, 3)).sum().backward()


def module_added_by_name():
    """Raises: modified by an inplace operation"""
    net = nn.Sequential()
    net.add_module("linear", nn.Linear(3, 3))
    net.add_module("squash", nn.Sigmoid())
    net.add_module("cut", nn.ReLU(inplace=True))
    net(torch.rand(2, 3)).sum().backward()  # error: [TLN201]


def forward_hook_keeps_and_returns_another():
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 1))
    seen = {}

    def keep(module, inputs, output):
        seen["squashed"] = output.detach().mul(255)

    def scaled(module, inputs, output):
        return output * 2

    net[1].register_forward_hook(keep)
    net[1].register_forward_hook(scaled)
    net(torch.rand(2, 3)).sum().backward()


def forward_hook_removed_before_the_call():
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 1))

    def scaled(module, inputs, output):
        output.mul_(255)

    handle = net[1].register_forward_hook(scaled)
    handle.remove()
    net(torch.rand(2, 3)).sum().backward()


def forward_hook_writes_what_nobody_saved():
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))

    def shifted(module, inputs, output):
        output.add_(1)

    net[1].register_forward_hook(shifted)
    net(torch.rand(2, 3)).sum().backward()


def modules_added_by_name_in_order():
    net = nn.Sequential()
    net.add_module("linear", nn.Linear(3, 3))
    net.add_module("cut", nn.ReLU(inplace=True))
    net.add_module("squash", nn.Sigmoid())
    net(torch.rand(2, 3)).sum().backward()
    print(net.squash, net[1], dict(net.named_parameters()).keys())


def activation_by_its_other_name():
    """Raises: modified by an inplace operation"""
    flow = torch.rand(4, requires_grad=True).exp()
    torch.selu_(flow)  # error: [TLN201]
    flow.sum().backward()


def power_in_double():
    """Raises: modified by an inplace operation"""
    flow = torch.rand(4, dtype=torch.double, requires_grad=True).exp()
    flow.float_power_(2)  # error: [TLN201]
    flow.sum().backward()


def dropout_by_its_function_in_place():
    """Raises: modified by an inplace operation"""
    flow = torch.rand(4, requires_grad=True).exp()
    torch.dropout_(flow, 0.5, True)  # error: [TLN201]
    flow.sum().backward()


def dropout_that_is_off():
    flow = torch.rand(4, requires_grad=True).exp()
    torch.dropout_(flow, 0.5, False)
    flow.sum().backward()


def method_of_what_a_custom_function_returns():
    """Raises: modified by an inplace operation"""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    w = torch.ones(3, requires_grad=True)
    y = Twice.apply(w).exp()
    y.mul_(2)  # error: [TLN201]
    y.sum().backward()


def arithmetic_on_what_a_custom_function_returns():
    """Raises: modified by an inplace operation"""

    class Clipped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.clamp(min=0)
            return result

        @staticmethod
        def backward(ctx, grad):
            return grad

    w = torch.ones(3, requires_grad=True)
    y = (Clipped.apply(w) * 2.0).exp()
    y.mul_(2)  # error: [TLN201]
    y.sum().backward()


def what_a_custom_function_returns_may_have_no_gradient():
    class Best(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            best = x.argmax()
            ctx.mark_non_differentiable(best)
            return best

        @staticmethod
        def backward(ctx, grad):
            return None

    w = torch.ones(3, requires_grad=True)
    y = Best.apply(w).float().exp()
    y.mul_(2)
    (w.sum() * y).backward()


def what_a_custom_function_returns_may_be_several_values():
    class Halves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x / 2, x / 2

        @staticmethod
        def backward(ctx, one, other):
            return (one + other) / 2

    w = torch.ones(3, requires_grad=True)
    halves = Halves.apply(w)
    halves.count(None)
    halves[0].sum().backward()


def what_a_function_of_an_unknown_library_returns_is_unknown():
    from statistics import NormalDist

    class Shape:
        def exp(self):
            return torch.ones(3)

    def made(w):
        return Shape() if NormalDist().mean == 0 else w

    w = torch.ones(3, requires_grad=True)
    y = made(w).exp()
    y.mul_(2)
    (w * y).sum().backward()


def input_of_a_custom_function():
    """Raises: modified by an inplace operation"""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    q = torch.ones(3, requires_grad=True) * 1
    r = Square.apply(q)
    q.add_(1)  # error: [TLN201]
    r.sum().backward()


def output_of_a_custom_function():
    """Raises: modified by an inplace operation"""

    class Exponential(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y

    r = Exponential.apply(torch.ones(3, requires_grad=True))
    r.mul_(2)  # error: [TLN201]
    r.sum().backward()


def custom_function_saves_another_tensor():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(factor)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            (factor,) = ctx.saved_tensors
            return grad * factor, None

    q = torch.ones(3, requires_grad=True) * 1
    r = Scale.apply(q, torch.ones(3))
    q.add_(1)
    r.mul_(2)
    r.sum().backward()


def custom_function_whose_backward_reads_nothing():
    class Through(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sign()

        @staticmethod
        def backward(ctx, grad):
            return grad * 1

    q = torch.ones(3, requires_grad=True) * 1
    r = Through.apply(q)
    q.add_(1)
    r.sum().backward()


def custom_function_reads_what_it_saved_on_one_path():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            if ctx.needs_input_grad[1]:
                (x,) = ctx.saved_tensors
                return grad * ctx.factor, (grad * x).sum()
            return grad * ctx.factor, None

    q = torch.ones(3, requires_grad=True) * 1
    r = Scale.apply(q, 2.0)
    q.add_(1)
    r.sum().backward()


def custom_function_reads_what_it_saved_on_one_path_in_a_context():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            with torch.no_grad():
                if ctx.needs_input_grad[1]:
                    (x,) = ctx.saved_tensors
                    return grad * ctx.factor, (grad * x).sum()
            return grad * ctx.factor, None

    q = torch.ones(3, requires_grad=True) * 1
    r = Scale.apply(q, 2.0)
    q.add_(1)
    r.sum().backward()


def custom_function_reads_what_it_saved_in_one_arm_of_an_expression():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            slope = (grad * ctx.saved_tensors[0]).sum() if ctx.needs_input_grad[1] else None
            return grad * ctx.factor, slope

    q = torch.ones(3, requires_grad=True) * 1
    r = Scale.apply(q, 2.0)
    q.add_(1)
    r.sum().backward()


def custom_function_saves_a_copy():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.clone())
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    q = torch.ones(3, requires_grad=True) * 1
    r = Square.apply(q)
    q.add_(1)
    r.sum().backward()


def operator_called_as_a_method():
    """Raises: modified by an inplace operation"""
    w = torch.ones(3, requires_grad=True)
    h = w.__mul__(2.0)
    y = h.exp().__neg__()
    z = h.__mul__(y)
    h.__imul__(2)  # error: [TLN201]
    z.sum().backward()


def foreach_writes_what_was_saved():
    """Raises: modified by an inplace operation"""
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    z = h.exp() * h
    with torch.no_grad():
        torch._foreach_mul_([h], 2.0)  # error: [TLN201]
    z.sum().backward()


def foreach_writes_what_nothing_saved():
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    z = h + 1
    with torch.no_grad():
        torch._foreach_mul_([h], 2.0)
    z.sum().backward()


def gradient_of_a_function_that_is_decorated_twice():
    unread = eval("lambda decorated: staticmethod(lambda ctx, g: g)")

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @unread
        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x

    w = nn.Parameter(torch.randn(4, 4))
    q = w * 1
    r = Square.apply(q)
    q.add_(1)
    r.sum().backward()


def checkpoint_writes_into_what_is_computed_again():
    """What a checkpoint computes is computed again for its backward: torch does not look at what was written."""
    from torch.utils.checkpoint import checkpoint

    def block(x):
        y = x.exp()
        y += 1
        return y

    w = torch.rand(3, requires_grad=True)
    checkpoint(block, w, use_reentrant=False).sum().backward()


def result_of_fused_attention():
    """Raises: modified by an inplace operation"""
    q = torch.rand(2, 2, 5, 8, requires_grad=True)
    y = F.scaled_dot_product_attention(q, q, q)
    y += 1  # warning: [TLN201]
    y.sum().backward()


def result_of_composed_attention():
    """No fused kernel takes three dimensions, and the composed one ends in a product of matrices."""
    q = torch.rand(2, 5, 8, requires_grad=True)
    y = F.scaled_dot_product_attention(q, q, q)
    y += 1
    y.sum().backward()


def gate_before_a_loop_over_time():
    """Raises: modified by an inplace operation"""

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = nn.Linear(3, 3)

        def forward(self, x):
            gate = torch.sigmoid(self.proj(x))
            gate.mul_(2)  # error: [TLN201]
            found = []
            for i in range(x.shape[0]):
                found.append(gate[i])
            return torch.stack(found)

    Gated()(torch.rand(4, 3)).sum().backward()


def what_is_no_longer_in_the_list():
    """The list is cut to what holds nothing of the gate."""

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = nn.Linear(3, 3)

        def forward(self, x):
            gate = torch.sigmoid(self.proj(x))
            gate.mul_(2)  # smell: [TLN204]
            found = [self.proj(x).sum()]
            for i in range(x.shape[0]):
                found.append(gate[i].sum())
            return torch.stack(found[:1])

    Gated()(torch.rand(4, 3)).sum().backward()


def saved_tensors_that_a_hook_copies():
    w = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = w.exp()
    y.mul_(2)
    y.sum().backward()


def saved_tensors_that_may_be_written():
    w = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = w.exp()
        y.mul_(2)
        y.sum().backward()


def saved_behind_the_block_of_hooks():
    """Raises: modified by an inplace operation"""
    w = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        z = w.exp()
    y = z.exp()
    y.mul_(2)  # error: [TLN201]
    y.sum().backward()


def layers_told_not_to_write_by_unknown_code():
    fix = eval("lambda net: [setattr(each, 'inplace', False) for each in net.modules()]")
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    fix(net)
    net(torch.rand(1, 3)).sum().backward()


def layers_told_not_to_write_in_a_loop():
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    for each in net.modules():
        if hasattr(each, "inplace"):
            each.inplace = False
    net(torch.rand(1, 3)).sum().backward()


def layers_told_not_to_write_by_apply():
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    net.apply(eval("lambda each: setattr(each, 'inplace', False)"))
    net(torch.rand(1, 3)).sum().backward()


def layer_told_to_write():
    """Raises: modified by an inplace operation"""
    act = nn.ReLU()
    act.inplace = True
    w = torch.ones(3, requires_grad=True)
    y = w.sigmoid()
    act(y).sum().backward()  # error: [TLN201]


def output_of_a_recurrent_layer_with_a_fused_kernel():
    """Raises: modified by an inplace operation"""
    rnn, head = nn.LSTM(4, 3, 2, batch_first=True), nn.Linear(3, 1)
    out, _ = rnn(torch.rand(2, 5, 4))
    out.sigmoid_()  # warning: [TLN201]
    head(out[:, -1]).sum().backward()


def outputs_of_recurrent_layers_that_nothing_saved():
    rnn, both, gru = nn.LSTM(4, 3, 2), nn.LSTM(4, 3, bidirectional=True), nn.GRU(4, 3)
    x = torch.rand(5, 2, 4)
    _, (h, c) = rnn(x)
    h.sigmoid_()
    h.sum().backward()
    for layer in (both, gru):
        out, _ = layer(x)
        out.sigmoid_()
        out.sum().backward()
    out, _ = rnn(x)
    out = out + 1
    out.mul_(2)
    out.sum().backward()


def layer_that_the_file_has_under_a_name():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, act="sigmoid"):
            super().__init__()
            self.act = act if callable(act) else globals()["nn"].Sigmoid()

        def forward(self, x):
            x = self.act(x)
            x.mul_(2)  # error: [TLN201]
            return x

    Net()(torch.rand(3, requires_grad=True)).sum().backward()


def layers_found_by_unknown_code_and_told_not_to_write():
    found = eval("lambda modules: modules")
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
    for each in found(net.modules()):
        each.inplace = False
    net(torch.rand(1, 3)).sum().backward()


def many_ways_to_what_saved_it():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, first, second, third, fourth):
            super().__init__()
            self.first, self.second, self.third, self.fourth = first, second, third, fourth

        def forward(self, x):
            p = x.softmax(-1)
            p.exp_()  # error: [TLN201]
            y = p * 2
            if self.first is not None:
                y = self.first(y)
            if self.second:
                y = y + 1
            if self.third is not None:
                y = y.reshape(3, 3).transpose(0, 1)
            if self.fourth:
                y = y * 3
            return y

    Attention(nn.Tanh(), True, 1, False)(torch.rand(3, 3, requires_grad=True)).sum().backward()


def an_input_without_annotation_written_after_a_layer():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.to_q = nn.Linear(dim, dim)

        def forward(self, x, context=None):
            q = self.to_q(x)
            context = context if context is not None else x
            context.mul_(2)  # error: [TLN201]
            return q

    Attention(3)(torch.rand(2, 2, 3)).sum().backward()


def an_input_without_annotation_of_which_a_copy_is_saved():
    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.to_q = nn.Linear(dim, dim)

        def forward(self, x, context=None):
            q = self.to_q(x * 1)
            y = self.to_q(x.clone().transpose(1, 2))
            context = context if context is not None else x
            context.mul_(2)
            return q + y

    Attention(3)(torch.rand(2, 3, 3)).sum().backward()


def alpha_dropout_that_is_not_told_to_train():
    x = torch.rand(3, requires_grad=True)
    y = x.exp()
    F.alpha_dropout(y, 0.5, inplace=True)
    y.sum().backward()


def gradient_by_the_very_result():
    def early(t):
        if eval("False"):
            return t
        t = t.exp()
        doubled = t * 2
        t.add_(1)  # smell: [TLN204]
        return doubled

    result = early(torch.ones(3, requires_grad=True))
    torch.autograd.grad(result, result, grad_outputs=torch.ones(3))


def gradient_by_one_of_two():
    """Raises: modified by an inplace operation"""
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    t = (a + b).exp()
    result = t * 2
    t.add_(1)  # error: [TLN201]
    torch.autograd.grad(result.sum(), a if eval("True") else b)


def initialised_where_it_is_the_one():
    w, other = torch.rand(3, requires_grad=True), torch.rand(3)
    y = F.selu(w)
    with torch.no_grad():
        nn.init.normal_(eval("other") if y.dim() > int("5") else other)
    y.sum().backward()


def initialised_under_a_condition():
    """Raises: modified by an inplace operation"""
    anew = eval("True")
    w, other = torch.rand(3, requires_grad=True), torch.rand(3)
    y = F.selu(w)
    with torch.no_grad():
        nn.init.normal_(w if anew else other)  # warning: [TLN201]
    y.sum().backward()


def the_first_of_what_several_returns_give():
    """Raises: modified by an inplace operation"""

    class Block(nn.Module):
        def __init__(self, wide):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.wide = wide

        def forward(self, x, skip):
            y = torch.sigmoid(self.linear(x))
            y.add_(1)  # error: [TLN201]
            if self.wide:
                return y, y
            return y, skip

    Block(True)(torch.rand(1, 2), None)[0].sum().backward()


def the_first_of_what_one_return_gives():
    """Only what the other return gives is written."""

    class Block(nn.Module):
        def __init__(self, wide):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.wide = wide

        def forward(self, x, skip):
            y = torch.sigmoid(self.linear(x))
            z = y.detach()
            if self.wide:
                return x, y
            z.add_(1)
            return skip, z

    Block(True)(torch.rand(1, 2, requires_grad=True), None)[0].sum().backward()


def sizes_in_a_tuple_of_which_nobody_knows_all():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.query = nn.Conv2d(2, 2, 1)

        def forward(self, x):
            sizes = (x.size(0), -1, x.size(2) * x.size(3))
            query = self.query(x).view(sizes)
            weights = torch.softmax(torch.bmm(query.transpose(1, 2), query), -1)
            weights.clamp_(min=0.1)  # error: [TLN201]
            return torch.bmm(query, weights).view(x.size())

    Attention()(torch.rand(1, 2, 3, 3)).sum().backward()


def sizes_in_a_list_of_which_nobody_knows_any():
    """Raises: modified by an inplace operation"""
    rows, columns = eval("2, 3")
    x = torch.rand(6, requires_grad=True)
    sizes = [rows, columns]
    y = x.view(sizes).sigmoid()
    y.add_(1)  # error: [TLN201]
    y.sum().backward()


def what_may_be_tensors_in_a_list():
    left, right = eval("torch.rand(2), torch.rand(2)")
    y = torch.cat([left, right]).sigmoid()
    y.add_(1)
    torch.stack((left, right)).sum()


def layers_by_their_names():
    """Raises: modified by an inplace operation"""
    from collections import OrderedDict

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            layers = OrderedDict([("norm", nn.BatchNorm1d(2)), ("act", nn.ReLU())])
            self.layers = nn.Sequential(nn.Linear(2, 2), nn.Sequential(layers))

        def forward(self, x):
            y = self.layers(x)
            y.add_(1)  # error: [TLN201]
            return y

    Block()(torch.rand(2, 2)).sum().backward()


def layers_by_their_names_in_another_order():
    from collections import OrderedDict

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            layers = OrderedDict(norm=nn.BatchNorm1d(2), act=nn.ReLU())
            layers.move_to_end("norm")
            self.layers = nn.Sequential(layers)

        def forward(self, x):
            y = self.layers(x)
            y.add_(1)
            return y

    Block()(torch.rand(2, 2)).sum().backward()


def while_loop_that_may_end_before_its_third_iteration():
    step = eval("1")
    w = torch.ones(3, requires_grad=True)
    h = torch.zeros(3)
    i = 0
    while i < 2:
        h = h * w + w
        (g,) = torch.autograd.grad(h.sum(), w, retain_graph=True)  # smell: [TLN102]
        with torch.no_grad():
            w -= 0.1 * g
        i += step


def chunk_of_an_unknown_layer_written():
    """Raises: modified by an inplace operation"""

    class Gates(nn.Module):
        def __init__(self, layers):
            super().__init__()
            self.layers = nn.ModuleList(layers)

        def forward(self, x, level):
            forget, update = self.layers[level](x).chunk(2, dim=1)
            gate = torch.sigmoid(forget)
            gate.mul_(0.5)  # warning: [TLN201]
            return gate + update

    Gates([vars(nn)["Linear"](4, 8)])(torch.rand(3, 4), 0).sum().backward()


def chunk_of_an_unknown_layer_written_before_it_is_saved():
    class Gates(nn.Module):
        def __init__(self, layers):
            super().__init__()
            self.layers = nn.ModuleList(layers)

        def forward(self, x, level):
            forget = self.layers[level](x).unsqueeze(0) + 1
            forget.mul_(0.5)
            return torch.sigmoid(forget)

    Gates([vars(nn)["Linear"](4, 8)])(torch.rand(3, 4), 0).sum().backward()


def indices_that_an_unknown_layer_gives():
    class Nearest(nn.Module):
        def forward(self, x):
            return x.argmin(1)

    class Coded(nn.Module):
        def __init__(self, layers):
            super().__init__()
            self.layers = nn.ModuleList(layers)

        def forward(self, x, level):
            y = self.layers[level](x).float().exp()
            y.mul_(2)
            return y.sum() * x.sum()

    Coded([vars()["Nearest"]()])(torch.rand(3, 4, requires_grad=True), 0).backward()


def loss_in_the_dictionary_that_a_module_returns():
    """Raises: modified by an inplace operation"""

    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 1)

        def forward(self, batch):
            scale = torch.exp(self.linear(batch["x"]))
            scale.clamp_(min=0.1)  # error: [TLN201]
            return {"scale": scale.detach(), "loss": (scale - batch["y"]).abs().mean()}

    Regression()({"x": torch.rand(3, 4), "y": torch.rand(3, 1)})["loss"].backward()


def dictionary_of_what_nobody_differentiates():
    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 1)

        def forward(self, batch):
            scale = torch.exp(self.linear(batch["x"]))
            scale.clamp_(min=0.1)  # smell: [TLN204]
            return {"scale": scale, "loss_of_before": batch["loss"]}

    Regression()({"x": torch.rand(3, 4), "loss": 1.0})


def value_of_one_arm_that_requires_grad():
    """Raises: modified by an inplace operation"""

    class Spread(nn.Module):
        def forward(self, x, few):
            if few > 1:
                scale = x.exp()
            else:
                scale = torch.zeros(1)
            root = torch.sqrt(scale + 1.0)
            root.add_(1)  # warning: [TLN201]
            return root * x

    Spread()(torch.rand(3, requires_grad=True), 1 + torch.get_num_threads()).sum().backward()


def value_of_one_arm_that_is_written_in_the_other():
    class Spread(nn.Module):
        def forward(self, x, few):
            if few > 3:
                scale = x * 2
            else:
                scale = torch.zeros(1)
            root = torch.sqrt(scale + 1.0)
            if few <= 3:
                root.add_(1)
            return root

    Spread()(torch.rand(3, requires_grad=True), 4).sum().backward()
    Spread()(torch.rand(3, requires_grad=True), 2)


def statistics_of_the_batch_in_training():
    """Raises: modified by an inplace operation"""

    class Norm(nn.Module):
        def __init__(self, track=True):
            super().__init__()
            self.track = track
            self.register_buffer("kept", torch.ones(1))

        def forward(self, x):
            if self.track and self.training:
                variance = torch.var(x, unbiased=False)
                with torch.no_grad():
                    self.kept = 0.9 * self.kept + 0.1 * variance
            else:
                variance = self.kept.view(1, -1)
            deviation = torch.sqrt(variance + 1e-5)
            deviation.add_(1)  # warning: [TLN201]
            return x / deviation

    norm = Norm().train(bool(torch.tensor(True)))
    norm(torch.rand(3, 4, requires_grad=True)).sum().backward()


def statistics_that_are_written_when_nobody_trains():
    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", torch.ones(1))

        def forward(self, x):
            if not self.training:
                deviation = torch.sqrt(x.detach().var() + 1e-5)
                x = x.exp()
                x.mul_(2)
            else:
                deviation = torch.ones(1)
            return x / deviation

    Norm()(torch.rand(3, 4, requires_grad=True)).sum().backward()


def cast_back_after_a_mask_was_converted():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.project = nn.Linear(dim, dim)

        def forward(self, x, mask=None):
            query = self.project(x)
            scores = query @ query.transpose(-2, -1)
            if mask is not None:
                scores = scores.masked_fill(mask.unsqueeze(1).to(torch.bool), -1e4)
            weights = scores.softmax(-1, dtype=torch.float32).to(query.dtype)
            weights *= 2  # error: [TLN201]
            return weights @ query

    Attention(4)(torch.rand(2, 3, 4)).sum().backward()


def cast_back_to_the_type_of_another_tensor():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.project = nn.Linear(dim, dim)

        def forward(self, x):
            query = self.project(x)
            weights = (query @ query.transpose(-2, -1)).float().softmax(-1).type_as(query)
            weights *= 2  # error: [TLN201]
            return weights @ query

    Attention(4)(torch.rand(2, 3, 4)).sum().backward()


def default_dtype_set_by_what_is_given_one():
    import types

    helpers = types.SimpleNamespace(prepare=torch.set_default_dtype)

    class Attention(nn.Module):
        def __init__(self, dim, helpers):
            super().__init__()
            helpers.prepare(torch.float64)
            self.project = nn.Linear(dim, dim)

        def forward(self, x):
            query = self.project(x)
            weights = query.softmax(-1, dtype=torch.float32).to(query.dtype)
            weights *= 2  # strict: [TLN204]
            return weights @ query.transpose(-2, -1)

    Attention(4, helpers)(torch.rand(2, 3, 4, dtype=torch.float64)).sum().backward()
    torch.set_default_dtype(torch.float32)


def hooks_of_saved_tensors_entered_through_a_variable():
    hooks = torch.autograd.graph.save_on_cpu()
    w = torch.ones(3, requires_grad=True)
    with hooks:
        y = w.exp()
    y.mul_(2)
    y.sum().backward()


def hooks_of_saved_tensors_in_a_stack():
    import contextlib

    w = torch.ones(3, requires_grad=True)
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.autograd.graph.save_on_cpu())
        y = w.exp()
    y.mul_(2)
    y.sum().backward()


def hooks_of_saved_tensors_that_unknown_code_hands_back():
    same = eval("lambda each: each")
    w = torch.ones(3, requires_grad=True)
    with same(torch.autograd.graph.allow_mutation_on_saved_tensors)():
        y = w.exp()
        y.mul_(2)
        y.sum().backward()


def hooks_of_saved_tensors_by_name():
    same = eval("lambda each: each")
    w = torch.ones(3, requires_grad=True)
    with getattr(torch.autograd.graph, same("save_on_cpu"))():
        y = w.exp()
    y.mul_(2)
    y.sum().backward()


def hooks_of_saved_tensors_around_a_call():
    w = torch.ones(3, requires_grad=True)

    @torch.autograd.graph.allow_mutation_on_saved_tensors()
    def descend():
        y = w.exp()
        y.mul_(2)
        y.sum().backward()

    descend()


def hooks_of_saved_tensors_in_a_manager_that_is_wrapped():
    import contextlib

    keep = eval("lambda each: each")

    @keep
    @contextlib.contextmanager
    def offloaded():
        with torch.autograd.graph.save_on_cpu():
            yield

    w = torch.ones(3, requires_grad=True)
    with offloaded():
        y = w.exp()
    y.mul_(2)
    y.sum().backward()


def kept_otherwise_by_a_base_class_elsewhere():
    Base = eval("type('Base', (), {'__setattr__': lambda s, n, v: object.__setattr__(s, n, v.detach().clone())})")

    class Cell(Base):
        def __init__(self, w):
            super().__init__()
            self.w = w

    y = torch.ones(3, requires_grad=True).exp()
    cell = Cell(y)
    cell.w.mul_(2)
    y.sum().backward()


def under_a_flag_that_says_that_it_is_safe():
    class Embedder(nn.Module):
        def __init__(self, can_be_inplace=False):
            super().__init__()
            self.norm = nn.LayerNorm(3)
            self.may_write_in_place = can_be_inplace

        def forward(self, m, z, inplace_safe=False):
            update = self.norm(m)
            if inplace_safe:
                m.copy_(update)
                update = m
            new = self.norm(z)
            if not self.may_write_in_place:
                pass
            else:
                z.copy_(new)
            if inplace_safe or self.may_write_in_place:
                new.exp_().mul_(2)
            return update + new

    Embedder()(torch.rand(2, 3), torch.rand(2, 3)).sum().backward()


def under_a_flag_that_asks_for_it():
    """Raises: modified by an inplace operation"""

    class Embedder(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(3)

        def forward(self, m, inplace=False):
            update = self.norm(m)
            if inplace:
                m.copy_(update)  # warning: [TLN201]
                update = m
            return update

    apply = eval("lambda model, m, flag: model(m, flag).sum().backward()")
    apply(Embedder(), torch.rand(2, 3, requires_grad=True) * 2, True)


def under_the_negation_of_a_flag_that_says_that_it_is_safe():
    """Raises: modified by an inplace operation"""

    class Embedder(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(3)

        def forward(self, m, inplace_safe=True):
            update = self.norm(m)
            if not inplace_safe:
                m.copy_(update)  # warning: [TLN201]
                update = m
            return update

    apply = eval("lambda model, m, flag: model(m, flag).sum().backward()")
    apply(Embedder(), torch.rand(2, 3, requires_grad=True) * 2, False)


def safe_by_its_name_and_differentiated():
    """Raises: modified by an inplace operation"""

    class Embedder(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(3)

        def forward(self, m, inplace_safe=False):
            update = self.norm(m)
            if inplace_safe:
                m.copy_(update)  # error: [TLN201]
            return update

    Embedder()(torch.rand(2, 3, requires_grad=True) * 2, inplace_safe=True).sum().backward()


def gradient_by_the_very_result_behind_two_conditions():
    def early(t):
        if eval("True"):
            if eval("False"):
                return t
        t = t.exp()
        doubled = t * 2
        t.add_(1)  # smell: [TLN204]
        return doubled

    result = early(torch.ones(3, requires_grad=True))
    torch.autograd.grad(result, result, grad_outputs=torch.ones(3))


def told_to_require_grad_on_each_way_out():
    def early(t):
        if eval("lambda asked: asked")(t.dim)() > 5:
            return t
        t = t.exp()
        try:
            return t * 2
        finally:
            t.add_(1)

    a = early(torch.ones(()))
    for _ in range(3):
        a.requires_grad_()
        a.backward()


def told_to_require_grad_on_each_way_out_where_an_error_is_caught():
    def early(t):
        if eval("lambda asked: asked")(t.dim)() > 5:
            return t
        t = t.exp()
        try:
            if eval("True"):
                return t * 2
        finally:
            t.add_(1)

    a = early(torch.ones(()))
    try:
        a.requires_grad_()
    except Exception:
        eval("print")()
    a.backward()


def result_of_a_function_whose_apply_an_attribute_holds():
    """Raises: modified by an inplace operation"""

    class Spike(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y

    class Neuron(nn.Module):
        def __init__(self):
            super().__init__()
            self.fire = Spike.apply
            self.spike = nn.Linear(3, 3)

        def forward(self, x):
            y = self.fire(self.spike(x))
            y.mul_(2)  # error: [TLN201]
            return y

    Neuron()(torch.ones(2, 3)).sum().backward()


def result_of_a_function_whose_apply_an_attribute_holds_and_that_keeps_its_input():
    class Spike(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x.exp()

    class Neuron(nn.Module):
        def __init__(self):
            super().__init__()
            self.fire = Spike.apply
            self.spike = nn.Linear(3, 3)

        def forward(self, x):
            y = self.fire(self.spike(x))
            y.mul_(2)
            return y

    Neuron()(torch.ones(2, 3)).sum().backward()


def result_of_a_function_that_is_a_static_class():
    """Raises: modified by an inplace operation"""

    class Neuron(nn.Module):
        def __init__(self):
            super().__init__()
            self.fire = self.Spike.apply
            self.linear = nn.Linear(3, 3)

        @staticmethod
        class Spike(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(y)
                return y

            @staticmethod
            def backward(ctx, grad):
                (y,) = ctx.saved_tensors
                return grad * y

        def forward(self, x):
            y = self.fire(self.linear(x))
            y.mul_(2)  # error: [TLN201]
            return y

    Neuron()(torch.ones(2, 3)).sum().backward()


def one_step_of_a_sequence_whose_sizes_are_taken_apart():
    """Raises: modified by an inplace operation"""

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            batch, length, width = x.size()
            step = x[:, 0, :]
            y = self.linear(step)
            step.mul_(2)  # error: [TLN201]
            return y

    Recurrent()(torch.ones(2, 3, 4)).sum().backward()


def steps_of_four_dimensions_whose_sizes_are_taken_apart():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            batch, length, beams, width = x.shape
            step = x[:, 0, :]
            y = self.linear(step)
            step.mul_(2)
            return y

    x = torch.ones(2, 3, 2, 4, requires_grad=True)
    Recurrent()(x * 1).sum().backward()


def one_step_of_a_sequence_whose_sizes_are_tried():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            try:
                batch, length, width = x.shape
            except ValueError:
                pass
            step = x[:, 0, :]
            y = self.linear(step)
            step.mul_(2)
            return y

    x = torch.ones(2, 3, 2, 4, requires_grad=True)
    Recurrent()(x * 1).sum().backward()


def convolution_of_its_own_without_a_bias():
    """Raises: modified by an inplace operation"""

    class Standardised(nn.Conv2d):
        def __init__(self, inputs, outputs):
            super().__init__(inputs, outputs, 3, bias=False)

        def forward(self, x):
            weight = self.weight - self.weight.mean()
            y = F.relu(F.conv2d(x, weight, self.bias))
            y.add_(1)  # error: [TLN201]
            return y

    Standardised(2, 2)(torch.rand(1, 2, 4, 4)).sum().backward()


def convolution_of_its_own_that_asks_for_its_bias():
    class Standardised(nn.Conv2d):
        def __init__(self, inputs, outputs):
            super().__init__(inputs, outputs, 3, bias=False)

        def forward(self, x):
            y = F.conv2d(x, self.weight, self.bias)
            if self.bias is not None:
                y = y.exp()
            y.add_(1)
            return y

    Standardised(2, 2)(torch.rand(1, 2, 4, 4)).sum().backward()


def dictionary_of_one_part():
    """Raises: modified by an inplace operation"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            y = torch.sigmoid(self.linear(x))
            y.mul_(2)  # error: [TLN201]
            return {"out": y}

    Head()(torch.ones(2, 3))["out"].sum().backward()


def dictionary_of_several_parts():
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            y = self.linear(x)
            shown = torch.sigmoid(y)
            shown.mul_(2)  # smell: [TLN204]
            return {"shown": shown, "out": y}

    Head()(torch.ones(2, 3))["out"].sum().backward()


def operator_patched_for_a_block():
    import unittest.mock

    w = torch.ones(3, requires_grad=True)
    with unittest.mock.patch("torch.Tensor.__mul__", lambda self, x: self.clone()):
        y = w.sin()
        z = y * y
        y.add_(1)
        z.sum().backward()


def operator_of_another_kind_patched_for_a_block():
    """Raises: modified by an inplace operation"""
    import unittest.mock

    w = torch.ones(3, requires_grad=True)
    with unittest.mock.patch("torch.Tensor.sub", lambda self, x: self.clone()):
        y = w.sin()
        z = y * y
        y.add_(1)  # error: [TLN201]
        z.sum().backward()


def what_older_releases_take():
    def norm(x, weight):
        if hasattr(F, "rms_norm"):
            return F.rms_norm(x, (2,), weight)
        y = torch.tanh(x)
        y *= weight
        return y

    weight = nn.Parameter(torch.ones(2))
    norm(nn.Linear(2, 2)(torch.rand(3, 2)), weight).sum().backward()


def what_no_release_is_known_to_have():
    """Raises: modified by an inplace operation"""

    def norm(x, weight):
        if hasattr(F, "norm_of_somebody"):
            return F.norm_of_somebody(x, (2,), weight)
        y = torch.tanh(x)
        y *= weight  # error: [TLN201]
        return y

    weight = nn.Parameter(torch.ones(2))
    norm(nn.Linear(2, 2)(torch.rand(3, 2)), weight).sum().backward()


def replaced_where_there_is_a_nan_by_whoever_infers():
    """Two conditions, and one may say that nobody differentiates."""
    exporting = eval("lambda: True")

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(4, 12)

        def forward(self, x):
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            attn = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
            attn[..., :1] = 0  # smell: [TLN205]
            if exporting():
                attn = torch.ones_like(attn)
            if torch.isinf(attn).any():
                attn = torch.zeros_like(attn)
            return attn @ v

    Attention()(torch.rand(2, 3, 4)).sum().backward()


def attention_whose_heads_are_put_together_again():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.head_dim = heads, dim // heads
            self.q = nn.Linear(dim, dim)

        def forward(self, x):
            b, t, _ = x.shape
            q = self.q(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
            out = F.scaled_dot_product_attention(q, q, q)
            out = out.transpose(1, 2).reshape(b, t, -1)
            out.zero_()  # warning: [TLN201]
            return out

    Attention(8, 2)(torch.rand(2, 3, 8)).sum().backward()


def attention_of_a_query_among_three():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads = heads
            self.qkv = nn.Linear(dim, dim * 3)

        def forward(self, x):
            b, t, c = x.shape
            qkv = self.qkv(x).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
            q, k, v = qkv.unbind(0)
            out = F.scaled_dot_product_attention(q, k, v).permute(0, 2, 1, 3).flatten(2)
            out.clamp_(min=0.1)  # warning: [TLN201]
            return out

    Attention(8, 2)(torch.rand(2, 3, 8)).sum().backward()


def attention_whose_heads_are_told_one_after_the_other():
    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.head_dim = heads, dim // heads
            self.q = nn.Linear(dim, dim)

        def forward(self, x):
            b, t, _ = x.shape
            q = self.q(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
            out = F.scaled_dot_product_attention(q, q, q)
            out = out.reshape(b, self.heads * t, -1)
            out.zero_()
            return out

    Attention(8, 2)(torch.rand(2, 3, 8)).sum().backward()


def attention_of_which_a_copy_is_put_together():
    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.head_dim = heads, dim // heads
            self.q = nn.Linear(dim, dim)

        def forward(self, x):
            b, t, _ = x.shape
            q = self.q(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
            out = F.scaled_dot_product_attention(q, q, q)[:, :, 1:]
            out = out.transpose(1, 2).reshape(b * (t - 1), -1)
            out.zero_()
            return out

    Attention(8, 2)(torch.rand(2, 3, 8)).sum().backward()


def cast_to_the_dtype_that_it_has():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            w = torch.softmax(self.score(x).float(), dim=-1).to(x.dtype)
            w *= 2  # error: [TLN201]
            return w

    Attention(3)(torch.rand(2, 3)).sum().backward()


def cast_back_to_the_type_that_it_has():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            dtype = x.dtype
            w = torch.softmax(self.score(x), dim=-1, dtype=torch.float32).to(dtype)
            w.clamp_(min=0.1)  # error: [TLN201]
            return w

    Attention(3)(torch.rand(2, 3)).sum().backward()


def cast_to_a_dtype_that_it_has_not():
    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            w = torch.softmax(self.score(x).double(), dim=-1).to(x.dtype)
            w *= 2  # strict: [TLN204]
            return w

    Attention(3)(torch.rand(2, 3)).sum().backward()


def cast_of_what_nobody_has_saved():
    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            w = (self.score(x).float() * 3).to(x.dtype)
            w *= 2
            return w

    Attention(3)(torch.rand(2, 3)).sum().backward()


def cast_from_what_somebody_made_double():
    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            w = torch.softmax(self.score(x).double(), dim=-1).to(torch.float32)
            w *= 2  # strict: [TLN204]
            return w

    Attention(3)(torch.rand(2, 3)).sum().backward()


def cast_from_what_a_double_was_multiplied_with():
    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            w = (self.score(x) * self.score(x).double()).exp().to(torch.float32)
            w *= 2  # strict: [TLN204]
            return w

    Attention(3)(torch.rand(2, 3)).sum().backward()


def attention_of_a_rotated_query():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.head_dim = heads, dim // heads
            self.q = nn.Linear(dim, dim)

        def forward(self, x, cos, sin):
            b, t, _ = x.shape
            q = self.q(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
            first, second = q.chunk(2, dim=-1)
            q = q * cos + torch.cat((-second, first), dim=-1) * sin
            out = F.scaled_dot_product_attention(q, q, q)
            out = out.transpose(1, 2).contiguous().reshape(b, t, -1)
            out.zero_()  # warning: [TLN201]
            return out

    Attention(8, 2)(torch.rand(2, 3, 8), torch.rand(3, 4), torch.rand(3, 4)).sum().backward()


def layer_of_a_class_that_a_decorator_notes():
    """Raises: modified by an inplace operation"""

    noted = set()

    def note(cls):
        """Keeps a class in mind."""
        noted.add(cls)
        return cls

    @note
    class Squash(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.squash = nn.Linear(3, 3), Squash()

        def forward(self, x):
            y = self.squash(self.lin(x))
            y.mul_(2)  # error: [TLN201]
            return y

    Net()(torch.rand(2, 3)).sum().backward()


def layer_of_a_class_that_is_registered_by_name():
    """Raises: modified by an inplace operation"""

    layers = {}

    def register(name=""):
        def wrap(cls):
            key = name or cls.__name__.lower()
            if key in layers:
                raise KeyError(f"{key} is taken by {cls.__name__}")
            layers[key] = cls
            return cls

        return wrap

    @register("squash")
    class Squash(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.squash = nn.Linear(3, 3), layers["squash"]()

        def forward(self, x):
            y = self.squash(self.lin(x))
            y.mul_(2)  # error: [TLN201]
            return y

    Net()(torch.rand(2, 3)).sum().backward()


def layer_of_a_class_whose_forward_a_decorator_replaces():
    noted = set()

    def note(cls):
        noted.add(cls)
        cls.forward = lambda self, x: x + 1
        return cls

    @note
    class Squash(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.squash = nn.Linear(3, 3), Squash()

        def forward(self, x):
            y = self.squash(self.lin(x))
            y.mul_(2)
            return y

    Net()(torch.rand(2, 3)).sum().backward()


def layer_of_a_class_that_a_decorator_derives_from():
    noted = set()

    def note(cls):
        class Shifted(cls):
            def forward(self, x):
                return x + 1

        noted.add(cls)
        return Shifted

    @note
    class Squash(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.squash = nn.Linear(3, 3), Squash()

        def forward(self, x):
            y = self.squash(self.lin(x))
            y.mul_(2)
            return y

    Net()(torch.rand(2, 3)).sum().backward()


def layer_of_a_class_that_a_decorator_hands_on():
    def shift(cls):
        cls.forward = lambda self, x: x + 1

    def note(cls):
        shift(cls)
        return cls

    @note
    class Squash(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.squash = nn.Linear(3, 3), Squash()

        def forward(self, x):
            y = self.squash(self.lin(x))
            y.mul_(2)
            return y

    Net()(torch.rand(2, 3)).sum().backward()


def layer_of_a_class_that_a_registry_of_its_own_kind_changes():
    class Registry:
        def add(self, cls):
            cls.forward = lambda self, x: x + 1

    noted = Registry()

    def note(cls):
        noted.add(cls)
        return cls

    @note
    class Squash(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.squash = nn.Linear(3, 3), Squash()

        def forward(self, x):
            y = self.squash(self.lin(x))
            y.mul_(2)
            return y

    Net()(torch.rand(2, 3)).sum().backward()


def layer_of_a_class_that_is_changed_where_it_is_noted():
    noted = []

    def note(cls):
        noted.append(cls)
        return cls

    @note
    class Squash(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)

    for each in noted:
        each.forward = lambda self, x: x + 1

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.squash = nn.Linear(3, 3), Squash()

        def forward(self, x):
            y = self.squash(self.lin(x))
            y.mul_(2)
            return y

    Net()(torch.rand(2, 3)).sum().backward()


def layer_of_a_class_of_which_a_decorator_gives_back_another():
    noted = {}

    def note(cls):
        return noted.setdefault("squash", cls)

    class Shift(nn.Module):
        def forward(self, x):
            return x + 1

    note(Shift)

    @note
    class Squash(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.squash = nn.Linear(3, 3), Squash()

        def forward(self, x):
            y = self.squash(self.lin(x))
            y.mul_(2)
            return y

    Net()(torch.rand(2, 3)).sum().backward()


def attention_that_is_fused_where_it_was_asked_for():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim, heads, fused):
            super().__init__()
            self.heads, self.fused = heads, fused
            self.qkv = nn.Linear(dim, dim * 3)

        def forward(self, x):
            b, t, c = x.shape
            qkv = self.qkv(x).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
            q, k, v = qkv.unbind(0)
            if self.fused:
                out = F.scaled_dot_product_attention(q, k, v)
            else:
                out = (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v
            out = out.transpose(1, 2).reshape(b, t, c)
            out.add_(1)  # warning: [TLN201]
            return out

    Attention(8, 2, True)(torch.rand(2, 3, 8)).sum().backward()


def attention_that_is_fused_where_nobody_writes():
    class Attention(nn.Module):
        def __init__(self, dim, heads, fused, shifted):
            super().__init__()
            self.heads, self.fused, self.shifted = heads, fused, shifted
            self.qkv = nn.Linear(dim, dim * 3)

        def forward(self, x):
            b, t, c = x.shape
            qkv = self.qkv(x).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
            q, k, v = qkv.unbind(0)
            if self.fused:
                out = F.scaled_dot_product_attention(q, k, v)
            else:
                out = (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v
            out = out.transpose(1, 2).reshape(b, t, c)
            if self.shifted:
                out.add_(1)
            return out

    Attention(8, 2, True, False)(torch.rand(2, 3, 8)).sum().backward()


def attention_that_is_fused_where_nobody_trains():
    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads = heads
            self.qkv = nn.Linear(dim, dim * 3)

        def forward(self, x):
            b, t, c = x.shape
            qkv = self.qkv(x).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
            q, k, v = qkv.unbind(0)
            if self.training:
                out = (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v
            else:
                out = F.scaled_dot_product_attention(q, k, v)
            out = out.transpose(1, 2).reshape(b, t, c)
            out.add_(1)
            return out

    Attention(8, 2)(torch.rand(2, 3, 8)).sum().backward()


def attention_of_a_rotated_query_that_is_computed_with():
    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.head_dim = heads, dim // heads
            self.q = nn.Linear(dim, dim)

        def forward(self, x, cos):
            b, t, _ = x.shape
            q = self.q(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
            q = torch.cat((q * cos, q), dim=-1)
            out = F.scaled_dot_product_attention(q, q, q) + 1
            out = out.transpose(1, 2).contiguous().reshape(b, t, -1)
            out.zero_()
            return out

    Attention(8, 2)(torch.rand(2, 3, 8), torch.rand(3, 4)).sum().backward()


def result_of_a_layer_that_the_module_was_given():
    """Raises: modified by an inplace operation"""

    class Decoder(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, z):
            mean = torch.sigmoid(self.net(z))
            mean *= 2  # warning: [TLN201]
            return mean

    eval("Decoder")(nn.Linear(3, 3))(torch.rand(2, 3)).sum().backward()


def part_of_what_a_given_layer_returned():
    """Raises: modified by an inplace operation"""

    class Decoder(nn.Module):
        def __init__(self, net: nn.Module):
            super().__init__()
            self.net = net

        def forward(self, z):
            both = self.net(z)
            half = both.size(1) // 2
            spread = torch.exp(0.5 * both[:, half:])
            spread *= 2  # warning: [TLN201]
            return spread

    eval("Decoder")(nn.Linear(3, 4))(torch.rand(2, 3)).sum().backward()


def result_of_a_given_layer_that_nothing_saves():
    class Decoder(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, z):
            mean = self.net(z) + 1
            mean += 2
            low, high = self.net(z).chunk(2, dim=1)
            return mean, torch.exp(low), high

    sum(each.sum() for each in Decoder(nn.Linear(3, 4))(torch.rand(2, 3))).backward()


def several_results_of_a_given_layer():
    class Decoder(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, z):
            mean, spread = self.net(z)
            mean += 1
            return mean * torch.exp(spread)

    def net(z):
        return z * 2, z * 3

    Decoder(net)(torch.rand(2, 3, requires_grad=True)).sum().backward()


def result_of_a_given_layer_that_is_not_differentiated():
    class Teacher(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        @torch.no_grad()
        def forward(self, z):
            mean = torch.sigmoid(self.net(z))
            mean *= 2
            return mean

    Teacher(nn.Linear(3, 3))(torch.rand(2, 3))


def layers_that_a_loop_has_appended():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, inputs, hidden, outputs, dropout=0.1):
            super().__init__()
            layers = []
            for each in hidden:
                layers.append(nn.Linear(inputs, each))
                inputs = each
            layers.append(nn.Linear(inputs, outputs))
            self.layers = nn.ModuleList(layers)
            self.dropout = dropout

        def forward(self, x):
            hidden, last = self.layers[:-1], self.layers[-1]
            for layer in hidden:
                x = F.relu(layer(x))
                x.mul_(2)  # error: [TLN201]
                if self.dropout > 0:
                    x = F.dropout(x, p=self.dropout, training=self.training)
            return last(x)

    eval("Net")(3, [3, 3], 2)(torch.rand(2, 3)).sum().backward()


def layers_that_may_be_of_two_kinds():
    class Net(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            layers = []
            for size in sizes:
                layers.append(nn.Linear(size, size))
                layers.append(nn.Softplus())
            self.layers = nn.ModuleList(layers)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            x.mul_(2)
            return x

    Net([3, 3])(torch.rand(2, 3)).sum().backward()


def gradient_with_respect_to_itself_perhaps_written():
    scaled = eval("1")
    weight = torch.rand(3, requires_grad=True)
    r = torch.rand(3, requires_grad=True) * 2
    if scaled:
        r.mul_(weight)
    with torch.no_grad():
        weight.add_(1)
    torch.autograd.grad(r, r, torch.ones(3))


def gradient_with_respect_to_what_it_was_computed_from_perhaps_written():
    """Raises: modified by an inplace operation"""
    scaled = eval("1")
    weight = torch.rand(3, requires_grad=True)
    x = torch.rand(3, requires_grad=True)
    r = x * 2
    if scaled:
        r.mul_(weight)
    with torch.no_grad():
        weight.add_(1)  # warning: [TLN201]
    torch.autograd.grad(r, [r, x], torch.ones(3))


def layer_put_into_the_dictionary_of_what_unknown_code_hands_back():
    class Exponential(nn.Module):
        def forward(self, x):
            return x.exp()

    def same(value):
        return value

    net = nn.Sequential(Exponential())
    eval("same")(net).__dict__["_modules"]["0"] = nn.Identity()
    h = torch.rand(3, requires_grad=True) * 1
    y = net(h)
    y.add_(1)
    y.sum().backward()


def a_second_part_of_what_is_returned():
    """Raises: modified by an inplace operation"""

    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean, self.log_var = nn.Linear(4, 2), nn.Linear(4, 2)

        def forward(self, x):
            mean = self.mean(x)
            std = torch.exp(0.5 * self.log_var(x))
            std += 1e-3  # warning: [TLN201]
            return mean, std

    differentiate = eval("lambda parts: torch.autograd.backward([each.sum() for each in parts])")
    differentiate(Gaussian()(torch.rand(3, 4)))


def one_of_several_parts_of_a_dictionary():
    """Raises: modified by an inplace operation"""

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            out = self.linear(x)
            gate = torch.sigmoid(out)
            gate.mul_(2)  # warning: [TLN201]
            return {"out": out, "gate": gate}

    differentiate = eval("lambda parts: torch.autograd.backward([each.sum() for each in parts])")
    differentiate(Gated()(torch.rand(3, 4)).values())


def a_part_of_an_object_that_is_returned():
    """Raises: modified by an inplace operation"""
    from dataclasses import dataclass

    @dataclass
    class Output:
        mean: torch.Tensor
        std: torch.Tensor

    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            h = self.linear(x)
            std = torch.exp(h)
            std += 1  # warning: [TLN201]
            return Output(mean=h, std=std)

    differentiate = eval("lambda parts: torch.autograd.backward([each.sum() for each in parts])")
    differentiate(vars(Gaussian()(torch.rand(3, 4))).values())


def second_part_that_is_detached():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q = nn.Linear(4, 4)

        def forward(self, x):
            q = self.q(x)
            weights = torch.softmax(q @ q.transpose(-2, -1), dim=-1)
            out = weights @ x
            shown = weights.detach().clone()
            shown.mul_(2)
            return out, shown

    torch.autograd.backward([each.sum() for each in Attention()(torch.rand(2, 3, 4)) if each.requires_grad])


def second_part_whose_operation_saves_only_its_input():
    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean, self.scale = nn.Linear(4, 2), nn.Linear(4, 2)

        def forward(self, x):
            mean = self.mean(x)
            scale = nn.functional.softplus(self.scale(x))
            scale += 1e-3
            return mean, scale

    torch.autograd.backward([each.sum() for each in Gaussian()(torch.rand(3, 4))])


def second_part_beside_a_loss():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 1)

        def forward(self, x, y):
            logits = self.linear(x)
            loss = (logits - y).square().mean()
            shown = torch.sigmoid(logits)
            shown.mul_(100)  # smell: [TLN204]
            return loss, shown

    Model()(torch.rand(3, 4), torch.rand(3, 1))[0].backward()


def a_move_to_the_device_of_the_input():
    """Raises: modified by an inplace operation"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            gate = torch.sigmoid(self.linear(x)).to(x.device)
            gate += 1  # warning: [TLN201]
            return gate * x

    Scaled()(torch.rand(3, 4)).sum().backward()


def a_move_to_the_device_that_is_kept():
    """Raises: modified by an inplace operation"""

    class Scaled(nn.Module):
        def __init__(self, device="cpu"):
            super().__init__()
            self.device = device
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            gate = torch.sigmoid(self.linear(x)).to(self.device)
            gate += 1  # warning: [TLN201]
            return gate

    Scaled()(torch.rand(3, 4)).sum().backward()


def a_move_that_copies():
    class Scaled(nn.Module):
        def __init__(self, device="cpu"):
            super().__init__()
            self.device = device
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            gate = torch.sigmoid(self.linear(x)).to(x.device, copy=True)
            gate += 1  # strict: [TLN204]
            return gate * torch.sigmoid(x).to(self.device, dtype=torch.float64)

    Scaled()(torch.rand(3, 4)).sum().backward()


def stages_that_a_loop_appends_to_a_module_list():
    """Raises: modified by an inplace operation"""

    class Perceptron(nn.Module):
        def __init__(self, features, hidden):
            super().__init__()
            self.layers = nn.ModuleList()
            last = features
            for size in hidden:
                self.layers.append(nn.Sequential(nn.Linear(last, size), nn.ReLU()))
                last = size
            self.out = nn.Linear(last, 1)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
                x.mul_(2)  # error: [TLN201]
            return self.out(x)

    Perceptron(4, eval("[4, 3]"))(torch.rand(2, 4)).sum().backward()


def layers_of_a_module_list_that_is_appended_to_one_by_one():
    """Raises: modified by an inplace operation"""

    class Perceptron(nn.Module):
        def __init__(self, features, hidden):
            super().__init__()
            self.layers = nn.ModuleList()
            for size in hidden:
                self.layers.append(nn.Linear(features, size))

        def forward(self, x):
            total = 0
            for layer in self.layers:
                y = torch.sigmoid(layer(x))
                y += 1  # error: [TLN201]
                total = total + y
            return total

    Perceptron(4, eval("[3, 3]"))(torch.rand(2, 4)).sum().backward()


def sum_of_what_a_loop_has_put_into_a_list():
    """Raises: modified by an inplace operation"""

    class Votes(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(4, size) for size in sizes)

        def forward(self, x):
            outs = []
            for layer in self.layers:
                y = torch.exp(layer(x))
                y += 1  # error: [TLN201]
                outs.append(y)
            return sum(outs)

    Votes(eval("[3, 3]"))(torch.rand(2, 4)).sum().backward()


def last_stage_that_is_of_another_kind():
    class Perceptron(nn.Module):
        def __init__(self, features, hidden):
            super().__init__()
            self.layers = nn.ModuleList()
            for size in hidden:
                self.layers.append(nn.Linear(features, size))
            self.layers.append(nn.Tanh())
            self.layers[0] = nn.Softplus()

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    Perceptron(4, eval("[4]"))(torch.rand(2, 4))


def stages_of_which_each_saves_only_its_input():
    class Perceptron(nn.Module):
        def __init__(self, features, hidden):
            super().__init__()
            self.layers = nn.ModuleList()
            for size in hidden:
                self.layers.append(nn.Sequential(nn.Linear(features, size), nn.Softplus()))

        def forward(self, x):
            total = 0
            for layer in self.layers:
                y = layer(x)
                y.mul_(2)
                total = total + y
            return total

    Perceptron(4, eval("[3, 3]"))(torch.rand(2, 4)).sum().backward()


def hidden_layers_before_a_last_one_of_another_size():
    """Raises: modified by an inplace operation"""

    class Perceptron(nn.Module):
        def __init__(self, hidden):
            super().__init__()
            layers = []
            last = 4
            for size in [hidden] if isinstance(hidden, int) else hidden:
                layers.append(nn.Linear(last, size))
                last = size
            layers.append(nn.Linear(last, 3))
            self.layers = nn.ModuleList(layers)

        def forward(self, x):
            hidden, last = self.layers[:-1], self.layers[-1]
            for layer in hidden:
                x = torch.relu(layer(x))
                x += 1  # error: [TLN201]
            return last(x)

    Perceptron(eval("[4, 3]"))(torch.rand(2, 4)).sum().backward()


def layers_of_which_some_write_in_place():
    class Perceptron(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList()
            for size in sizes:
                self.layers.append(nn.Softplus())
            self.layers.append(nn.ReLU())

        def forward(self, x):
            total = 0
            for layer in self.layers[:-1]:
                y = layer(x)
                y += 1
                total = total + y
            return total

    Perceptron(eval("[4, 3]"))(torch.rand(2, 4, requires_grad=True)).sum().backward()


def copied_by_a_move_or_not():
    """Raises: modified by an inplace operation"""

    def shifted(device):
        w = torch.ones(3, requires_grad=True)
        y = w.exp().to(device)
        y += 1  # warning: [TLN201]
        y.sum().backward()

    shifted(eval("'cpu'"))


def layer_of_the_class_of_another():
    """Raises: modified by an inplace operation"""
    activations = {"tanh": nn.Tanh(), "softplus": nn.Softplus(), "sigmoid": nn.Sigmoid()}

    def resolve(name):
        return activations[name].__class__()

    class Cell(nn.Module):
        def __init__(self, kind="tanh"):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 4))
            self.act = resolve(kind)

        def forward(self, x):
            h = self.act(x @ self.weight.t())
            h.mul_(2)  # error: [TLN201]
            return h

    Cell()(torch.rand(2, 4)).sum().backward()


def layer_of_the_type_of_another():
    """Raises: modified by an inplace operation"""
    activations = {"tanh": nn.Tanh(), "softplus": nn.Softplus(), "sigmoid": nn.Sigmoid()}

    def resolve(name):
        return type(activations[name])()

    class Cell(nn.Module):
        def __init__(self, kind="sigmoid"):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 4))
            self.act = resolve(kind)

        def forward(self, x):
            h = self.act(x @ self.weight.t())
            h.mul_(2)  # error: [TLN201]
            return h

    Cell()(torch.rand(2, 4)).sum().backward()


def layer_of_the_class_of_another_that_saves_its_input():
    """The layer that is made saves its input, not its result."""
    activations = {"softplus": nn.Softplus(), "silu": nn.SiLU()}

    def resolve(name):
        return activations[name].__class__()

    class Cell(nn.Module):
        def __init__(self, kind="softplus"):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 4))
            self.act = resolve(kind)

        def forward(self, x):
            h = self.act(x @ self.weight.t())
            h.mul_(2)
            return h

    Cell()(torch.rand(2, 4)).sum().backward()


def layer_of_the_type_of_another_that_saves_its_input():
    """The layer that is made saves its input, not its result."""
    activations = {"softplus": nn.Softplus(), "silu": nn.SiLU()}

    def resolve(name):
        return type(activations[name])()

    class Cell(nn.Module):
        def __init__(self, kind="softplus"):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 4))
            self.act = resolve(kind)

        def forward(self, x):
            h = self.act(x @ self.weight.t())
            h.mul_(2)
            return h

    Cell()(torch.rand(2, 4)).sum().backward()


def layer_of_the_type_of_one_that_was_parametrized():
    """`type` gives a class made for that one layer; the parametrized weight is not what a plain one saves."""

    class Double(nn.Module):
        def forward(self, weight):
            return weight * 2

    layer = nn.Linear(4, 4)
    torch.nn.utils.parametrize.register_parametrization(layer, "weight", Double())
    print(type(layer) is nn.Linear, layer.__class__.__name__)
    h = layer(torch.rand(2, 4))
    h.mul_(2)
    h.sum().backward()


def features_by_a_transposed_matrix_written_after_a_layer():
    """Raises: modified by an inplace operation"""

    class Features(nn.Module):
        def __init__(self, given, size):
            super().__init__()
            self.register_buffer("matrix", torch.randn(size, given))
            self.gate = nn.Linear(size, size)

        def forward(self, x):
            features = torch.cos(x @ self.matrix.T)
            gate = self.gate(features)
            features.add_(1)  # error: [TLN201]
            return features * gate

    Features(3, 4)(torch.rand(2, 3)).sum().backward()


def features_by_a_transposed_matrix_that_no_layer_is_given():
    """`cos` saves its input, which is not what is written."""

    class Features(nn.Module):
        def __init__(self, given, size):
            super().__init__()
            self.register_buffer("matrix", torch.randn(size, given))
            self.gate = nn.Linear(given, size)

        def forward(self, x):
            features = torch.cos(x @ self.matrix.T)
            gate = self.gate(x)
            features.add_(1)
            return features + gate

    Features(3, 4)(torch.rand(2, 3)).sum().backward()


def norm_of_a_number_that_is_given():
    """Raises: modified by an inplace operation"""

    class Norm(nn.Module):
        def __init__(self, p: int):
            super().__init__()
            self.p = p
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            norm = torch.norm(self.layer(x), self.p, -1)
            norm.add_(1)  # error: [TLN201]
            return norm

    Norm(3)(torch.rand(2, 4)).sum().backward()


def norm_by_a_name_that_saves_no_result():
    """The nuclear norm is a sum of singular values."""

    class Norm(nn.Module):
        def __init__(self, p: str):
            super().__init__()
            self.p = p
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            norm = torch.norm(self.layer(x), self.p)
            norm.add_(1)
            return norm

    Norm("nuc")(torch.rand(2, 4)).sum().backward()


def product_of_weights_where_a_factor_may_be_a_number():
    """Raises: modified by an inplace operation"""

    class Focal(nn.Module):
        def __init__(self, gamma=4, smoothing: float = 0.1):
            super().__init__()
            self.gamma = gamma
            self.smoothing = smoothing

        def forward(self, inputs):
            targets = torch.zeros_like(inputs)
            p = inputs.exp()
            p = p * targets
            weight = torch.pow(1 - p, self.gamma * targets)
            weighted = inputs * weight
            if self.smoothing > 0:
                targets.mul_(1 - self.smoothing)  # error: [TLN201]
            loss = -targets.mul(weighted)
            return loss.sum()

    Focal()(torch.rand(2, 3, requires_grad=True)).backward()


def weight_cast_by_a_context_that_is_entered_by_hand():
    """It may be an autocast, which saves a copy."""
    net = nn.Linear(3, 2)
    context = eval("torch.autocast")("cpu")
    context.__enter__()
    out = net(torch.ones(1, 3, requires_grad=True)).float().tanh()
    context.__exit__(None, None, None)
    with torch.no_grad():
        net.weight.mul_(0.9)  # warning: [TLN202]
    out.sum().backward()


def settings_whose_attributes_have_second_names():
    """Raises: modified by an inplace operation"""

    class Settings:
        second_names = {}

        def __setattr__(self, name, value):
            if name in super().__getattribute__("second_names"):
                name = super().__getattribute__("second_names")[name]
            super().__setattr__(name, value)

        def __getattribute__(self, name):
            if name != "second_names" and name in super().__getattribute__("second_names"):
                name = super().__getattribute__("second_names")[name]
            return super().__getattribute__(name)

    class BlockSettings(Settings):
        second_names = {"rate": "dropout"}

        def __init__(self, dropout=0.0):
            self.dropout = dropout

    class Block(nn.Module):
        def __init__(self, dim, settings: BlockSettings):
            super().__init__()
            self.linear = nn.Linear(dim, dim)
            self.rate = settings.rate

        def forward(self, x):
            weights = torch.softmax(self.linear(x), dim=-1)
            kept = F.dropout(weights, p=self.rate, training=self.training)
            kept += 1  # error: [TLN201]
            return kept @ x

    Block(3, BlockSettings())(torch.rand(3, 3)).sum().backward()


def settings_that_give_what_they_like_under_a_name():
    class Settings:
        second_names = {"rate": "dropout"}

        def __init__(self, dropout=0.0):
            self.dropout = dropout

        def __getattribute__(self, name):
            if name in super().__getattribute__("second_names"):
                return 0.5 + super().__getattribute__(super().__getattribute__("second_names")[name])
            return super().__getattribute__(name)

    class Block(nn.Module):
        def __init__(self, dim, settings: Settings):
            super().__init__()
            self.linear = nn.Linear(dim, dim)
            self.rate = settings.rate

        def forward(self, x):
            weights = torch.softmax(self.linear(x), dim=-1)
            kept = F.dropout(weights, p=self.rate, training=self.training)
            kept += 1  # strict: [TLN204]
            return kept @ x

    Block(3, Settings())(torch.rand(3, 3)).sum().backward()


def cast_to_the_dtype_that_it_has_beside_a_lock():
    """Raises: modified by an inplace operation"""
    lock = eval("__import__('threading').Lock()")

    def announce():
        print("ready")

    def announce_once():
        with lock:
            announce()

    announce_once()

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            w = torch.softmax(self.score(x).float(), dim=-1).to(x.dtype)
            w *= 2  # warning: [TLN201]
            return w

    eval("Attention")(3)(torch.rand(2, 3)).sum().backward()


def cast_to_another_dtype_that_a_function_has_chosen():
    def choose():
        with eval("__import__('threading').Lock()"):
            torch.set_default_dtype(torch.float64)

    choose()

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.score = nn.Linear(dim, dim)

        def forward(self, x):
            w = torch.softmax(self.score(x), dim=-1).to(torch.float32)
            w *= 2  # strict: [TLN204]
            return w

    eval("Attention")(3)(torch.rand(2, 3)).sum().backward()


def embeddings_of_one_of_two_optional_inputs():
    """Raises: modified by an inplace operation"""

    class Embeddings(nn.Module):
        def __init__(self, settings):
            super().__init__()
            self.words = nn.Embedding(9, 4)
            self.places = nn.Embedding(9, 4)
            self.kind = settings.kind

        def forward(self, ids=None, given=None):
            if ids is not None:
                shape = ids.size()
            else:
                shape = given.size()[:-1]
            if given is None:
                given = self.words(ids)
            found = given
            found.sigmoid_()
            if self.kind == "absolute":
                found += self.places(torch.arange(shape[-1]))  # warning: [TLN201]
            return found

    settings = eval("__import__('types').SimpleNamespace(kind='absolute')")
    eval("Embeddings")(settings)(torch.arange(3)).sum().backward()


def zeroed_before_a_dropout_that_works_in_place():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, rate):
            super().__init__()
            self.layers = nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU(inplace=True))
            self.head = nn.Sequential(nn.Dropout(p=rate, inplace=True), nn.Linear(3, 4))

        def forward(self, x):
            x = self.layers(x)
            x.zero_()  # error: [TLN201]
            return self.head(x.mean([2, 3]))

    Net(0.2)(torch.rand(1, 3, 2, 2)).sum().backward()


def dropouts_in_place_that_each_may_be_off():
    """A rate of 0 drops nothing, and two of them may differ."""

    class Net(nn.Module):
        def __init__(self, first, second):
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self.first = nn.Dropout(first, inplace=True)
            self.second = nn.Dropout(second, inplace=True)

        def forward(self, x):
            saved = self.linear(x).exp()
            self.first(saved)
            other = self.linear(x)
            self.second(other)
            return saved + other

    eval("Net")(0.0, 0.5)(torch.rand(2, 3)).sum().backward()


def layer_of_elsewhere_on_what_one_of_two_arms_has_made():
    """Raises: modified by an inplace operation"""

    class Pool(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.assign = nn.modules.linear.NonDynamicallyQuantizableLinear(dim, dim)

        def forward(self, x):
            x = x.unsqueeze(0) if x.dim() == 2 else x
            sizes = torch.norm(self.assign(x), dim=1)
            F.relu(sizes, inplace=True)  # warning: [TLN201]
            return sizes.mean()

    eval("Pool")(3)(torch.rand(2, 3, requires_grad=True)).backward()


def layer_of_elsewhere_on_what_only_one_arm_has_in_the_graph():
    class Pool(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.assign = nn.modules.linear.NonDynamicallyQuantizableLinear(dim, dim)
            self.assign.requires_grad_(False)

        def forward(self, x, scale):
            x = x.detach() if x.dim() == 2 else scale
            sizes = self.assign(x).exp()
            sizes.mul_(2)
            return (sizes * scale).mean()

    eval("Pool")(3)(torch.rand(2, 3, requires_grad=True), torch.rand(3, requires_grad=True)).backward()


def activation_looked_up_among_the_classes_of_torch():
    """Raises: modified by an inplace operation"""
    import inspect

    def plain(text):
        return text.lower().replace("-", "").replace("_", "").replace(" ", "")

    def found(classes, query, *arguments):
        if not isinstance(query, str):
            return query
        for each in classes:
            name = plain(each.__name__)
            if plain(query) in [name, name.replace("act", "")]:
                return each(*arguments) if inspect.isclass(each) else each
        raise ValueError(query)

    def swish(x):
        return x * x.sigmoid()

    def activation(query):
        base = nn.Module
        classes = [
            each
            for each in vars(torch.nn.modules.activation).values()
            if isinstance(each, type) and issubclass(each, base)
        ]
        classes += [swish]
        return found(classes, query)

    class Score(nn.Module):
        def __init__(self, dim, act="tanh"):
            super().__init__()
            self.linear = nn.Linear(dim, 1)
            self.act = activation(act)

        def forward(self, x):
            score = self.act(self.linear(x))
            score *= 2  # error: [TLN201]
            return score

    eval("Score")(3)(torch.rand(2, 3)).sum().backward()


def activation_looked_up_that_saves_what_it_is_given():
    def found(classes, query):
        for name, each in classes.items():
            if name.lower() == query:
                return each()
        raise ValueError(query)

    classes = {
        name: each
        for name, each in torch.nn.modules.activation.__dict__.items()
        if isinstance(each, type) and issubclass(each, nn.Module)
    }
    linear = nn.Linear(3, 1)
    score = found(classes, "gelu")(linear(torch.rand(2, 3)))
    score *= 2
    score.sum().backward()
    kept = found(classes, "hardtanh")(linear(torch.rand(2, 3)))
    kept += 1
    kept.sum().backward()


def part_of_an_object_that_is_returned():
    """Raises: modified by an inplace operation"""
    from types import SimpleNamespace

    class Select(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.linear = nn.Linear(dim, 1)

        def forward(self, x, index):
            score = torch.tanh(self.linear(x))
            score *= 2  # warning: [TLN201]
            return SimpleNamespace(index=index, weight=score[index])

    eval("Select")(3)(torch.rand(2, 3), torch.tensor([0])).weight.sum().backward()


def part_of_an_object_that_is_returned_without_a_graph():
    from types import SimpleNamespace

    class Select(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.linear = nn.Linear(dim, 1)

        def forward(self, x, index):
            score = torch.tanh(self.linear(x))
            given = score.detach().clone()
            score.mul_(2)
            return SimpleNamespace(index=index, weight=given[index])

    eval("Select")(3)(torch.rand(2, 3), torch.tensor([0]))


def settings_of_which_another_constructor_says_the_class():
    """Raises: modified by an inplace operation"""

    class Sizes:
        def __init__(self, width=3):
            self.width = width

    class Settings:
        def __init__(self, width=3, rate=0.0):
            self.width = width
            self.rate = rate

    class Attention(nn.Module):
        def __init__(self, config, window):
            super().__init__()
            self.linear = nn.Linear(config.width, config.width)
            self.rate = config.rate
            self.window = window

        def forward(self, x):
            weights = torch.softmax(self.linear(x), dim=-1)
            kept = F.dropout(weights, p=self.rate, training=self.training)
            kept.clamp_(min=0.1)  # warning: [TLN201]
            return kept @ x

    class Stem(nn.Module):
        def __init__(self, config: Sizes):
            super().__init__()
            self.linear = nn.Linear(config.width, config.width)

    class Block(nn.Module):
        def __init__(self, config: Settings):
            super().__init__()
            self.attention = eval("Attention")(config, 2)

    eval("Attention")(Settings(), 2)(torch.rand(3, 3)).sum().backward()


def settings_of_which_two_classes_would_do():
    class Settings:
        def __init__(self, width=3, rate=0.0):
            self.width = width
            self.rate = rate

    class NoisySettings:
        def __init__(self, width=3, rate=0.5):
            self.width = width
            self.rate = rate

    class Attention(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.linear = nn.Linear(config.width, config.width)
            self.rate = config.rate

        def forward(self, x):
            weights = torch.softmax(self.linear(x), dim=-1)
            kept = F.dropout(weights, p=self.rate, training=self.training)
            kept.clamp_(min=0.1)  # strict: [TLN204]
            return kept @ x

    class Plain(nn.Module):
        def __init__(self, config: Settings):
            super().__init__()
            self.linear = nn.Linear(config.width, config.width)

    class Noisy(nn.Module):
        def __init__(self, config: NoisySettings):
            super().__init__()
            self.attention = eval("Attention")(config)

    eval("Attention")(NoisySettings())(torch.rand(3, 3)).sum().backward()


def last_of_a_list_with_unknown_ones():
    """Raises: modified by an inplace operation"""
    w = torch.ones(3, requires_grad=True)
    kept = [*eval("[]"), w.sigmoid()]
    last = kept[-1]
    last.add_(1)  # error: [TLN201]
    last.sum().backward()


def what_is_left_of_a_list_with_unknown_ones():
    w = torch.ones(3, requires_grad=True)
    kept = [w.sigmoid(), *eval("[torch.ones(3)]")]
    for each in kept[1:]:
        each.add_(1)
    kept[0].sum().backward()


def last_of_a_list_that_code_elsewhere_fills():
    w = torch.ones(3, requires_grad=True)
    kept = [*eval("[]"), w.sigmoid()]
    eval("lambda kept: kept.append(torch.ones(3))")(kept)
    last = kept[-1]
    last.add_(1)
    kept[0].sum().backward()
def one_of_two_values_chosen_by_what_is_given():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x, adjacency):
            scores = self.linear(x)
            weights = torch.where(adjacency > 0, scores, torch.full_like(scores, -9e15)).softmax(dim=1)
            weights.exp_()  # error: [TLN201]
            return weights

    Attention()(torch.rand(3, 3), torch.eye(3)).sum().backward()


def one_of_two_values_of_what_is_given():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x, adjacency):
            scores = self.linear(x)
            chosen = torch.where(scores > 0, adjacency, scores)
            chosen.mul_(2)
            return chosen

    Attention()(torch.rand(3, 3), torch.eye(3)).sum().backward()


def one_of_more_dtypes_than_are_told_apart():
    """Raises: modified by an inplace operation"""

    def dtype_of(precision):
        if precision not in ("fp8", "fp16", "bf16", "fp32", "fp64"):
            raise ValueError(precision)
        if precision == "fp16":
            return torch.float16 if torch.cuda.is_available() else torch.float32
        if precision == "bf16":
            return torch.bfloat16
        if precision == "fp32":
            return torch.float32
        if precision == "fp64":
            return torch.float64
        if precision == "fp8":
            return torch.float16 if torch.cuda.is_available() else torch.float32
        raise AssertionError("unreachable")

    class Gate(nn.Module):
        def __init__(self, precision: str):
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self.precision = precision

        def forward(self, x):
            gate = torch.sigmoid(self.linear(x))
            gate.zero_()  # error: [TLN201]
            return gate.to(dtype_of(self.precision))

    Gate("fp32")(torch.rand(3, 3)).sum().backward()


def one_of_more_dtypes_than_are_told_apart_of_which_some_are_integers():
    def dtype_of(code):
        if code == 1:
            return torch.uint8
        if code == 2:
            return torch.int8
        if code == 3:
            return torch.int16
        if code == 4:
            return torch.int32
        if code == 5:
            return torch.int64
        if code == 6:
            return torch.float32
        return torch.float64

    class Gate(nn.Module):
        def __init__(self, code: int):
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self.code = code

        def forward(self, x):
            gate = torch.sigmoid(self.linear(x))
            gate.zero_()  # smell: [TLN204]
            return gate.to(dtype_of(self.code))

    Gate(1)(torch.rand(3, 3))


def a_function_that_refuses_what_does_not_fit_and_returns_one_of_two():
    """Raises: modified by an inplace operation"""

    def padded(a, b, group):
        if a.shape != b.shape:
            raise ValueError("two shapes")
        rest = -a.shape[0] % group
        if rest:
            a = F.pad(a, (0, 0, 0, rest))
        return a

    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            gate = torch.sigmoid(self.linear(x))
            gate.zero_()  # error: [TLN201]
            return padded(gate, x, 2)

    Gate()(torch.rand(3, 3)).sum().backward()


def a_function_that_refuses_what_does_not_fit_where_that_is_caught():
    def checked(a, b):
        if a.shape != b.shape:
            raise ValueError("two shapes")
        return a

    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x, y):
            gate = torch.sigmoid(self.linear(x))
            gate.zero_()  # smell: [TLN204]
            try:
                return checked(gate, y)
            except ValueError:
                return x

    Gate()(torch.rand(3, 3, requires_grad=True), torch.rand(2)).sum().backward()


def a_checkpoint_that_is_not_told_how():
    """Raises: modified by an inplace operation"""
    from torch.utils.checkpoint import checkpoint

    def part(x, scale):
        return x.exp() * scale

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            inner = checkpoint(part, self.linear(x), 0.5)  # warning: [TLN903]
            out = self.linear(x) * inner
            inner.zero_()  # error: [TLN201]
            return out

    Block()(torch.rand(3, 3)).sum().backward()


def what_a_checkpoint_that_is_not_told_how_saves_inside():
    from torch.utils.checkpoint import checkpoint

    def part(x, scale):
        return x.exp() * scale

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            inner = checkpoint(torch.exp, self.linear(x), use_reentrant=True)
            inner.zero_()
            return inner

    Block()(torch.rand(3, 3)).sum().backward()
def layer_that_is_there_under_the_same_setting():
    """Raises: modified by an inplace operation"""

    class Block(nn.Module):
        def __init__(self, width, activate):
            super().__init__()
            self.first = nn.Linear(width, width)
            self.last = nn.Linear(width, width)
            self.activate = activate
            if activate:
                self.activation = nn.ReLU()

        def forward(self, x):
            x = self.first(x)
            if self.activate:
                x = self.activation(x)
                x += 1  # error: [TLN201]
            return self.last(x)

    Block(4, True)(torch.rand(2, 4)).sum().backward()


def layer_that_hasattr_asks_for():
    """Raises: modified by an inplace operation"""

    class Block(nn.Module):
        def __init__(self, width, gate=None):
            super().__init__()
            self.first = nn.Linear(width, width)
            if gate is not None:
                self.gate = nn.Sequential(nn.Linear(width, width), nn.Sigmoid())

        def forward(self, x):
            x = self.first(x)
            if hasattr(self, "gate"):
                g = self.gate(x)
                g.add_(1)  # error: [TLN201]
                x = x * g
            return x

    Block(4, 1)(torch.rand(2, 4)).sum().backward()


def one_of_two_layers_that_are_there_under_two_names():
    """Raises: modified by an inplace operation"""

    class Block(nn.Module):
        def __init__(self, width, activation):
            super().__init__()
            self.first = nn.Linear(width, width)
            if activation == "relu":
                self.activation = nn.ReLU()
            elif activation == "tanh":
                self.activation = nn.Tanh()

        def forward(self, x):
            x = self.activation(self.first(x))
            x += 1  # error: [TLN201]
            return x

    Block(4, "tanh")(torch.rand(2, 4)).sum().backward()


def layer_that_another_method_sets_where_the_constructor_does_not():
    class Block(nn.Module):
        def __init__(self, width, activation):
            super().__init__()
            self.first = nn.Linear(width, width)
            if activation == "relu":
                self.activation = nn.ReLU()

        def use(self, activation):
            self.activation = activation
            return self

        def forward(self, x):
            x = self.activation(self.first(x))
            x += 1
            return x

    Block(4, "none").use(nn.Identity())(torch.rand(2, 4)).sum().backward()


def layer_whose_class_has_another_where_the_constructor_sets_none():
    class Block(nn.Module):
        activation = staticmethod(torch.clone)

        def __init__(self, width, activation):
            super().__init__()
            self.first = nn.Linear(width, width)
            if activation == "relu":
                self.activation = nn.ReLU()

        def forward(self, x):
            x = self.activation(self.first(x))
            x += 1
            return x

    Block(4, "none")(torch.rand(2, 4)).sum().backward()


def lists_of_layers_that_a_loop_appends():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.scale = width**-0.5
            self.out = nn.Sequential(nn.Linear(width, width), nn.Sigmoid())

        def forward(self, x):
            return self.out(x * self.scale)

    class Tower(nn.Module):
        def __init__(self, depth, width):
            super().__init__()
            self.layers = nn.ModuleList([])
            for _ in range(depth):
                self.layers.append(nn.ModuleList([Attention(width), nn.Linear(width, width)]))

        def forward(self, x):
            for attention, linear in self.layers:
                y = attention(x)
                y += 1  # error: [TLN201]
                x = linear(y) + x
            return x

    Tower(2, 4)(torch.rand(3, 4)).sum().backward()


def layers_of_which_a_loop_appends_others_each_time():
    class Block(nn.Module):
        def __init__(self, width, activated):
            super().__init__()
            self.linear = nn.Linear(width, width)
            self.activation = nn.ReLU() if activated else nn.Identity()

        def forward(self, x):
            return self.activation(self.linear(x))

    class Tower(nn.Module):
        def __init__(self, depth, width):
            super().__init__()
            self.layers = nn.ModuleList([])
            for i in range(depth):
                self.layers.append(nn.ModuleList([Block(width, i > 5), nn.Linear(width, width)]))

        def forward(self, x):
            for block, linear in self.layers:
                y = block(x)
                y += 1
                x = linear(y) + x
            return x

    Tower(2, 4)(torch.rand(3, 4)).sum().backward()


def weights_cast_to_the_dtype_of_what_they_were_computed_from():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
            scores = q @ k.transpose(-1, -2)
            weights = scores.softmax(-1)
            weights = weights.to(scores.dtype)
            weights += 1  # warning: [TLN201]
            return weights @ v

    Attention()(*(eval("torch.rand(2, 3, 4, requires_grad=True)") for _ in range(3))).sum().backward()


def weights_cast_to_another_dtype():
    class Attention(nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
            weights = (q @ k.transpose(-1, -2)).softmax(-1)
            weights = weights.to(torch.float64)
            weights += 1
            return weights @ v.double()

    Attention()(*(eval("torch.rand(2, 3, 4, requires_grad=True)") for _ in range(3))).sum().backward()


def what_operators_make_of_inputs():
    """Raises: modified by an inplace operation"""

    class Distance(nn.Module):
        def forward(self, x, y):
            squares = (x - y).pow(2)
            distance = squares.sum(-1).sqrt()
            distance += 1  # warning: [TLN201]
            return distance

    Distance()(*eval("torch.rand(2, 3, 4, requires_grad=True)")).sum().backward()


def column_of_an_input():
    """Raises: modified by an inplace operation"""

    class Rate(nn.Module):
        def forward(self, x):
            rate = x[:, 0].exp()
            rate *= 2  # warning: [TLN201]
            return rate

    Rate()(eval("torch.rand(2, 3, requires_grad=True)")).sum().backward()


def what_operators_make_of_inputs_without_recording():
    class Rate(nn.Module):
        def forward(self, x, y):
            with torch.no_grad():
                scaled = x * 0.5 + y
            rate = torch.exp(scaled)
            rate += 1
            more = scaled.exp()
            more += 1
            return rate * more

    Rate()(torch.rand(3), torch.rand(3))


def comparison_of_inputs():
    class Masked(nn.Module):
        def forward(self, x, y):
            over = (x > y) * 1.0
            weight = torch.exp(over)
            weight += 1
            return weight

    Masked()(*eval("torch.rand(2, 3, requires_grad=True)")).sum()


def attention_of_a_query_that_is_put_together():
    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.head_dim = heads, dim // heads
            self.q = nn.Linear(dim, dim)

        def forward(self, x, cos):
            b, t, _ = x.shape
            q = self.q(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
            q = torch.cat((q * cos, q), dim=-1)
            out = F.scaled_dot_product_attention(q, q, q)
            out = out.transpose(1, 2).contiguous().reshape(b, t, -1)
            out.zero_()
            return out

    Attention(8, 2)(torch.rand(2, 3, 8), torch.rand(3, 4)).sum().backward()


def parts_of_what_a_loop_appends_to_what_is_returned():
    """Raises: modified by an inplace operation"""

    class Heads(nn.Module):
        def __init__(self, count):
            super().__init__()
            self.count = count
            self.inner, self.outer = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            h = torch.tanh(self.inner(x))
            h.add_(1)  # warning: [TLN201]
            weights = self.outer(h)
            layers = []
            for i in range(self.count):
                layers.append({"weight": weights[i], "inner": h[i]})
            return layers

    eval("Heads")(2)(torch.rand(2, 3))[0]["weight"].sum().backward()
def overwritten_where_a_count_is_negative():
    given = eval("torch.ones(())")
    w = torch.rand(3, requires_grad=True)
    values = first = w.clamp(min=0)
    if given.dim() >= 0:
        first = torch.rand(3, requires_grad=True)
    out = abs(first)
    values += 1
    out.sum().backward()


def pairs_of_layers_in_a_list_of_unknown_length():
    """Raises: modified by an inplace operation"""

    class Mixer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = nn.Linear(width, width)

        def forward(self, x, mask=None):
            return self.linear(x), None

    class Net(nn.Module):
        def __init__(self, width, depth):
            super().__init__()
            self.layers = nn.ModuleList([])
            for _ in range(depth):
                self.layers.append(nn.ModuleList([Mixer(width), nn.Linear(width, width)]))

        def forward(self, x, mask=None):
            for mix, linear in self.layers:
                y, _ = mix(x, mask=mask)
                gate = torch.sigmoid(y)
                gate.zero_()  # error: [TLN201]
                x = x + linear(x) * gate
            return x

    Net(3, 2)(torch.rand(3, 3)).sum().backward()


def blocks_of_a_list_that_keep_what_they_gave():
    class Mixer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = nn.Linear(width, width)
            self.seen = None

        def forward(self, x):
            y = self.linear(x).sigmoid()
            if self.seen is not None:
                self.seen.zero_()
            self.seen = y
            return y

    class Net(nn.Module):
        def __init__(self, width, depth):
            super().__init__()
            self.layers = nn.ModuleList([])
            for _ in range(depth):
                self.layers.append(Mixer(width))

        def forward(self, x):
            for layer in self.layers:
                x = x + layer(x)
            return x

    Net(3, 2)(torch.rand(3, 3)).sum().backward()


def the_root_of_squares_of_what_is_given():
    """Raises: modified by an inplace operation"""

    class Norm(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
            scale.mul_(2)  # error: [TLN201]
            return x * scale * self.weight

    Norm(3)(torch.rand(3, 3, requires_grad=True)).sum().backward()


def a_flow_that_is_given_and_inverted():
    class Flow(nn.Module):
        def inverse(self, x):
            return x.detach().exp()

    class Decoder(nn.Module):
        def forward(self, z, flow):
            y = flow.inverse(z)
            y.mul_(2)
            return y

    Decoder()(torch.rand(3, requires_grad=True), Flow())


def sum_of_inputs_that_a_layer_was_given():
    """Raises: modified by an inplace operation"""

    class Joined(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x, y):
            both = x + y
            out = self.linear(both)
            both += 1  # error: [TLN201]
            return out * both

    eval("Joined")()(torch.rand(2, 3), torch.rand(2, 3)).sum().backward()


def dropout_of_what_a_product_saves():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, width, rate=0.1):
            super().__init__()
            self.first, self.drop, self.second = nn.Linear(width, width), nn.Dropout(rate), nn.Linear(width, width)

        def forward(self, x):
            x = self.drop(self.first(x))
            y = self.second(x)
            x.mul_(2)  # error: [TLN201]
            return y

    Net(3)(torch.rand(2, 3, 3)).sum().backward()


def halves_exchanged_and_multiplied():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.q, self.k = nn.Linear(width, width), nn.Linear(width, width)

        def forward(self, x):
            q = self.q(x)
            a, b = q.chunk(2, dim=-1)
            q = torch.cat((-b, a), dim=-1)
            y = q @ self.k(x).transpose(-1, -2)
            q.mul_(2)  # error: [TLN201]
            return y

    Net(4)(torch.rand(2, 3, 4)).sum().backward()


def masked_whatever_the_mask_lies_like():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.q = nn.Linear(width, width)

        def forward(self, x, mask):
            q = self.q(x).masked_fill(mask == 0, 0)
            y = q @ x.transpose(-1, -2)
            q.mul_(2)  # error: [TLN201]
            return y

    Net(4)(torch.rand(2, 3, 4, requires_grad=True), torch.ones(2, 4, 3).transpose(1, 2)).sum().backward()


def copied_for_a_product_in_another_memory_format():
    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.conv, self.last = nn.Conv2d(width, width, 1), nn.Linear(5, 5)

        def forward(self, x):
            q = self.conv(x).contiguous(memory_format=torch.channels_last)
            y = self.last(q)
            q.mul_(2)
            return y

    Net(3)(torch.rand(2, 3, 4, 5)).sum().backward()


def token_put_before_an_input():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.token = nn.Parameter(torch.zeros(1, 1, width))
            self.last = nn.Linear(width, width)

        def forward(self, x):
            x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1)
            y = self.last(x)
            x.mul_(2)  # error: [TLN201]
            return y

    Net(3)(torch.rand(2, 3, 3)).sum().backward()


def loss_of_an_object_that_is_returned():
    """Raises: modified by an inplace operation"""
    from dataclasses import dataclass

    @dataclass
    class Output:
        rate: torch.Tensor
        loss: torch.Tensor = None

    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 1)

        def forward(self, x, target):
            rate = torch.exp(self.linear(x))
            loss = (rate - target).abs().mean()
            rate += 1  # error: [TLN201]
            return Output(rate, loss)

    Regression()(torch.rand(3, 4), torch.rand(3, 1)).loss.backward()


def loss_of_an_object_that_no_write_reaches():
    from dataclasses import dataclass

    @dataclass
    class Output:
        rate: torch.Tensor
        loss: torch.Tensor = None

    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 1)

        def forward(self, x, target):
            rate = self.linear(x)
            loss = (rate - target).abs().mean()
            rate += 1
            return Output(rate, loss)

    Regression()(torch.rand(3, 4), torch.rand(3, 1)).loss.backward()


def loss_where_there_is_a_target():
    """Raises: modified by an inplace operation"""

    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 1)

        def forward(self, x, target=None):
            rate = torch.exp(self.linear(x))
            loss = None
            if target is not None:
                loss = (rate - target).abs().mean()
            rate += 1  # error: [TLN201]
            return {"loss": loss, "rate": rate}

    Regression()(torch.rand(3, 4), torch.rand(3, 1))["loss"].backward()


def item_of_a_named_tuple():
    """Raises: modified by an inplace operation"""
    from typing import NamedTuple

    class Moments(NamedTuple):
        mean: torch.Tensor
        std: torch.Tensor
        count: int = 1

    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            h = self.linear(x)
            moments = Moments(h, torch.exp(h))
            mean, std, _ = moments
            std += 1  # error: [TLN201]
            return mean * moments[1]

    Gaussian()(torch.rand(3, 4)).sum().backward()


def named_tuple_with_another_item():
    from typing import NamedTuple

    class Moments(NamedTuple):
        mean: torch.Tensor
        std: torch.Tensor

    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            h = self.linear(x)
            moments = Moments(h, torch.exp(h))
            moments = moments._replace(std=moments.std + 1)
            moments.std.add_(1)
            return moments.mean + moments.std

    Gaussian()(torch.rand(3, 4)).sum().backward()


def named_tuple_that_a_call_defines():
    """Raises: modified by an inplace operation"""
    from collections import namedtuple

    Moments = namedtuple("Moments", ["mean", "std"])

    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            h = self.linear(x)
            moments = Moments(h, std=torch.exp(h))
            std = moments.std
            std.add_(1)  # error: [TLN201]
            return moments.mean * moments.std

    Gaussian()(torch.rand(3, 4)).sum().backward()


def named_tuple_that_copies_what_it_is_given():
    from collections import namedtuple

    class Moments(namedtuple("Moments", "mean std")):
        def __new__(cls, mean, std):
            return super().__new__(cls, mean, std.clone())

    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            h = self.linear(x)
            moments = Moments(h, torch.exp(h))
            moments.std.add_(1)
            return moments.mean + moments.std

    Gaussian()(torch.rand(3, 4)).sum().backward()


def argument_whose_default_is_a_number():
    class Step(nn.Module):
        def forward(self, x, eta=0.5):
            sigma = eta * torch.linspace(0.1, 0.5, 3)
            scale = sigma.sqrt()
            scale *= 2
            return x * scale

    Step()(torch.rand(3, requires_grad=True)).sum().backward()


def scale_of_a_sampled_normal():
    """Raises: modified by an inplace operation"""

    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 2)

        def forward(self, x):
            h = self.head(x)
            std = torch.exp(h)
            std += 1  # error: [TLN201]
            return torch.distributions.Normal(h, std).rsample()

    Actor()(torch.rand(4, 3)).sum().backward()


def likelihood_saves_the_scale():
    """Raises: modified by an inplace operation"""
    from torch.distributions import Independent, Normal

    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 2)

        def forward(self, x, action):
            h = self.head(x)
            std = F.softplus(h)
            logp = Independent(Normal(h, std), 1).log_prob(action)
            std.zero_()  # error: [TLN201]
            return logp

    Actor()(torch.rand(4, 3), torch.rand(4, 2)).sum().backward()


def ratio_of_likelihoods():
    """Raises: modified by an inplace operation"""
    from torch.distributions import Categorical

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 2)

        def forward(self, x, action, old):
            logp = Categorical(logits=self.head(x)).log_prob(action)
            ratio = torch.exp(logp - old)
            ratio.clamp_(0.8, 1.2)  # error: [TLN201]
            return ratio

    Policy()(torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), torch.rand(4)).sum().backward()


def sample_saves_no_scale():
    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean, self.scale = nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x):
            mean, std = self.mean(x), self.scale(x).abs()
            dist = torch.distributions.Laplace(mean, std)
            action = dist.rsample()
            std += 1
            action *= 2
            mean += 1
            logp = dist.log_prob(torch.zeros(4, 2))
            logp += 1
            return action + logp

    Actor()(torch.rand(4, 3)).sum().backward()


def distribution_made_without_grad():
    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 2)
            self.base = nn.Parameter(torch.zeros(2))

        def forward(self, x):
            std = torch.exp(self.base)
            std += 1
            with torch.no_grad():
                dist = torch.distributions.Normal(self.head(x), std)
            return dist.rsample() + self.base

    Actor()(torch.rand(4, 3)).sum().backward()


def split_after_a_range_and_put_together_again():
    """Raises: modified by an inplace operation"""

    class Gates(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.Linear(6, 12)

        def forward(self, x):
            b, n, _ = x.shape
            gates = self.parts(x)[..., :6].view(b, n, 2, 3).sigmoid()
            flat = gates.reshape(b, n, 6)
            flat += 1  # error: [TLN201]
            return flat

    Gates()(torch.rand(2, 4, 6)).sum().backward()


def fused_attention_of_either_query():
    """Raises: modified by an inplace operation"""

    class Attention(nn.Module):
        def __init__(self, dim, waves):
            super().__init__()
            self.qkv, self.waves = nn.Linear(dim, 3 * dim), waves

        def forward(self, x):
            b, n, d = x.shape
            q, k, v = (part.view(b, n, 2, d // 2).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
            if self.waves:
                q = q.sin()
            else:
                q = q.cos()
            out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
            out += 1  # warning: [TLN201]
            return out

    Attention(6, torch.rand(1) > 2)(torch.rand(2, 4, 6)).sum().backward()


def what_dropout_hands_on_where_it_drops_nothing():
    class Node(nn.Module):
        def __init__(self, dim, rate, residual):
            super().__init__()
            self.conv, self.rate, self.residual = nn.Linear(dim, dim), rate, residual

        def forward(self, x):
            h = F.dropout(F.relu(self.conv(x)), self.rate, training=self.training)
            if self.residual:
                h += x  # strict: [TLN204]
            return h

    Node(3, 0.5, True)(torch.rand(2, 3)).sum().backward()


def fused_attention_of_a_query_that_nobody_knows():
    rotate = eval("torch.Tensor.contiguous")

    class Attention(nn.Module):
        def __init__(self, dim, waves):
            super().__init__()
            self.qkv, self.waves = nn.Linear(dim, 3 * dim), waves

        def forward(self, x):
            b, n, d = x.shape
            q, k, v = (part.view(b, n, 2, d // 2).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
            if self.waves:
                q = rotate(q)
            out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
            out += 1  # strict: [TLN204]
            return out

    Attention(6, True)(torch.rand(2, 4, 6)).sum().backward()


def einsum_with_an_ellipsis_and_rows_that_nobody_knows():
    """Raises: modified by an inplace operation"""
    rows = eval("torch.rand(2, 4)")
    keys = torch.rand(2, 3, requires_grad=True)
    scores = torch.einsum("...i,...j->...ij", keys, rows)
    weights = keys.exp()
    weights += 1  # warning: [TLN201]
    (scores.sum() + weights.sum()).backward()


def layer_that_is_called_under_hooks_of_saved_tensors():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(3, 3)

        def forward(self, x):
            y = self.lin(x).exp()
            y.mul_(2)
            return y

    net = Net()
    with torch.autograd.graph.save_on_cpu():
        z = net(torch.rand(2, 3))
    z.sum().backward()


def method_that_is_called_under_hooks_of_saved_tensors():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(3, 3)

        def embed(self, x):
            y = self.lin(x).exp()
            y.mul_(2)
            return y

        def forward(self, x):
            with torch.autograd.graph.save_on_cpu():
                return self.embed(x)

    Net()(torch.rand(2, 3)).sum().backward()


def layer_beside_a_block_of_hooks_that_calls_none():
    """Raises: modified by an inplace operation"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(3, 3)

        def forward(self, x):
            with torch.autograd.graph.save_on_cpu():
                x = x.exp()
            y = self.lin(x).exp()
            y.mul_(2)  # error: [TLN201]
            return y

    Net()(torch.rand(2, 3)).sum().backward()
