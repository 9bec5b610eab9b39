# ruff: noqa
"""Programs for TLN212."""

import torch
from torch import nn


def causal_mask():
    """Holds: scores.isfinite().all()"""
    scores = torch.rand(3, 3)
    mask = torch.ones(3, 3).triu(1).bool()
    scores.masked_fill(mask, float("-inf"))  # warning: [TLN212]


def state_not_detached():
    """Raises: Trying to backward through the graph a second time"""
    cell = nn.GRUCell(2, 3)
    h = torch.zeros(4, 3)
    for _ in range(2):
        h = cell(torch.rand(4, 2), h)
        h.mean().backward()  # error: [TLN101]
        h.detach()  # warning: [TLN212]


def weights_not_clamped():
    """Holds: layer.weight.abs().max() > 0"""
    layer = nn.Linear(2, 2)
    for p in layer.parameters():
        p.data.clamp(0, 0)  # warning: [TLN212]


def type_not_changed():
    """Holds: labels.dtype == torch.float32"""
    labels = torch.zeros(3)
    labels.long()  # warning: [TLN212]


def moved_nowhere():
    """Holds: x.dtype == torch.float32"""
    x = torch.rand(2, 2)
    x.to(torch.float64)  # warning: [TLN212]


def dimension_not_added():
    """Holds: x.dim() == 1"""
    x = torch.arange(3.0)
    x.unsqueeze(0)  # warning: [TLN212]


def test_without_assert():
    """Holds: not torch.allclose(a, b)"""
    a, b = torch.zeros(2), torch.ones(2)
    torch.allclose(a, b)  # warning: [TLN212]


def module_converts_itself():
    net = nn.Linear(2, 2)
    net.double()
    net.to(torch.float32)
    net.requires_grad_(False)


def in_place_form():
    x = torch.rand(3)
    x.clamp_(0, 1)
    x.requires_grad_()
    x.detach_()


def calls_for_their_effect():
    x = torch.rand(3, requires_grad=True)
    y = x * x
    y.retain_grad()
    y.register_hook(lambda grad: grad)
    y.sum().backward()
    torch.manual_seed(0)


def containers_and_own_classes():
    class Batch:
        def __init__(self, x):
            self.x = x

        def to(self, dtype):
            self.x = self.x.to(dtype)

    batch = Batch(torch.rand(2))
    batch.to(torch.float64)
    losses = [torch.rand(2)]
    losses.sort(key=float if len(losses) > 1 else None)
    assert batch.x.dtype == torch.float64


def result_is_used():
    x = torch.rand(3)
    y = x.clamp(0)
    print(x.unsqueeze(0))
    assert torch.allclose(y, x)


def warm_up_of_a_module():
    """A call of a module may be made for its hooks or its statistics."""
    net = nn.BatchNorm1d(2)
    net(torch.rand(3, 2))


def timed():
    import time

    a, b = torch.rand(4, 4), torch.rand(4, 4)
    start = time.perf_counter()
    torch.mm(a, b)
    print(time.perf_counter() - start)


def warmed_up():
    a, b = torch.rand(4, 4), torch.rand(4, 4)
    for _ in range(3):
        torch.mm(a, b)


def profiled():
    a = torch.rand(4, 4)
    with torch.profiler.profile():
        torch.mm(a, a)


def drawn_to_go_on():
    p = torch.full((3,), 0.5)
    torch.bernoulli(p)
    torch.randn_like(p)
    p.bernoulli()


def refused_as_expected():
    import contextlib

    a = torch.rand(4, 4)
    with contextlib.suppress(RuntimeError):
        a.view(3, 3)
    try:
        torch.mm(a, torch.ones(3, 3))
    except RuntimeError as error:
        print(error)


def unchecked_among_clocks():
    """Holds: not torch.allclose(a, b)"""
    import time

    a, b = torch.zeros(3), torch.ones(3)
    start = time.time()
    torch.allclose(a, b)  # warning: [TLN212]
    print(time.time() - start)


def under_no_grad():
    """Holds: (a == 1).all()"""
    a = torch.ones(3)
    with torch.no_grad():
        a.masked_fill(a > 0, 2)  # warning: [TLN212]


def moved_to_where_it_was_made():
    query = torch.rand(2, 3, dtype=torch.float64)
    bias = torch.zeros(3, dtype=query.dtype, device=query.device)
    bias.to(query.dtype)
    bias.to(query.device)
    assert bias.dtype == torch.float64


def call_that_raises_by_itself():
    x = torch.rand(3)
    try:
        x.clamp(max=(1, 2))
    except TypeError:
        x = x + 1


def moved_to_the_cpu_where_it_is():
    x = torch.rand(3)
    x.cpu()
    x.to("cpu")
    assert x.cpu() is x


def as_the_tensor_it_is_made_after():
    def like(x):
        y = torch.zeros_like(x)
        y.to(x.dtype)
        y.to(x.device)
        z = x.new_zeros(3)
        z.to(x)
        w = torch.ones(3, dtype=torch.float64)
        w.double()
        return y, z, w

    like(torch.ones(3, dtype=torch.float64))


