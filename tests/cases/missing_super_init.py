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


def of_another_module_where_something_may_be_assigned():
    """Raises: cannot assign module before Module.__init__() call"""

    class Layer(nn.Linear, nn.Module):
        def __init__(self, dim):
            nn.Module().__init__()  # warning: [TLN308]
            if eval("True"):
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


def a_buffer_too_early():
    """Raises: cannot assign buffer before Module.__init__() call"""

    class Net(nn.Module):
        def __init__(self, n):
            self.register_buffer("ones", torch.ones(n))  # error: [TLN308]
            super().__init__()

    Net(2)


def generic_and_abstract():
    """Raises: cannot assign module before Module.__init__() call"""
    import abc
    import typing

    T = typing.TypeVar("T")

    class Base(nn.Module, abc.ABC, typing.Generic[T]):
        @abc.abstractmethod
        def width(self): ...

    class Net(Base[int]):
        def __init__(self):
            self.layer = nn.Linear(2, 2)  # error: [TLN308]

        def width(self):
            return 2

    Net()


def bare_module_moved():
    """Raises: object has no attribute '_modules'"""

    class Power(nn.Module):
        def __init__(self, power):  # error: [TLN308]
            self.power = power

        def forward(self, x):
            return x**self.power

    Power(2).to("cpu")


def whoever_calls_it():
    """Raises: object has no attribute '_backward_hooks'"""

    class Power(nn.Module):
        def __init__(self, power):  # warning: [TLN308]
            self.power = power

        def forward(self, x):
            return x**self.power

    __import__("functools").reduce(lambda x, module: module(x), [Power(2)], torch.ones(1))


def run_by_name():
    class Power(nn.Module):
        def __init__(self, power):
            self.power = power

        def forward(self, x):
            return x**self.power

    def use(module):
        return module.forward(torch.ones(1))  # strict: [TLN309]

    use(Power(2))


def its_own_call():
    class Crop(nn.Module):
        def __init__(self, size):
            self.size = size

        def __call__(self, x):
            return x[: self.size]

        def forward(self, x):
            return x

    Crop(2)(torch.ones(3))


