# ruff: noqa
"""Programs for TLN209."""

import torch
from torch import nn


def gates_of_a_cell():
    """Raises: This view is the output of a function that returns multiple views"""

    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 8)

        def forward(self, x):
            i, f, g, o = self.linear(x).chunk(4, dim=1)
            f += 1.0  # error: [TLN209]
            return torch.sigmoid(i) * torch.tanh(g) + torch.sigmoid(f) * torch.sigmoid(o)

    Cell()(torch.rand(2, 3))


def rows_centred():
    """Raises: This view is the output of a function that returns multiple views"""
    embeddings = nn.Linear(2, 4)(torch.rand(3, 2))
    for row in embeddings:
        row.sub_(row.mean())  # error: [TLN209]


def query_scaled():
    """Raises: This view is the output of a function that returns multiple views"""
    qkv = nn.Linear(4, 12)(torch.rand(2, 5, 4))
    q, k, v = qkv.split(4, dim=-1)
    q *= 0.5  # error: [TLN209]
    scores = q @ k.transpose(1, 2)


def mean_and_variance():
    """Raises: This view is the output of a function that returns multiple views"""
    stats = nn.Linear(2, 2)(torch.rand(3, 2))
    mean, log_var = torch.unbind(stats, dim=1)
    log_var.clamp_(-10, 10)  # error: [TLN209]
    z = mean + torch.exp(0.5 * log_var)


def view_made_without_recording():
    """Raises: A view was created in no_grad mode and is being modified inplace"""
    h = nn.Linear(2, 4)(torch.rand(3, 2))
    with torch.no_grad():
        first = h.view(-1)
    first += 1  # error: [TLN209]


def column_of_a_part():
    """Raises: This view is the output of a function that returns multiple views"""
    boxes, scores = nn.Linear(2, 5)(torch.rand(3, 2)).split([4, 1], dim=1)
    boxes[:, 2] = 0.0  # error: [TLN209]


def out_of_place():
    i, f = nn.Linear(3, 4)(torch.rand(2, 3)).chunk(2, dim=1)
    f = f + 1.0
    out = i.sigmoid() * f


def parts_of_data():
    x, y = torch.rand(4, 6).split(3, dim=1)
    x -= x.mean()
    for row in torch.rand(3, 2):
        row.div_(row.sum())


def plain_slices():
    h = nn.Linear(3, 4)(torch.rand(2, 3))
    first, second = h[:, :2], h[:, 2:]
    first.add_(1)
    a, b = nn.Linear(3, 4)(torch.rand(2, 3)).tensor_split(2, dim=1)
    a.add_(1)


def written_without_recording():
    net = nn.Linear(2, 4)
    with torch.no_grad():
        first, second = net.weight.chunk(2)
        first.zero_()
        for row in net.weight:
            row /= row.norm() + 1


def detached_parts():
    h = nn.Linear(3, 4)(torch.rand(2, 3))
    first, second = h.detach().clone().chunk(2, dim=1)
    first += 1


def base_written_and_the_parts_used():
    """Raises: is a view and its base or another view of its base has been modified inplace"""
    w = torch.rand(4, requires_grad=True)
    h = w * 2
    a, b = h.chunk(2)
    h.mul_(3)
    total = (a * 2).sum()  # error: [TLN209]


def base_written_under_no_grad():
    """Raises: is a view and its base or another view of its base has been modified inplace"""
    w = torch.rand(4, requires_grad=True)
    h = w * 2
    a, b = h.split(2)
    with torch.no_grad():
        h.mul_(3)
    (a * 2).sum().backward()  # error: [TLN209]


def parts_used_before_the_base_is_written():
    w = torch.rand(4, requires_grad=True)
    h = w * 2
    a, b = h.split(2)
    a = a * 2
    h.mul_(3)
    (a * 2).sum().backward()
    print(b.shape)


def slices_of_a_base_that_is_written():
    w = torch.rand(4, requires_grad=True)
    h = w * 2
    a, b = h[:2], h[2:]
    h.mul_(3)
    (a * b).sum().backward()


def written_in_a_loop_that_may_not_run():
    w = torch.eye(4, requires_grad=True)
    rows = w.unbind()
    for _ in range(eval("0")):
        with torch.no_grad():
            w -= 0.1
    rows[0].sum()


def of_another_tensor_where_both_hold():
    z = torch.rand(4, 4).requires_grad_()
    first, second = eval("True"), eval("True")
    if first:
        if second:
            z = eval("torch.rand(2, 3)")
    z.split(1)[0].add_(1)


