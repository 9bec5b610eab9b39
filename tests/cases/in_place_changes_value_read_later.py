# ruff: noqa
"""Programs for TLN216."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


def block_that_begins_with_relu():
    """Holds: (out == conv_of_relu + x.relu()).all()"""

    class Block(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.body = nn.Sequential(
                nn.ReLU(inplace=True),
                nn.Conv2d(channels, channels, 3, padding=1),
                nn.ReLU(inplace=True),
                nn.Conv2d(channels, channels, 1),
            )

        def forward(self, input):
            out = self.body(input)  # warning: [TLN216]
            out += input
            return out

    block = Block(2)
    x = torch.randn(1, 2, 4, 4)
    conv_of_relu = copy.deepcopy(block.body)(x.clone())
    out = block(x.clone())


def residual_unit_of_a_decoder():
    """Holds: (x >= 0).all()"""

    class ResidualConvUnit(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.conv1 = nn.Conv2d(features, features, 3, padding=1)
            self.conv2 = nn.Conv2d(features, features, 3, padding=1)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            out = self.relu(x)  # warning: [TLN216]
            out = self.conv1(out)
            out = self.relu(out)
            out = self.conv2(out)
            return out + x

    x = torch.randn(1, 2, 4, 4)
    ResidualConvUnit(2)(x)


def identity_kept_by_name():
    """Holds: (x >= 0).all()"""

    class Block(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.norm = nn.BatchNorm1d(features)
            self.relu = nn.ReLU(inplace=True)
            self.fc = nn.Linear(features, features)

        def forward(self, x):
            identity = x
            x = self.relu(x)  # warning: [TLN216]
            x = self.norm(self.fc(x))
            return x + identity

    x = torch.randn(4, 3)
    Block(3)(x)


def shortcut_without_layers():
    """Holds: (x >= 0).all()"""

    class Block(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.shortcut = nn.Sequential()
            self.fc = nn.Linear(features, features)

        def forward(self, x):
            skip = self.shortcut(x)
            out = self.fc(F.relu(x, inplace=True))  # warning: [TLN216]
            return out + skip

    x = torch.randn(4, 3)
    Block(3)(x)


def function_with_an_underscore():
    """Holds: hidden.min() >= 0"""
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    hidden = first(torch.randn(8, 4))
    active = F.relu_(hidden)  # warning: [TLN216]
    out = second(active) + hidden


def two_branches():
    """Holds: (x >= 0).all()"""

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.left = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4))
            self.right = nn.Linear(4, 4)

        def forward(self, x):
            left = self.left(x)  # warning: [TLN216]
            right = self.right(x)
            return left + right

    x = torch.randn(2, 4)
    Two()(x)


def dense_block():
    """Holds: (x > -1).all()"""
    layer = nn.Sequential(nn.ELU(inplace=True), nn.Linear(4, 2))
    x = -2 * torch.rand(2, 4)
    new = layer(x)  # warning: [TLN216]
    x = torch.cat([x, new], 1)


def reconstruction_of_what_was_dropped():
    """Holds: (x == 0).any()"""
    torch.manual_seed(0)
    drop, model = nn.Dropout(0.5, inplace=True), nn.Linear(8, 8)
    x = torch.rand(4, 8) + 1
    noisy = drop(x)  # warning: [TLN216]
    loss = F.mse_loss(model(noisy), x)


def scores_before_the_activation_too():
    """Holds: logits.min() >= 0"""

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 6)
            self.act = nn.ReLU(inplace=True)

        def forward(self, x):
            logits = self.fc(x)
            return self.act(logits), logits  # warning: [TLN216]

    probabilities, logits = Head()(torch.randn(5, 6))


def features_of_several_layers():
    """Holds: features[0].min() >= 0"""

    class Features(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(
                nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 8), nn.ReLU(inplace=True)
            )

        def forward(self, x):
            found = []
            for number, layer in enumerate(self.layers):
                x = layer(x)  # warning: [TLN216]
                if number in (0, 2):
                    found.append(x)
            return found

    features = Features()(torch.randn(3, 4))


def feature_in_a_dictionary():
    """Holds: kept["before"].min() >= 0"""
    fc, act = nn.Linear(4, 4), nn.ReLU(inplace=True)
    kept = {}
    x = fc(torch.randn(9, 4))
    kept["before"] = x
    x = act(x)  # warning: [TLN216]
    print(kept["before"].mean(), x.mean())


def states_of_a_recurrence():
    """Holds: all(state is states[0] for state in states)"""
    cell = nn.Linear(3, 3)
    with torch.no_grad():
        h, states = torch.zeros(3), []
        for x in torch.rand(5, 3):
            h += cell(x)
            states.append(h)  # warning: [TLN216]
        unrolled = torch.stack(states)


def path_of_a_particle():
    """Holds: (path[0] == path[-1]).all()"""
    position, velocity = torch.zeros(2), torch.ones(2)
    steps = [position]
    for _ in range(10):
        position += 0.1 * velocity
        steps.append(position)  # warning: [TLN216]
    path = torch.stack(steps)


def weights_after_each_epoch():
    """Holds: (weights[0] == weights[-1]).all()"""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weights = []
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.ones(3, 2)).pow(2).mean().backward()
        optimizer.step()
        weights.append(model.weight)  # warning: [TLN216]
    moved = weights[-1] - weights[0]


def frames_in_one_buffer():
    """Holds: (video == 1).all()"""
    buffer, frames = torch.zeros(4), []
    for i in range(4):
        buffer[i] = 1.0
        frames.append(buffer)  # warning: [TLN216]
    video = torch.stack(frames)


def until_nothing_moves():
    """Holds: moved == 0"""
    w = torch.ones(3)
    for _ in range(3):
        before = w
        w -= 0.1  # warning: [TLN216]
        moved = (w - before).abs().max()


# -- correct


def out_of_place_at_the_head():
    class Block(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.body = nn.Sequential(
                nn.ReLU(), nn.Linear(features, features), nn.ReLU(inplace=True), nn.Linear(features, features)
            )

        def forward(self, x):
            return x + self.body(x)

    Block(3)(torch.randn(2, 3))


def shortcut_of_the_activated():
    """A pre-activation block whose shortcut starts at what the activation gives."""

    class PreActivation(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.norm = nn.BatchNorm1d(features)
            self.relu = nn.ReLU(inplace=True)
            self.fc = nn.Linear(features, features)
            self.shortcut = nn.Linear(features, features)

        def forward(self, x):
            out = self.relu(self.norm(x))
            shortcut = self.shortcut(out)
            out = self.fc(out)
            return out + shortcut

    PreActivation(3)(torch.randn(4, 3))


def shortcut_computed_first():
    class Block(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.relu = nn.ReLU(inplace=True)
            self.fc = nn.Linear(features, features)

        def forward(self, x):
            skip = 0.5 + x
            out = self.relu(x)
            return self.fc(out) + skip

    Block(3)(torch.randn(4, 3))


def name_bound_to_the_result():
    act, fc = nn.ReLU(inplace=True), nn.Linear(4, 4)
    x = torch.randn(3, 4)
    x = act(x)
    x = F.relu(x, inplace=True)
    x = x.clamp_(max=2)
    out = fc(x) + x


def usual_residual_block():
    class Basic(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
            self.bn1 = nn.BatchNorm2d(channels)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
            self.bn2 = nn.BatchNorm2d(channels)

        def forward(self, x):
            identity = x
            out = self.conv1(x)
            out = self.relu(self.bn1(out))
            out = self.bn2(self.conv2(out))
            out += identity
            return self.relu(out)

    Basic(2)(torch.randn(2, 2, 4, 4))


def two_branches_with_the_same_head():
    """The second `relu` gives the same numbers."""
    left = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4))
    right = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4))
    with torch.no_grad():
        x = torch.randn(2, 4)
        out = left(x) + right(x)


def listed_in_another_arm():
    """An empty level is listed as it is, a filled one once it is filled."""
    rows = []
    for count in (0, 2, 3):
        row = torch.zeros(4)
        if len(torch.arange(count)) == 0:
            rows.append(row)
            continue
        for i in torch.arange(count):
            row[i] = 1.0
        rows.append(row)
    table = torch.stack(rows)


def relu_of_what_is_not_negative():
    block = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4))
    x = F.max_pool1d(torch.sigmoid(torch.randn(2, 8)), 2)
    out = block(x) + x
    y = torch.relu(torch.randn(2, 4))
    out = block(y) + y


def only_the_shape_is_asked():
    act, fc = nn.ReLU(inplace=True), nn.Linear(4, 4)
    x = torch.randn(3, 4)
    y = act(x)
    out = fc(y).view(x.shape) + torch.zeros_like(x)
    print(x.size(0), x.dtype, x is y)


def statement_for_its_effect():
    act = nn.ReLU(inplace=True)
    x = torch.randn(3, 4)
    act(x)
    F.relu_(x)
    x.mul_(2).add_(1)
    x += 1
    print(x.sum())


def nobody_reads_the_old_name():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU(inplace=True)
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            out = self.act(x)
            return self.fc(out) + out

    Net()(torch.randn(2, 4))


def copied_first():
    h, states = torch.zeros(3), []
    w = torch.ones(3)
    for x in torch.rand(5, 3):
        before = w.clone()
        w -= 0.1
        h += x
        states.append(h.clone())
        print((w - before).abs().max())
    unrolled = torch.stack(states)


def new_tensor_each_time():
    h, states = torch.zeros(3), []
    for x in torch.rand(5, 3):
        h = h + x
        states.append(h)
    unrolled = torch.stack(states)


def buffers_filled_after_they_are_listed():
    rows = []
    for i in range(3):
        row = torch.zeros(2)
        rows.append(row)
        row += i
        row[0] = 1.0
    table = torch.stack(rows)


def only_the_last_is_looked_at():
    total, seen = torch.zeros(2), []
    for x in torch.rand(4, 2):
        total += x
        seen.append(total)
    print(seen[-1], len(seen))


def list_begun_anew():
    buffer = torch.zeros(2)
    batch = []
    for i in range(6):
        buffer.fill_(i)
        batch.append(buffer)
        print(torch.stack(batch).sum())
        batch.clear()


def second_name_to_write_through():
    weight = torch.ones(3, requires_grad=True)
    data = weight.detach()
    data.mul_(0.5)
    out = torch.zeros(3)
    target = out
    target += 1
    print(out)


def optimizer_written_by_hand():
    p, grad = torch.ones(3), torch.rand(3)
    average, square = torch.zeros(3), torch.zeros(3)
    with torch.no_grad():
        for _ in range(3):
            average.mul_(0.9).add_(grad, alpha=0.1)
            square.mul_(0.99).addcmul_(grad, grad, value=0.01)
            p.addcdiv_(average, square.sqrt().add_(1e-8), value=-0.1)
    print(p, average, square)


def one_arm_alone_works_in_place():
    def forward(x, frozen):
        if frozen:
            out = F.relu(x)
        else:
            out = F.relu(x, inplace=True)
            return out.sum()
        return out + x

    print(forward(torch.randn(3), True), forward(torch.randn(3), False))


def written_through_what_out_gives():
    scale, y = torch.ones(2), torch.empty(2)
    torch.pow(scale, -2, out=y).mul_(3)
    print(y.sum() + scale.sum())
def dictionary_that_keeps_it_is_compared():
    """Holds: moved == 0"""
    x = torch.zeros(3)
    stats = {}
    stats["start"] = x
    x += 1  # warning: [TLN216]
    moved = (x - stats["start"]).abs().sum()


def dictionary_written_out_that_keeps_it_is_compared():
    """Holds: same"""
    weight = torch.zeros(3)
    before = {"weight": weight}
    for _ in range(3):
        weight.add_(1)  # warning: [TLN216]
    same = torch.equal(weight, before["weight"])


def dictionary_that_keeps_a_copy_or_is_given_the_new_value():
    x = torch.zeros(3)
    stats = {"start": x.clone(), "last": x}
    x += 1
    print((x - stats["start"]).abs().sum())
    stats["last"] = x + 1
    x.mul_(2)
    print(x - stats["last"], stats)


def dictionary_of_what_is_written():
    state = {"average": torch.zeros(3), "count": 0}
    average = state["average"]
    for grad in torch.rand(4, 3):
        average.mul_(0.9).add_(grad)
        state["count"] += 1
    print(average + 1, state["average"])


def columns_that_a_number_keeps_apart():
    def affine(x: torch.Tensor, h: torch.Tensor):
        shift = h[:, :, 0].clamp_(-5.0, 5.0)
        scale = torch.exp(h[:, :, 1].clamp_(-5.0, 2.0))
        return x * scale + shift

    h = torch.full((1, 2, 2), 9.0)
    assert affine(torch.zeros(1, 2), h)[0, 0] == 5


def the_same_column_twice():
    """Holds: out[0] != 9 + torch.exp(torch.tensor(2.0))"""

    def affine(h: torch.Tensor):
        shift = h[:, 0]
        scale = torch.exp(h[:, 0].clamp_(-5.0, 2.0))  # warning: [TLN216]
        return scale + shift

    out = affine(torch.full((2, 2), 9.0))


def writes_after_one_another_for_what_they_do():
    def divergence(p: torch.Tensor, q: torch.Tensor):
        ratio = p / q
        ratio.clamp_(0, 5).log_()
        return -ratio, ratio.sub_(1)

    assert divergence(torch.ones(2), torch.ones(2))[1].sum() == -2


def distances_added_up_in_two_matrices():
    """The second name is that of the argument `out`, which is overwritten as a whole."""
    x, y = torch.rand(3, 2), torch.rand(4, 2)
    total = torch.zeros(3, 4)
    part = torch.empty_like(total)
    for k in range(2):
        term = torch.sub(x[:, k, None], y[:, k], out=part)
        total += term.abs_()
    assert torch.allclose(total, torch.cdist(x, y, p=1))


def second_name_of_the_argument_out_read():
    """Holds: (kept >= 0).all()"""
    x = torch.tensor([-1.0, 2.0])
    part = torch.empty(2)
    for _ in range(2):
        term = torch.neg(x, out=part)
        term.abs_()  # warning: [TLN216]
        kept = part + 0


def one_key_of_a_dictionary_is_given_the_tensor_again():
    def run(names, given, steps):
        counted = names[0]
        found = dict(zip(names[1:], given))
        found.update(zip(names, given))
        i = torch.tensor(0)
        seen = []
        while i < steps:
            found[counted] = i
            seen.append([float(found[each]) for each in names])
            i += 1
        return seen

    assert [each[0] for each in run(["i", "x"], [torch.zeros(1), torch.ones(1)], 3)] == [0, 1, 2]


def another_key_each_time():
    """Holds: found[0] is found[2]"""

    def run(given, steps):
        found = dict(given)
        i = torch.tensor(0)
        for step in range(steps):
            found[step] = i  # warning: [TLN216]
            i += 1
        print(list(found.values()))
        return found

    found = run({}, 3)


def one_half_is_activated_in_place():
    x = torch.rand(4, 6)

    def gate(x, dim):
        a, b = x.chunk(2, dim=dim)
        return a.tanh_() * b.sigmoid_()

    before = x.clone()
    gated = gate(x.clone(), -1)
    assert torch.allclose(gated, before[:, :3].tanh() * before[:, 3:].sigmoid())


def one_half_is_activated_in_place_and_read_again():
    """Holds: torch.equal(out, 2 * half)"""

    def gate(x, dim):
        a, b = x.chunk(2, dim=dim)
        half = a
        return a.tanh_() + half, half  # warning: [TLN216]

    out, half = gate(torch.rand(4, 6), -1)


def function_that_takes_no_such_flag():
    def swish(x):
        return x * F.sigmoid(x, inplace=True)

    try:
        swish(torch.rand(3))
    except TypeError as error:
        print(error)


def function_that_takes_it():
    """Holds: torch.equal(squared, torch.tensor([0.0, 4.0]))"""

    def gate(x):
        return x * F.relu(x, inplace=True)  # warning: [TLN216]

    squared = gate(torch.tensor([-1.0, 2.0]))
