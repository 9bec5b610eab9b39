# ruff: noqa
"""Programs for TLN706."""

import numpy as np
import torch
from torch import nn


def loss_kept_for_the_log():
    """Warns: To copy construct from a tensor"""
    model = nn.Linear(2, 1)
    history = []
    for _ in range(2):
        loss = model(torch.ones(1, 2)).sum()
        loss.backward()
        history.append(torch.tensor(loss))  # warning: [TLN706]


def target_network_output():
    """Warns: To copy construct from a tensor"""
    q = nn.Linear(4, 2)
    reward = torch.rand(8)
    best = q(torch.rand(8, 4)).max(dim=1).values
    target = torch.tensor(reward + 0.9 * best, requires_grad=False)  # warning: [TLN706]


def in_forward():
    """Warns: To copy construct from a tensor"""

    class Mask(nn.Module):
        def forward(self, x: torch.Tensor):
            mask = torch.tensor(x > 0, dtype=torch.float32)  # warning: [TLN706]
            return x * mask

    Mask()(torch.rand(3))


def new_tensor_of_a_tensor():
    """Warns: To copy construct from a tensor"""
    x = torch.rand(3, dtype=torch.float64)
    labels = torch.arange(3)
    same = x.new_tensor(labels)  # warning: [TLN706]
    assert same.dtype == torch.float64


def image_to_optimise():
    """Warns: To copy construct from a tensor"""
    content = torch.rand(1, 3, 8, 8)
    image = torch.tensor(data=content, requires_grad=True)  # warning: [TLN706]
    image.sum().backward()


def helper_with_a_tensor():
    """Warns: To copy construct from a tensor"""

    def to_float(t):
        return torch.tensor(t, dtype=torch.float32)  # warning: [TLN706]

    def train():
        labels = torch.zeros(3, dtype=torch.long)
        return to_float(labels)

    train()


def data_of_all_kinds():
    torch.tensor([1.0, 2.0])
    torch.tensor(np.ones(3))
    torch.tensor(3.5)
    torch.tensor([[x * 0.1 for x in range(3)]])


def number_of_a_tensor():
    x = torch.rand(())
    torch.tensor(x.item())
    torch.tensor(x.tolist())
    torch.tensor(x.numpy())
    torch.tensor(x.shape)


def nobody_knows_what_it_is():
    def wrap(value, device="cpu"):
        return torch.tensor(value, device=device)

    wrap([1, 2])


def either_of_two():
    def as_tensor(value):
        if not isinstance(value, torch.Tensor):
            value = torch.tensor(value)
        return value * 2

    def annotated(value: torch.Tensor):
        if not torch.is_tensor(value):
            value = torch.tensor(value)
        return value * 2

    as_tensor([1.0])
    annotated(torch.ones(2))


def used_as_a_tensor_on_the_other_branch():
    def encode(value, is_tensor):
        if is_tensor:
            return torch.exp(value)
        return torch.tensor(value)

    encode([1.0], False)


def sizes_and_stacks():
    rows = [torch.ones(2), torch.zeros(2)]
    torch.stack(rows)
    torch.as_tensor(rows[0])
    rows[0].new_tensor([1.0, 2.0])


def number_compared_with_a_tensor():
    def bucket(position, size: int, limit):
        mid = size // 2
        near = (position < mid) & (position > -mid)
        return torch.where(near, torch.tensor(mid - 1), torch.tensor((limit - 1) / mid))

    bucket(torch.arange(3), 4, 8)


def product_of_a_list():
    def padded(buckets, factors, mask):
        assert factors % 2 == 0 if isinstance(factors, int) else True
        count = 1
        for factor in factors:
            count = count * factor
        count = count + 1
        return torch.where(mask, buckets, torch.tensor(count - 1, dtype=torch.long))

    padded(torch.arange(3), [2, 4], torch.ones(3, dtype=torch.bool))


def numbers_or_tensors_collated():
    def collate(values, elem):
        if isinstance(elem, torch.Tensor):
            return torch.cat(values)
        return torch.tensor(values)

    collate([1.0, 2.0], 1.0)


def list_repeated_as_often_as_a_tensor_says():
    """Python repeats the list: what comes out holds numbers."""

    def chunks(lengths, window):
        count = torch.ceil(lengths / window).long()
        return torch.tensor([window] * count.sum(), dtype=torch.long)

    assert chunks(torch.tensor([5, 9]), 4).tolist() == [4] * 5
    assert torch.tensor(torch.tensor(2) * [1.0]).shape == (2,)


def number_in_a_tuple_with_tensors():
    def targets(labels, rest):
        return (torch.stack(labels, 0), 3) + tuple(rest)

    def loss(labels, rest):
        stacked, count, weight = targets(labels, rest)
        return torch.tensor(count, dtype=torch.float)

    loss([torch.ones(2)], (element for element in [1.0]))


def annotated_and_given_numbers():
    def start(values: torch.Tensor):
        return torch.tensor(values, dtype=torch.float64)

    start([1, 2])
    start(3)


def annotated_with_a_number_by_default():
    def start(scale: torch.Tensor = 0.5):
        return torch.tensor(scale)

    start()


def annotated_and_given_a_length_by_a_method():
    class Counter:
        def count(self, values: torch.Tensor):
            return torch.tensor(values)

        def both(self, text):
            return self.count(len(text))

    Counter().both("ab")