def made_after_a_tensor_and_converted_to_the_dtype_of_another():
    """Holds: made.dtype == torch.float32"""

    def like(x, other):
        y = torch.zeros_like(x)
        y.to(other.dtype)  # warning: [TLN212]
        return y

    made = like(torch.ones(3), torch.ones(3, dtype=torch.float64))


def functional_activation_dropped():
    """Holds: (out < 0).any()"""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, x):
            x = self.layer(x)
            torch.nn.functional.relu(x)  # warning: [TLN212]
            return x

    net = Net()
    torch.nn.init.constant_(net.layer.weight, -1.0)
    torch.nn.init.zeros_(net.layer.bias)
    out = net(torch.ones(1, 2))


def functional_activation_in_place():
    x = torch.randn(4)
    torch.nn.functional.relu(x, True)
    torch.nn.functional.relu(x, inplace=True)
    torch.nn.functional.relu_(x)
    assert (x >= 0).all()


def asked_whether_it_raises():
    def takes_several():
        probe = torch.zeros((2, 2), dtype=torch.bool)
        try:
            probe.any(dim=(0, 1))
        except TypeError:
            return False
        return True

    assert takes_several() in (True, False)


def asked_with_an_else():
    x = torch.rand(3)
    try:
        x.reshape(2, 2)
    except RuntimeError as error:
        message = str(error)
    else:
        message = ""
    assert message


def tried_and_told():
    """Holds: (x < 0).any()"""
    x = torch.tensor([-1.0, 2.0])
    try:
        x.clamp(min=0)  # warning: [TLN212]
    except TypeError as error:
        print(error)


def tried_and_used_afterwards():
    """Holds: (x < 0).any()"""
    x = torch.tensor([-1.0, 2.0])
    try:
        x.clamp(min=0)  # warning: [TLN212]
        total = x.sum()
    except TypeError:
        total = None


def moved_to_where_its_operands_are():
    def steps(k: torch.Tensor, m: int):
        c = torch.sqrt(4 * k**2 + (m - 1) ** 2)
        b = (-2 * k + c) / (m - 1)
        b.to(k.device)
        return b

    steps(torch.ones(3), 3)


def moved_to_where_another_tensor_is():
    """Holds: steps(torch.ones(3), torch.ones(3, device="meta")).device.type == "cpu" """

    def steps(k: torch.Tensor, other: torch.Tensor):
        b = 2 * k
        b.to(other.device)  # warning: [TLN212]
        return b


def detached_from_no_graph():
    """Assigned, the results would be the same tensors in all that anybody meets."""
    low, high = torch.Tensor([0.0, 1.0]), torch.zeros(2)
    low.detach()
    high.detach()
    assert not (low + high).requires_grad


def detached_for_nothing():
    """Holds: scaled.requires_grad"""
    weight = torch.ones(2, requires_grad=True)
    scaled = weight * 2
    scaled.detach()  # warning: [TLN212]


def parameters_that_their_module_moves():
    from torch import nn

    class Ranges(nn.Module):
        def __init__(self):
            super().__init__()
            self.range = nn.Parameter(torch.arange(3.0))

        def to(self, *args, **kwargs):
            self.range.to(*args, **kwargs)
            return super().to(*args, **kwargs)

    assert Ranges().to(torch.float64).range.dtype == torch.float64


def parameters_that_nobody_moves():
    """Holds: ranges.range.dtype == torch.float32"""
    from torch import nn

    class Ranges(nn.Module):
        def __init__(self):
            super().__init__()
            self.range = nn.Parameter(torch.arange(3.0))

        def convert(self, *args):
            self.range.to(torch.float64)  # warning: [TLN212]

    ranges = Ranges()
    ranges.convert()


def view_of_the_same_elements():
    """Holds: x.shape == (4,)"""
    x = torch.rand(4)
    x.view(2, 2)  # strict: [TLN212]
    y = x * 2


def buffer_that_its_module_moves():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(3))

        def to(self, *args, **kwargs):
            super().to(*args, **kwargs)
            self.scale.to(*args, **kwargs)
            return self

    assert Scaled().to(torch.float64).scale.dtype is torch.float64


def plain_tensor_that_its_module_does_not_move():
    """Holds: scaled.scale.dtype is torch.float32"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.ones(3)

        def to(self, *args, **kwargs):
            super().to(*args, **kwargs)
            self.scale.to(*args, **kwargs)  # warning: [TLN212]
            return self

    scaled = Scaled().to(torch.float64)


def name_of_a_type():
    scale = torch.ones(3)
    scale.type()


def on_the_device_of_a_result_of_unknown_code():
    def rates(m, k):
        c = torch.sqrt(4 * k**2 + (m - 1) ** 2)
        b = (-2 * k + c) / (m - 1)
        d = (4 * b) / (1 + b) - (m - 1) * 0.5
        d.to(k.device)
        b.to(k.device)
        return b, d

    rates(3, eval("torch.rand")(4))


def on_the_device_of_a_result_of_unknown_code_that_has_moved():
    """Holds: b.device.type == 'cpu'"""

    def rates(k):
        b = 2 * k
        k = eval("torch.rand")(4, device="meta")
        b.to(k.device)  # warning: [TLN212]
        return b

    b = rates(eval("torch.rand")(4))