def of_one_tensor_or_the_other():
    """Raises: This view is the output of a function that returns multiple views"""
    z = torch.rand(4, 4, requires_grad=True) * 1
    first, second = eval("True"), eval("True")
    if first:
        if second:
            z = torch.rand(2, 3, requires_grad=True) * 1
    z.split(1)[0].add_(1)  # error: [TLN209]


def the_rest_of_the_chunks_in_a_loop():
    class Recall(nn.Module):
        def __init__(self, slots):
            super().__init__()
            self.bank = nn.Parameter(torch.randn(slots, 4))

    def initialise(slots):
        content, opacity, *modulations = Recall(slots).bank.chunk(6, dim=0)
        nn.init.zeros_(content)
        for modulation in modulations:
            nn.init.normal_(modulation, std=0.05)
        return len(modulations)

    initialise(12)


def flags_set_by_a_text():
    w = torch.ones(3, 4, requires_grad=True)
    with torch.no_grad():
        row = w.unsqueeze(0)
        w[0] += 1
        exec("w.requires_grad_(False)")
    torch.relu_(row)


def the_rest_of_the_chunks_given_to_code_elsewhere():
    choose = eval("lambda several: several")
    bank = nn.Parameter(torch.randn(12, 4))
    content, opacity, *modulations = bank.chunk(6, dim=0)
    nn.init.zeros_(content)
    for modulation in choose(modulations):
        nn.init.normal_(modulation, std=0.05)


def a_part_that_may_have_been_computed_anew():
    flag = eval("True")
    w = torch.rand(4, requires_grad=True)
    h = w * 2
    a, b = h.split(2)
    if flag:
        a = a * 2
    h.mul_(3)
    (a * 2).sum().backward()


def an_arm_that_is_for_inference():
    """Raises: This view is the output of a function that returns multiple views"""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.project = nn.Linear(4, 12)

        def forward(self, x, adapter=None):
            q, k, v = self.project(x).split(4, dim=-1)
            if adapter is not None:
                q += adapter(x)  # warning: [TLN209]
                k += adapter(x)
                v += adapter(x)
            return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v

    call = eval("lambda function, *given: function(*given)")
    call(Attention(), torch.rand(2, 4), nn.Linear(4, 4))


def a_helper_that_nobody_calls():
    """Raises: This view is the output of a function that returns multiple views"""

    def shifted(x):
        first, second = nn.Linear(2, 4)(x).chunk(2, dim=1)
        first += 1  # warning: [TLN209]
        return first * second

    eval("shifted")(torch.rand(3, 2))


def a_helper_that_is_called_without_recording_alone():
    def shifted(x):
        first, second = nn.Linear(2, 4)(x).chunk(2, dim=1)
        first += 1
        return first * second

    @torch.inference_mode()
    def sampled(x):
        return shifted(x).sum()

    def shown(x):
        with torch.no_grad():
            return shifted(x)

    sampled(torch.rand(3, 2))
    shown(torch.rand(3, 2))


def a_helper_of_a_helper_called_without_recording():
    def shifted(x):
        first, second = nn.Linear(2, 4)(x).chunk(2, dim=1)
        first += 1
        return first * second

    def doubled(x):
        return shifted(x) * 2

    @torch.no_grad()
    def evaluated(x):
        return doubled(x).sum()

    evaluated(torch.rand(3, 2))


def a_loss_that_nobody_calls():
    """Raises: This view is the output of a function that returns multiple views"""

    def shifted_loss(x):
        first, second = nn.Linear(2, 4)(x).chunk(2, dim=1)
        first += 1  # error: [TLN209]
        return (first * second).sum()

    eval("shifted_loss")(torch.rand(3, 2))


def a_network_that_only_infers():
    class Gates(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 8)

        def forward(self, x):
            keep, add = self.linear(x).chunk(2, dim=1)
            keep += 1
            return keep * add

    with torch.inference_mode():
        shown = Gates()(torch.rand(2, 3))


def a_network_that_is_tried_out():
    """Raises: This view is the output of a function that returns multiple views"""

    class Gates(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 8)

        def forward(self, x):
            keep, add = self.linear(x).chunk(2, dim=1)
            keep += 1  # error: [TLN209]
            return keep * add

    if __name__ == "__main__":
        with torch.no_grad():
            print(Gates()(torch.rand(2, 3)).shape)

    eval("Gates")()(torch.rand(2, 3))