def metaclass_that_initialises():
    class Early(type):
        def __call__(cls, *arguments):
            made = cls.__new__(cls)
            nn.Module.__init__(made)
            made.__init__(*arguments)
            return made

    class Net(nn.Module, metaclass=Early):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def made_in_new():
    class Net(nn.Module):
        def __new__(cls, *arguments):
            made = super().__new__(cls)
            nn.Module.__init__(made)
            return made

        def __init__(self, n):
            self.layer = nn.Linear(n, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def decorated():
    def initialised(init):
        def wrapped(self, *arguments):
            nn.Module.__init__(self)
            init(self, *arguments)

        return wrapped

    class Net(nn.Module):
        @initialised
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def wrapped_for_every_subclass():
    class Base(nn.Module):
        def __init_subclass__(cls):
            init = cls.__init__

            def wrapped(self, *arguments):
                nn.Module.__init__(self)
                init(self, *arguments)

            cls.__init__ = wrapped

    class Net(Base):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def a_helper_of_the_object_does_it():
    class Net(nn.Module):
        def __init__(self, n):
            self.prepare()
            self.layer = nn.Linear(n, n)

        def prepare(self):
            super().__init__()

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def in_a_text():
    class Net(nn.Module):
        def __init__(self, n):
            exec("nn.Module.__init__(self)")
            self.layer = nn.Linear(n, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def the_derived_class_sees_to_it_first():
    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

    class Net(Base):
        def __init__(self, n):
            nn.Module.__init__(self)
            Base.__init__(self, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def a_class_of_an_unknown_base_sees_to_it_first():
    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

    class Net(eval("nn.Module")):
        def __init__(self, n):
            nn.Module.__init__(self)
            Base.__init__(self, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def a_class_whose_init_is_wrapped_sees_to_it_first():
    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

    class Net(eval("nn.Module")):
        def __init__(self, n):
            nn.Module.__init__(self)
            Base.__init__(self, n)

    Net.__init__ = eval("lambda given: given")(Net.__init__)
    Net(2)


def an_unknown_base_sees_to_it_first():
    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

    class Net(eval("nn.Module")):
        def __init__(self, n):
            super().__init__()
            Base.__init__(self, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def an_unknown_base_sees_to_it_before_an_init_that_is_handed_on():
    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

    class Net(eval("nn.Module")):
        def __init__(self, n):
            super().__init__()
            eval("lambda f: f")(Base.__init__)(self, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def an_unknown_base_sees_to_it_before_an_init_that_is_asked_for():
    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

    class Net(eval("nn.Module")):
        def __init__(self, n):
            super().__init__()
            vars(Base)["__init__"](self, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def an_unknown_base_sees_to_it_before_that_of_another_name():
    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

    other = Base

    class Net(eval("nn.Module")):
        def __init__(self, n):
            super().__init__()
            other.__init__(self, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def an_unknown_base_sees_to_it_before_that_of_what_is_wrapped():
    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)

    other = [Base]

    class Net(eval("nn.Module")):
        def __init__(self, n):
            super().__init__()
            eval("lambda found: found[0]")(other).__init__(self, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def run_by_hand_of_another_class():
    """Raises: cannot assign module before Module.__init__() call"""

    class Head(nn.Linear):
        def __init__(self, n):
            nn.Linear.__init__(self, n, 1)

    class Net(nn.Module):
        def __init__(self, n=2):
            self.layer = nn.Linear(n, n)  # error: [TLN308]

    eval("Net")()


def given_to_who_may_derive_from_it():
    """Raises: cannot assign module before Module.__init__() call"""

    class Base(nn.Module):
        def __init__(self, n):
            self.layer = nn.Linear(n, n)  # warning: [TLN308]

    eval("lambda cls: cls(2)")(Base)


def caught_and_done_again():
    class Net(nn.Module):
        def __init__(self, n):
            try:
                self.layer = nn.Linear(n, n)
            except AttributeError:
                super().__init__()
                self.layer = nn.Linear(n, n)

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def dataclass():
    import dataclasses

    @dataclasses.dataclass(eq=False)
    class Net(nn.Module):
        n: int

        def __post_init__(self):
            super().__init__()
            self.layer = nn.Linear(self.n, self.n)

        def forward(self, x):
            return self.layer(x)

    torch.optim.SGD(Net(2).parameters(), 0.1)


def done_by_a_method_that_is_replaced():
    class Net(nn.Module):
        def __init__(self, n):
            self.prepare()
            self.layer = nn.Linear(n, n)

        def prepare(self):
            super().__init__()

        def forward(self, x):
            return self.layer(x)

    Net.prepare = eval("lambda method: method")(Net.prepare)
    Net(2)(torch.ones(1, 2))


def unbound_super():
    """Raises: before Module.__init__() call"""

    class Net(nn.Module):
        def __init__(self):
            super(Net).__init__()
            self.layer = nn.Linear(2, 2)  # error: [TLN308]

    Net()


def unbound_super_that_is_given_something():
    """Raises: super() argument 1 must be type"""

    class Net(nn.Module):
        def __init__(self, n):
            super(Net).__init__(n)  # error: [TLN308]
            self.layer = nn.Linear(2, 2)

    Net(2)


def super_without_a_call():
    """Raises: of 'super' object needs an argument"""

    class Net(nn.Module):
        def __init__(self):
            super.__init__()  # error: [TLN308]
            self.layer = nn.Linear(2, 2)

    Net()


def unbound_super_of_a_module_without_layers():
    """Raises: object has no attribute"""

    class Net(nn.Module):
        def __init__(self):  # error: [TLN308]
            super(Net).__init__()
            self.width = 2

        def forward(self, x):
            return x * self.width

    Net()(torch.ones(2))


def bound_super():
    class Net(nn.Module):
        def __init__(self):
            super(Net, self).__init__()
            self.layer = nn.Linear(2, 2)

    Net()


def done_by_a_method_that_is_replaced_on_one_path():
    class Net(nn.Module):
        def __init__(self, n):
            self.prepare()
            self.layer = nn.Linear(n, n)

        def prepare(self):
            super().__init__()

        def forward(self, x):
            return self.layer(x)

    try:
        Net.prepare = eval("lambda method: method")(Net.prepare)
    except ValueError:
        pass
    Net(2)(torch.ones(1, 2))


def a_base_of_the_file_initialised_without_self():
    """Raises: missing 1 required positional argument"""

    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = 1

    class Net(Base):
        def __init__(self):
            Base.__init__()  # error: [TLN308]
            self.layer = nn.Linear(2, 2)

    Net()


def a_base_of_the_file_initialised_by_name():
    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = 1

    class Net(Base):
        def __init__(self):
            Base.__init__(self)
            self.layer = nn.Linear(2, 2)

    Net()


def before_a_base_of_the_file():
    """Raises: cannot assign module before Module.__init__() call"""

    class Base(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.width = width

    class Net(Base):
        def __init__(self, width=2):
            self.layer = nn.Linear(width, 1)  # error: [TLN308]
            super().__init__(width)

        def forward(self, x):
            return self.layer(x)

    Net()


def before_a_base_of_the_file_called_by_name():
    """Raises: cannot assign parameters before Module.__init__() call"""

    class Base(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.width = width

    class Middle(Base):
        def __init__(self, width):
            self.half = width // 2
            super().__init__(width)

    class Net(Middle):
        def __init__(self, width=2):
            self.scale = nn.Parameter(torch.ones(width))  # error: [TLN308]
            Middle.__init__(self, width)

        def forward(self, x):
            return x * self.scale

    Net()


def plain_values_before_a_base_of_the_file():
    class Base(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.width = width

    class Net(Base):
        def __init__(self, width=2):
            self.half = width // 2
            super().__init__(width)
            self.layer = nn.Linear(width, self.half)

        def forward(self, x):
            return self.layer(x)

    Net()(torch.ones(1, 2))


def handed_on_as_a_method_that_is_replaced_on_one_path():
    class Net(nn.Module):
        def __init__(self, n):
            eval("lambda *given: given[-1]")(self.prepare)()
            self.layer = nn.Linear(n, n)

        def prepare(self):
            super().__init__()

        def forward(self, x):
            return self.layer(x)

    try:
        Net.prepare = eval("lambda method: method")(Net.prepare)
    except ValueError:
        pass
    Net(2)(torch.ones(1, 2))


def handed_on_in_a_list():
    class Net(nn.Module):
        def __init__(self, n):
            eval("lambda *given: given[-1]")([self.prepare])[0]()
            self.layer = nn.Linear(n, n)

        def prepare(self):
            super().__init__()

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def handed_on_in_a_function():
    class Net(nn.Module):
        def __init__(self, n):
            eval("lambda *given: given[-1]")(lambda: self.prepare())()
            self.layer = nn.Linear(n, n)

        def prepare(self):
            super().__init__()

        def forward(self, x):
            return self.layer(x)

    Net(2)(torch.ones(1, 2))


def a_function_without_the_object_handed_on():
    """Raises: before Module.__init__() call"""

    class Net(nn.Module):
        def __init__(self, n):
            size = n + 1
            eval("lambda *given: given[-1]")(lambda: size + 1)()
            self.layer = nn.Linear(n, n)  # warning: [TLN308]

    Net(2)


def arguments_are_kept_by_their_names_first():
    class Net(nn.Module):
        def __init__(self, size, **options):
            self.arguments = {name: value for name, value in locals().items() if name not in {"self", "__class__"}}
            super().__init__()
            self.linear = nn.Linear(size, size)
            print(self.count)

        @property
        def count(self):
            return sum(each.numel() for each in self.parameters())

    Net(2)


def plain_class_two_classes_above_the_module():
    class Decoder:
        def __init__(self, genome):
            self.genome = genome

    class Staged(Decoder):
        def __init__(self, genome, stages):
            super().__init__(genome)
            self.stages = stages

    class Network(Staged, nn.Module):
        def __init__(self, genome, stages):
            Staged.__init__(self, genome, stages)
            nn.Module.__init__(self)
            self.first = nn.Linear(3, 3)

        def forward(self, x):
            return self.first(x)

    Network([1], 2)(torch.rand(2, 3)).sum().backward()
