# ruff: noqa
"""Programs for TLN308."""

import torch
from torch import nn


def forgotten():
    """Raises: cannot assign module before Module.__init__() call"""

    class Net(nn.Module):
        def __init__(self, hidden=8):
            self.fc1 = nn.Linear(4, hidden)  # error: [TLN308]
            self.fc2 = nn.Linear(hidden, 1)

        def forward(self, x):
            return self.fc2(torch.relu(self.fc1(x)))

    net = Net()


def too_late():
    """Raises: cannot assign parameters before Module.__init__() call"""

    class Embedding(nn.Module):
        def __init__(self, n, dim):
            self.n, self.dim = n, dim
            self.table = nn.Parameter(torch.randn(n, dim))  # error: [TLN308]
            super(Embedding, self).__init__()

        def forward(self, i):
            return self.table[i]

    Embedding(3, 2)


def indirect_base():
    """Raises: cannot assign module before Module.__init__() call"""

    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.name = "base"

    class Derived(Base):
        def __init__(self):
            self.layer = nn.Linear(2, 2)  # error: [TLN308]

        def forward(self, x):
            return self.layer(x)

    Derived()


def base_without_it():
    """Raises: cannot assign module before Module.__init__() call"""

    class Base(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(2, 2)  # error: [TLN308]

    class Derived(Base):
        def __init__(self):
            super().__init__()
            self.other = nn.Linear(2, 2)

        def forward(self, x):
            return self.other(self.layer(x))

    Derived()


def nothing_assigned_but_called():
    """Raises: object has no attribute '_backward_hooks'"""

    class Square(nn.Module):
        def __init__(self, power):  # error: [TLN308]
            self.power = power

        def forward(self, x):
            return x**self.power

    Square(2)(torch.rand(3))


def without_self():
    """Raises: missing 1 required positional argument: 'self'"""

    class Attention(nn.MultiheadAttention, nn.Module):
        def __init__(self, dim):
            nn.Module.__init__()  # error: [TLN308]
            self.q = nn.Linear(dim, dim)

    Attention(2)


def of_another_module():
    """Raises: cannot assign module before Module.__init__() call"""

    class Layer(nn.Linear, nn.Module):
        def __init__(self, dim):
            nn.Module().__init__()  # error: [TLN308]
            self.attention = nn.Linear(dim, dim)

    Layer(2)


def plain_values_first():
    class Net(nn.Module):
        def __init__(self, n):
            self.n = n
            super().__init__()
            self.layer = nn.Linear(n, n)

    Net(2)


def by_name_of_the_base():
    class Net(nn.Module):
        def __init__(self, n):
            nn.Module.__init__(self)
            self.layer = nn.Linear(n, n)

    Net(2)


def through_two_classes():
    class Base(nn.Module):
        def __init__(self):
            super(Base, self).__init__()

    class Middle(Base):
        pass

    class Derived(Middle):
        def __init__(self):
            Base.__init__(self)
            self.layer = nn.Linear(2, 2)

    Derived()


def no_init_at_all():
    class Square(nn.Module):
        def forward(self, x):
            return x**2

    Square()(torch.rand(3))


def not_a_module():
    class Trainer:
        def __init__(self):
            self.model = nn.Linear(2, 2)

    Trainer()


def mixin_before_the_module():
    class Named:
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.name = type(self).__name__

    class Net(Named, nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

    Net()


def in_both_branches():
    class Net(nn.Module):
        def __init__(self, quiet):
            if quiet:
                super().__init__()
            else:
                print("building")
                super().__init__()
            self.layer = nn.Linear(2, 2)

    Net(True)


def in_a_loop_over_the_bases():
    class Net(nn.Module):
        def __init__(self):
            for base in type(self).__bases__:
                base.__init__(self)
            self.layer = nn.Linear(2, 2)

    Net()


def abstract():
    class Base(nn.Module):
        def __init__(self):
            raise NotImplementedError

        def forward(self, x):
            return x

    assert Base


def subclasses_call_the_other_base_too():
    class Sampler(nn.Module):
        def __init__(self, seed):
            super().__init__()
            self.seed = seed

    class Pairwise(Sampler):
        def __init__(self, most):
            self.most = most

        def forward(self, x):
            return x[: self.most]

    class PairwiseSampler(Pairwise, Sampler):
        def __init__(self, most, seed):
            Sampler.__init__(self, seed)
            Pairwise.__init__(self, most)

    assert PairwiseSampler(2, 0)(torch.ones(3)).shape == (2,)