def arms_for_training_and_for_the_rest():
    """Raises: This view is the output of a function that returns multiple views"""

    class Gates(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 8)

        def forward(self, x):
            keep, add = self.linear(x).chunk(2, dim=1)
            if self.training:
                keep += 1  # error: [TLN209]
            else:
                add += 1  # warning: [TLN209]
            return keep * add

    eval("Gates")()(torch.rand(2, 3))


def a_loss_that_is_only_shown():
    def shifted_loss(x):
        first, second = nn.Linear(2, 4)(x).chunk(2, dim=1)
        first += 1
        return (first * second).sum()

    @torch.no_grad()
    def evaluated(x):
        return shifted_loss(x).item()

    evaluated(torch.rand(3, 2))


def written_where_the_module_does_not_train():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 2, 1)

        def forward(self, x):
            if self.training:
                a, b = torch.split(x, [2, 2], dim=1)
                return torch.cat([self.conv(a), b], dim=1)
            x[:, :2] = self.conv(x[:, :2])
            x[:, 2:] = self.conv(x[:, 2:])
            return x

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.mixed = nn.Conv2d(4, 8, 1), Mixed()

        def forward(self, x):
            a, b = self.first(x).chunk(2, dim=1)
            return self.mixed(a) * b

    block = Block().eval()
    with torch.no_grad():
        block(torch.rand(1, 4, 2, 2))


def written_where_the_module_trains():
    """Raises: is a view and is being modified inplace"""

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(4, 8, 1)

        def forward(self, x):
            a, b = self.conv(x).chunk(2, dim=1)
            if not self.training:
                return a
            a += b  # error: [TLN209]
            return a

    Mixed()(torch.rand(1, 4, 2, 2)).sum().backward()


def an_arm_for_exporters_alone():
    class Gate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 4)

        def forward(self, x):
            a, b = self.lin(x).chunk(2, 1)
            if torch.onnx.is_in_onnx_export() or torch._C._get_tracing_state() is not None:
                a.sigmoid_()
                return a * b
            return a.sigmoid() * b

    Gate()(torch.ones(1, 2)).sum().backward()


def in_place_where_nothing_is_recorded():
    class Gate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 4)

        def forward(self, x):
            a, b = self.lin(x).chunk(2, 1)
            if torch.is_grad_enabled():
                return a.sigmoid() * b
            a.sigmoid_()
            return a * b

    gate = Gate()
    gate(torch.ones(1, 2)).sum().backward()
    with torch.no_grad():
        gate(torch.ones(1, 2))


def what_an_assertion_keeps_for_inference():
    """Raises: This view is the output of a function that returns multiple views"""

    class Gate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 4)

        def forward(self, x):
            assert not self.training
            a, b = self.lin(x).chunk(2, 1)
            a.sigmoid_()  # warning: [TLN209]
            return a * b

    exec("Gate().eval()(torch.ones(1, 2))")


def what_a_function_may_keep_for_inference():
    """Raises: This view is the output of a function that returns multiple views"""
    import os

    def deployed():
        return "DEPLOYED" not in os.environ

    class Gate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 4)

        def forward(self, x):
            a, b = self.lin(x).chunk(2, 1)
            if deployed():
                a.sigmoid_()  # warning: [TLN209]
                return a * b
            return a.sigmoid() * b

    exec("Gate()(torch.ones(1, 2))")


def a_test_that_is_expected_to_fail():
    import unittest

    class Refused(unittest.TestCase):
        @unittest.expectedFailure
        def test_gate(self):
            a, b = torch.nn.Linear(2, 4)(torch.ones(1, 2)).chunk(2, 1)
            a.sigmoid_()


def parts_of_a_layer_that_nobody_knows():
    class Gates(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 8)

        def forward(self, x):
            keep, add = self.linear(x).chunk(2, dim=1)
            keep += 1
            return keep * add

        def __getattr__(self, name):
            return eval("lambda value: value.requires_grad_(False)")(super().__getattr__(name))

    Gates()(torch.rand(2, 3))


def a_network_that_generates_without_recording():
    """Raises: This view is the output of a function that returns multiple views"""

    class Gates(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 6)

        def forward(self, x):
            keep, add = self.linear(x).chunk(2, dim=1)
            keep += 1  # warning: [TLN209]
            return keep * add

        @torch.no_grad()
        def generate(self, x):
            for _ in range(2):
                x = self.forward(x)
            return x

    eval("Gates")()(torch.rand(2, 3))


