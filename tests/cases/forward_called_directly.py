# ruff: noqa
"""Programs for TLN309."""

import torch
from torch import nn


def submodule():
    """Holds: calls == 0"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(3, 2)
            self.decoder = nn.Linear(2, 3)

        def forward(self, x):
            z = self.encoder.forward(x)  # smell: [TLN309]
            return self.decoder(z)

    net = Net()
    calls = 0

    def count(module, inputs, output):
        global calls
        calls += 1

    net.encoder.register_forward_hook(count)
    net(torch.rand(1, 3))


def predict_method():
    """Holds: seen == []"""

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x):
            return self.layer(x)

        def predict(self, x):
            return self.layer.forward(x).argmax(dim=1)  # smell: [TLN309]

    model = Classifier()
    seen = []
    model.layer.register_forward_hook(lambda m, i, o: seen.append(o))
    model.predict(torch.rand(1, 3))


def own_forward():
    class Classifier(nn.Linear):
        def predict(self, x):
            return self.forward(x).argmax(dim=1)

    Classifier(3, 2).predict(torch.rand(1, 3))


def many_calls():
    """Holds: len(seen) == 0"""
    one, other, seen = nn.Linear(2, 2), nn.Linear(2, 2), []
    one.register_forward_hook(lambda m, i, o: seen.append(o))
    y = one.forward(torch.rand(1, 2))  # smell: [TLN309]
    y = other.forward(y)
    y = one.forward(y)


def in_the_training_loop():
    """Holds: seen == []"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(2))

        def forward(self, x):
            return (x * self.w).sum()

    net = Net()
    seen = []
    net.register_forward_pre_hook(lambda m, i: seen.append(i))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        net.forward(torch.ones(2)).backward()  # smell: [TLN309]
        optimizer.step()


def sequential_by_name():
    """Holds: seen == []"""
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    seen = []
    net.register_forward_hook(lambda m, i, o: seen.append(o))
    y = net.forward(torch.rand(1, 2))  # smell: [TLN309]


def of_the_base_class():
    class Residual(nn.Conv1d):
        def forward(self, x):
            return x + super().forward(x)

    Residual(2, 2, 1)(torch.rand(1, 2, 4))


def of_the_base_class_by_name():
    class Base(nn.Module):
        def forward(self, x):
            return x + 1

    class Derived(Base):
        def forward(self, x):
            return Base.forward(self, x) * 2

    Derived()(torch.rand(2))


def own_call():
    class Net(nn.Module):
        def __call__(self, x):
            return self.forward(x.float())

        def forward(self, x):
            return x * 2

    Net()(torch.arange(3))


def recursion():
    class Tree(nn.Module):
        def forward(self, x, depth=2):
            return x if depth == 0 else self.forward(x, depth - 1) * 2

    Tree()(torch.rand(2))


def no_module():
    class Robot:
        def forward(self, metres):
            return metres

    Robot().forward(3)


def nobody_knows():
    def run(engine, x):
        return engine.forward(x)

    class Engine:
        def forward(self, x):
            return x

    run(Engine(), torch.rand(2))


def function_with_forward():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    Square.apply(torch.rand(2, requires_grad=True)).sum().backward()


def a_hook_that_is_commented_out():
    """Holds: Distance()(torch.ones(1, 3)).shape == (1, 2)"""

    class Distance(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 2)
            # self.net.register_forward_hook(print)

        def forward(self, x):
            return self.net.forward(x)  # strict: [TLN309]


def nobody_hooks():
    """Holds: Distance()(torch.ones(1, 3)).shape == (1, 2)"""

    class Distance(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 2)

        def forward(self, x):
            return self.net.forward(x)  # strict: [TLN309]


def hooked_under_another_name():
    """Holds: recorder.shapes == []"""

    class Recorder:
        def __init__(self, module):
            self.shapes = []
            module.register_forward_hook(self.save)

        def save(self, module, args, output):
            self.shapes.append(output.shape)

    class Pipeline(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(4, 2)
            self.decoder = nn.Linear(2, 4)

        def forward(self, x):
            return self.decoder(self.encoder.forward(x))  # smell: [TLN309]

    pipeline = Pipeline()
    recorder = Recorder(pipeline.encoder)
    pipeline(torch.rand(2, 4))
