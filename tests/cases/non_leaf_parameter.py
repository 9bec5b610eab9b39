# ruff: noqa
"""Programs for TLN301."""

import torch
from torch import nn


def scaled_initial_value():
    """Holds: len(list(model.parameters())) == 0"""

    class Prototype(nn.Module):
        def __init__(self):
            super().__init__()
            self.centres = nn.Parameter(torch.randn(4, 2)) * 0.01  # error: [TLN301]

        def forward(self, x):
            return torch.cdist(x, self.centres)

    model = Prototype()


def moved_to_a_type():
    """Holds: 'log_var' not in dict(model.named_parameters())"""

    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = nn.Parameter(torch.zeros(2))
            self.log_var = nn.Parameter(torch.zeros(2)).to(torch.float64)  # error: [TLN301]

        def forward(self):
            return self.mean, self.log_var

    model = Gaussian()


def token_expanded():
    """Holds: len(model.state_dict()) == 0"""

    class Tokens(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.cls = nn.Parameter(torch.zeros(1, 1, 4)).repeat(n, 1, 1)  # error: [TLN301]

        def forward(self, x):
            return torch.cat([self.cls, x], dim=1)

    model = Tokens(2)


def positive_by_exp():
    """Raises: optimizer got an empty parameter list"""

    class Temperature(nn.Module):
        def __init__(self):
            super().__init__()
            self.temperature = torch.exp(nn.Parameter(torch.zeros(1)))  # error: [TLN301]

        def forward(self, logits):
            return logits / self.temperature

    optimizer = torch.optim.SGD(Temperature().parameters(), lr=0.1)  # error: [TLN305]


def reshaped():
    """Holds: not model.weight.is_leaf"""

    class Depthwise(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(9)).view(1, 1, 3, 3)  # error: [TLN301]

        def forward(self, x):
            return nn.functional.conv2d(x, self.weight)

    model = Depthwise()


def operation_inside():
    class Prototype(nn.Module):
        def __init__(self):
            super().__init__()
            self.centres = nn.Parameter(torch.randn(4, 2) * 0.01)

    assert len(list(Prototype().parameters())) == 1


def operation_in_forward():
    class Temperature(nn.Module):
        def __init__(self):
            super().__init__()
            self.log_temperature = nn.Parameter(torch.zeros(1))

        def forward(self, logits):
            return logits / self.log_temperature.exp()

    Temperature()(torch.rand(2, 3)).sum().backward()


def frozen():
    class Fixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.basis = nn.Parameter(torch.rand(3), requires_grad=False)
            self.other = nn.Parameter(torch.rand(3)).requires_grad_(False)

    assert len(list(Fixed().parameters())) == 2


def tied_weights():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(4, 2)
            self.head = nn.Linear(2, 4)
            self.head.weight = self.embedding.weight

    assert len(list(Tied().parameters())) == 2


def not_a_module():
    class Schedule:
        def __init__(self):
            self.weights = nn.Parameter(torch.rand(3)) ** 2

    Schedule().weights.sum().backward()


def plain_tensor():
    class Window(nn.Module):
        def __init__(self):
            super().__init__()
            self.window = torch.hann_window(4) ** 2

    assert Window().window.is_leaf


def on_the_device_it_is_given():
    """Holds: isinstance(Scaled("meta").weight, nn.Parameter) is False"""

    class Scaled(nn.Module):
        def __init__(self, device=torch.device("cpu")):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3)).to(device)  # warning: [TLN301]


def converted_to_the_type_it_has():
    """Holds: isinstance(module.weight, nn.Parameter)"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            dtype = torch.get_default_dtype()
            self.weight = nn.Parameter(torch.ones(2)).type(dtype)  # warning: [TLN301]

        def forward(self, x):
            return x * self.weight

    module = Net()


def converted_to_the_dtype_it_has():
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Parameter(torch.ones(3, dtype=torch.float32)).to(torch.float32)
            self.b = nn.Parameter(torch.ones(3)).to(dtype=torch.float)
            self.c = nn.Parameter(torch.ones(3, dtype=torch.float64)).double()
            self.d = nn.Parameter(torch.ones(3, dtype=torch.float64).float()).to(torch.float32)

    assert len(list(Scale().parameters())) == 4


def converted_to_another_dtype():
    """Holds: not list(Scale().parameters())"""

    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Parameter(torch.ones(3, dtype=torch.float64)).to(torch.float32)  # error: [TLN301]
            self.b = nn.Parameter(torch.ones(3, dtype=torch.float32)).double()  # error: [TLN301]


def frozen_parameter_converted():
    """Holds: 'phi' not in model.state_dict() and not model.phi.requires_grad"""

    class Shift(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.phi = nn.Parameter(torch.zeros(size), requires_grad=False).double()  # smell: [TLN301]

    model = Shift(3)


def the_device_of_the_class():
    class Base(nn.Module):
        home: torch.device = torch.device("cpu")

        def to(self, *args, **kwargs):
            self.home, *_ = torch._C._nn._parse_to(*args, **kwargs)
            return super().to(*args, **kwargs)

    class Scale(Base):
        def __init__(self, n):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(n)).to(self.home)

        def forward(self, x):
            return x * self.scale

    net = Scale(3)
    assert len(list(net.parameters())) == 1


def a_device_that_is_the_cpu():
    class Net(nn.Module):
        def __init__(self, n):
            super().__init__()
            device = torch.device("cpu")
            self.scale = nn.Parameter(torch.ones(n)).to(device)

    assert len(list(Net(3).parameters())) == 1


def perhaps_a_frozen_one():
    """Holds: not list(Net(True).parameters())"""

    class Net(nn.Module):
        def __init__(self, learn):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2), requires_grad=learn) * 2  # warning: [TLN301]

        def forward(self, x):
            return x * self.w

    Net(True)


def certainly_a_frozen_one():
    """Holds: not Net().state_dict()"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2), False) * 2  # smell: [TLN301]

    Net()


def one_that_is_made_a_parameter_again():
    class Net(nn.Module):
        def __init__(self, trainable):
            super().__init__()
            self.w = torch.ones(2)
            if torch.rand(()) < 2:
                self.w = nn.Parameter(self.w).double()
            if trainable:
                self.w = nn.Parameter(self.w)

    assert len(list(Net(True).parameters())) == 1


def one_that_is_a_parameter_in_the_other_arm():
    """Holds: not list(Net(True).parameters())"""

    class Net(nn.Module):
        def __init__(self, doubled):
            super().__init__()
            if doubled:
                self.w = nn.Parameter(torch.ones(2)).double()  # error: [TLN301]
            else:
                self.w = nn.Parameter(torch.ones(2))

    Net(True)