def a_part_of_a_network_that_generates_without_recording():
    """Raises: This view is the output of a function that returns multiple views"""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(4, 12)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = self.qkv(x).reshape(b, t, 3, 2, 2).unbind(dim=2)
            q = q.transpose(1, 2)
            q.mul_(2)  # warning: [TLN209]
            return q @ k.transpose(1, 2).mT @ v.transpose(1, 2)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = Attention()

        def forward(self, x):
            return self.attention(x)

        @torch.no_grad()
        def generate(self, x):
            return self.forward(x)

    eval("Model")()(torch.rand(2, 3, 4))


def a_network_that_others_run_without_recording():
    class Gates(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 6)

        def forward(self, x):
            keep, add = self.linear(x).chunk(2, dim=1)
            keep += 1
            return keep * add

    @torch.no_grad()
    def generated(gates, x):
        return Gates()(x)

    generated(None, torch.rand(2, 3))


def a_part_of_an_unknown_number_of_which_another_is_told():
    c = nn.Parameter(eval("0.5") / torch.ones(4, 4), requires_grad=False)
    first, second, third, fourth = c.split(1)
    second.requires_grad_()
    fourth.mul_(fourth)


def heads_of_a_part():
    """Raises: This view is the output of a function that returns multiple views"""

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.head_dim = heads, dim // heads
            self.qkv = nn.Linear(dim, self.heads * self.head_dim * 3)

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = torch.chunk(self.qkv(x), 3, dim=-1)
            q = q.reshape(b, t, self.heads, self.head_dim).transpose(1, 2)
            q *= 0.5  # error: [TLN209]
            return q

    Attention(4, 2)(torch.rand(2, 5, 4))


def heads_of_a_part_of_given_sizes():
    """Raises: This view is the output of a function that returns multiple views"""

    class Attention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.qkv = nn.Linear(dim, 3 * dim)

        def forward(self, x):
            q, k, v = self.qkv(x.view(x.size(0), x.size(1), -1)).chunk(3, dim=-1)
            return self.scaled(q, q.size(0), q.shape[1])

        def scaled(self, q, b, t):
            q = q.reshape(b, t, 2, -1)
            q *= 0.5  # error: [TLN209]
            return q

    Attention(4)(torch.rand(2, 5, 4))