def annotated_and_given_tensors():
    """Warns: To copy construct from a tensor"""

    def start(values: torch.Tensor):
        return torch.tensor(values)  # warning: [TLN706]

    start(torch.ones(2))


def a_line_that_runs_once_on_a_number():
    class Population(torch.nn.Module):
        def __init__(self, n: int, dt: "float | torch.Tensor" = 0.1):
            super().__init__()
            self.dt = dt
            self.compute_decay()

        def compute_decay(self):
            self.dt = torch.tensor(self.dt)
            self.decay = torch.exp(-self.dt / 5)

    Population(3)


def an_attribute_that_is_a_number_first():
    class Population(torch.nn.Module):
        def __init__(self, dt=0.1):
            super().__init__()
            self.dt = dt
            self.first = torch.tensor(self.dt)

        def decay(self):
            self.dt = torch.as_tensor(self.dt)
            return torch.exp(-self.dt)

    Population().decay()


def a_parameter_that_is_a_number_if_left_out():
    def decay(dt=0.1):
        rate = torch.tensor(dt)
        return torch.exp(-rate), dt

    decay()


def a_local_that_a_loop_makes_a_tensor():
    def ramp(start):
        level = start
        for _ in range(1):
            level = torch.tensor(level)
        return level

    ramp(2.0)


def given_a_tensor_where_it_is_shown():
    class Scaler:
        def fit(self, values):
            values = torch.tensor(values, dtype=torch.float)
            self.mean = values.mean()

    def fitted(rows):
        scaler = Scaler()
        scaler.fit(np.asarray(rows))
        return scaler

    if __name__ == "__main__":
        scaler = Scaler()
        scaler.fit(np.random.rand(3))


def a_number_is_what_the_search_ends_with():
    import math

    def share(x):
        return 0.5 * (1 + torch.erf(x / math.sqrt(2.0)))

    def implied(price, spot):
        price = price.item()
        volatility = math.sqrt(2 * abs(math.log(spot / 105.0)))
        for _ in range(10):
            volatility = max(min(volatility, 1.0), 1e-5)
            difference = spot * share(volatility * math.sqrt(price)) - price
            if abs(difference) < 1e-8:
                return torch.tensor(volatility)
            volatility -= difference / 3
        return torch.tensor(volatility)

    try:
        implied(torch.tensor(10.0), 100.0)
    except TypeError:
        pass


def past_the_end_of_a_list():
    parts = [torch.ones(2).tolist()]
    parts[0] = torch.ones(3)
    try:
        parts[1] = torch.ones(3)
        parts[2] = 1 - torch.tensor(parts[2])
    except IndexError:
        pass


def a_class_that_cannot_be_built():
    """Its base class sets what is a property without a setter here: nothing comes after it."""

    class Neuron(torch.nn.Module):
        def __init__(self, tau=0.8):
            super().__init__()
            self.tau = tau

    class Parametric(Neuron):
        def __init__(self, tau=0.8):
            super().__init__(tau=tau)
            self.weight = torch.nn.Parameter(torch.tensor(torch.logit(torch.tensor(tau))))

        @property
        def tau(self):
            return torch.sigmoid(self.weight)

    assert Parametric.tau.fset is None


def a_property_that_is_set():
    """Warns: To copy construct from a tensor"""

    class Neuron(torch.nn.Module):
        def __init__(self, tau=0.8):
            super().__init__()
            self.tau = tau

    class Parametric(Neuron):
        def __init__(self, tau=0.8):
            super().__init__(tau=tau)
            self.weight = torch.nn.Parameter(torch.tensor(torch.logit(torch.tensor(tau))))  # warning: [TLN706]

        @property
        def tau(self):
            return torch.sigmoid(self.weight)

        @tau.setter
        def tau(self, value):
            pass

    Parametric()


def a_number_where_a_number_was_given():
    """What is computed of a number on one path, and of a tensor on the other, is a tensor on the other alone."""
    import math

    def log(x):
        return math.log(x) if isinstance(x, float) else torch.log(x)

    def noise(t: float):
        return torch.tensor(log(t) * 0.25)

    def reflected(t: float):
        return torch.tensor(1 / -log(t))

    def absolute(t: float):
        return torch.tensor(abs(log(t)))

    def rebound(t: float):
        x = log(t)
        x *= 2
        return torch.tensor(x)

    sigmas = [(i + 2) / 8 for i in range(4)]
    for each in (noise, reflected, absolute, rebound):
        for t in sigmas:
            each(t)


def a_tensor_whichever_it_was():
    """Warns: To copy construct from a tensor"""
    import math

    def log(x):
        return math.log(x) if isinstance(x, float) else torch.log(x)

    def noise(t):
        return torch.tensor(log(t) * torch.ones(3))  # warning: [TLN706]

    def either(small):
        t = torch.rand(3) if small else torch.rand(4)
        return torch.tensor(t * 2)  # warning: [TLN706]

    noise(0.5)
    either(True)


def numbers_from_one_caller_and_a_tensor_from_another():
    """Warns: To copy construct from a tensor"""

    def scaled(factor):
        return torch.tensor(factor, dtype=torch.float32) * 2  # strict: [TLN706]

    scaled(2.0)
    scaled(torch.ones(3))


def a_number_where_nothing_is_given_and_a_tensor_from_a_caller():
    """Warns: To copy construct from a tensor"""

    def scaled(factor=0.5):
        return torch.tensor(factor, dtype=torch.float32) * 2  # strict: [TLN706]

    scaled()
    scaled(torch.ones(3))