def heads_of_a_part_of_what_was_transposed():
    """Raises: This view is the output of a function that returns multiple views"""

    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.Linear(8, 8)

        def forward(self, x):
            y = self.both(x).transpose(0, 1)
            b, t, c = y.shape
            first, second = y.chunk(2, dim=-1)
            second = second.reshape(b, t, 2, c // 4)
            second *= 0.5  # error: [TLN209]
            return second

    Halves()(torch.rand(3, 2, 8)).sum().backward()


def heads_of_a_part_with_dimensions_exchanged():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.Linear(8, 8)

        def forward(self, x):
            y = self.both(x).transpose(0, 1)
            b, t, c = y.shape
            first, second = y.chunk(2, dim=-1)
            second = second.reshape(t, b, 2, c // 4)
            second *= 0.5
            return second

    Halves()(torch.rand(3, 2, 8)).sum().backward()


def heads_of_a_part_of_sizes_that_may_be_exchanged():
    class Halves(nn.Module):
        def __init__(self, batch_first):
            super().__init__()
            self.both = nn.Linear(8, 8)
            self.batch_first = batch_first

        def forward(self, x):
            y = self.both(x).transpose(0, 1)
            _, _, c = y.shape
            b = y.shape[0] if self.batch_first else y.shape[1]
            if self.batch_first:
                t = y.shape[1]
            else:
                t = y.shape[0]
            first, second = y.chunk(2, dim=-1)
            second = second.reshape(b, t, 2, c // 4)
            second *= 0.5
            return second

    Halves(False)(torch.rand(3, 2, 8)).sum().backward()


def heads_of_a_part_of_what_was_transposed_in_place():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.Linear(8, 8)

        def forward(self, x):
            y = self.both(x)
            b, t, c = y.shape
            y.transpose_(0, 1)
            first, second = y.chunk(2, dim=-1)
            second = second.reshape(b, t, 2, c // 4)
            second *= 0.5
            return second

    Halves()(torch.rand(2, 3, 8)).sum().backward()


def heads_of_a_part_of_another_tensor():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.Linear(8, 8)

        def forward(self, x):
            b, t, c = x.shape
            y = self.both(x).transpose(0, 1)
            _, _, c = y.shape
            first, second = y.chunk(2, dim=-1)
            second = second.reshape(b, t, 2, c // 4)
            second *= 0.5
            return second

    Halves()(torch.rand(2, 3, 8)).sum().backward()


def heads_of_a_part_along_another_dimension():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.Linear(8, 8)

        def forward(self, x):
            y = self.both(x).transpose(0, 1)
            b, t, c = y.shape
            first, second = y.chunk(2, dim=1)
            second = second.reshape(b, t, c // 4, 2)
            second *= 0.5
            return second

    Halves()(torch.rand(4, 2, 8)).sum().backward()


def part_of_which_the_last_dimension_is_merged():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.Linear(8, 8)

        def forward(self, x):
            b, t, c = x.shape
            first, second = self.both(x).chunk(2, dim=-1)
            second = second.reshape(b, t * c // 2)
            second *= 0.5
            return second

    Halves()(torch.rand(2, 3, 8)).sum().backward()


def a_part_in_another_shape_and_back():
    """Raises: is being modified inplace"""

    class Gates(nn.Module):
        def __init__(self, width: int, heads: int):
            super().__init__()
            self.linear = nn.Linear(width, 2 * width)
            self.heads = heads

        def forward(self, x):
            batch, time, width = x.shape
            a, b = self.linear(x).split(width, dim=-1)
            a = a.reshape(batch, time, self.heads, width // self.heads)
            a = a.reshape(batch, time, width)
            a.mul_(2)  # error: [TLN209]
            return a * b

    Gates(4, 2)(torch.rand(2, 3, 4)).sum().backward()


def a_part_in_another_shape_that_is_a_copy():
    class Gates(nn.Module):
        def __init__(self, width: int, heads: int):
            super().__init__()
            self.linear = nn.Linear(width, 2 * width)
            self.heads = heads

        def forward(self, x):
            batch, time, width = x.shape
            a, b = self.linear(x).split(width, dim=-1)
            a = a.reshape(batch, time, self.heads, width // self.heads)
            a = a.reshape(batch, time * width)
            a.mul_(2)
            return a * b.reshape(batch, time * width)

    Gates(4, 2)(torch.rand(2, 3, 4)).sum().backward()


def a_part_with_its_dimensions_exchanged_in_another_shape():
    class Gates(nn.Module):
        def __init__(self, width: int, heads: int):
            super().__init__()
            self.linear = nn.Linear(width, 2 * width)
            self.heads = heads

        def forward(self, x):
            batch, time, width = x.shape
            a, b = self.linear(x).split(width, dim=-1)
            a = a.transpose(1, 2).reshape(batch, self.heads, width // self.heads, time)
            a = a.reshape(batch, time, width)
            a.mul_(2)
            return a * b

    Gates(4, 2)(torch.rand(2, 3, 4)).sum().backward()


def a_part_of_channels_in_another_shape():
    """Raises: is being modified inplace"""

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.conv = nn.Conv2d(width, 3 * width, 1)
            self.heads = heads

        def forward(self, x):
            batch, width, height, length = x.shape
            q, k, v = self.conv(x).chunk(3, dim=1)
            q = q.reshape(batch, self.heads, -1, height * length)
            q.mul_(2)  # error: [TLN209]
            return q.sum() + k + v

    Attention(4, 2)(torch.rand(2, 4, 3, 3)).sum().backward()


def a_part_of_channels_flattened():
    """Raises: is being modified inplace"""

    class Attention(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.conv = nn.Conv2d(width, 3 * width, 1)

        def forward(self, x):
            q, k, v = self.conv(x).chunk(3, dim=1)
            q = q.flatten(2)
            q.mul_(2)  # error: [TLN209]
            return q.sum() + k + v

    Attention(4)(torch.rand(2, 4, 3, 3)).sum().backward()


def a_part_of_channels_flattened_with_the_batch():
    class Attention(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.conv = nn.Conv2d(width, 3 * width, 1)

        def forward(self, x):
            q, k, v = self.conv(x).chunk(3, dim=1)
            q = q.flatten(0, 1)
            q.mul_(2)
            return q.sum() + k + v

    Attention(4)(torch.rand(2, 4, 3, 3)).sum().backward()


def a_part_of_rows_in_another_shape():
    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.conv = nn.Conv2d(width, width, 1)
            self.heads = heads

        def forward(self, x):
            batch, width, height, length = x.shape
            q, k, v = self.conv(x).chunk(3, dim=2)
            q = q.reshape(batch, self.heads, -1, length)
            q.mul_(2)
            return q.sum() + k + v

    Attention(4, 2)(torch.rand(2, 4, 6, 3)).sum().backward()
def part_where_no_masks_are_given():
    """Raises: This view is the output of a function that returns multiple views"""

    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = nn.Parameter(torch.rand(3, 6))
            self.count = 0

        def forward(self, x, masks):
            if masks is None:
                a, b = torch.split(x @ self.kernel, 3, dim=-1)
            else:
                a, b = x * masks[0], x * masks[1]
            state = a[:, 0, :]
            state *= 2  # warning: [TLN209]
            return state + b[:, 0, :]

    Cell()(torch.rand(2, 4, 3), eval("None"))


def half_of_an_input():
    """Raises: This view is the output of a function that returns multiple views"""

    class Coupling(nn.Module):
        def forward(self, x):
            a, b = x.chunk(2, dim=1)
            a *= 2  # warning: [TLN209]
            return torch.cat([a, b], dim=1)

    Coupling()(eval("nn.Linear(4, 4)(torch.rand(2, 4))"))


def half_of_what_is_computed_from_an_input():
    """Raises: This view is the output of a function that returns multiple views"""

    class Coupling(nn.Module):
        def forward(self, x: torch.Tensor):
            a, b = (x * 2).split(2, dim=1)
            a += 1  # warning: [TLN209]
            return torch.cat([a, b], dim=1)

    Coupling()(eval("nn.Linear(4, 4)(torch.rand(2, 4))"))


def part_in_one_of_two_arms_that_ask_for_different_things():
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = nn.Parameter(torch.rand(3, 6))

        def forward(self, x, masks, late):
            if masks is None:
                a, b = torch.split(x @ self.kernel, 3, dim=-1)
            else:
                a, b = x * masks[0], x * masks[1]
            if late:
                a *= 2
            return a + b

    Cell()(torch.rand(2, 4, 3), None, False)


def half_of_the_argument_of_a_function():
    def corners(boxes):
        low, high = boxes.chunk(2, dim=1)
        low -= 1
        return torch.cat([low, high], dim=1)

    corners(torch.rand(2, 4))


def steps_in_one_of_two_orders():
    """Raises: This view is the output of a function that returns multiple views"""

    class Cell(nn.Module):
        def __init__(self, backwards=False):
            super().__init__()
            self.backwards = bool(backwards)
            self.linear = nn.Linear(3, 6)

        def forward(self, x):
            inputs, gates = self.linear(x).chunk(2, dim=-1)
            steps = range(x.shape[1] - 1, -1, -1) if self.backwards else range(x.shape[1])
            states = []
            for step in steps:
                state = inputs[:, step, :]
                state *= 2  # error: [TLN209]
                states.append(state)
            return torch.stack(states)

    Cell()(torch.rand(2, 4, 3))


def parts_of_one_of_two_lists_of_which_one_is_empty():
    class Scaled(nn.Module):
        def __init__(self, scaled=False):
            super().__init__()
            self.scaled = bool(scaled)
            self.linear = nn.Linear(3, 6)

        def forward(self, x):
            first, second = self.linear(x).chunk(2, dim=-1)
            for part in [first] if self.scaled else []:
                x = part
            x += 1
            return x

    Scaled()(torch.rand(2, 3))


def view_that_a_custom_function_returns():
    """Raises: This view was created inside a custom Function"""

    class Reversed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return -ctx.factor * grad, None

    h = nn.Linear(2, 4)(torch.ones(3, 2))
    turned = Reversed.apply(h, 0.5)
    turned.relu_()  # error: [TLN209]


def input_that_a_custom_function_returns():
    """Raises: This view was created inside a custom Function"""

    class Reversed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return -grad

    h = nn.Linear(2, 4)(torch.ones(3, 2))
    turned = Reversed.apply(h)
    h.relu_()
    turned.sum().backward()  # error: [TLN209]


def copy_of_a_view_that_a_custom_function_returns():
    class Reversed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return -grad

    h = nn.Linear(2, 4)(torch.ones(3, 2))
    turned = Reversed.apply(h).clone()
    turned.mul_(2)
    Reversed.apply(torch.zeros(3)).add_(1)
    with torch.no_grad():
        Reversed.apply(h).mul_(2)
    turned.sum().backward()
