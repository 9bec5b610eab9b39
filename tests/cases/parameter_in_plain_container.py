# ruff: noqa
"""Programs for TLN302."""

import torch
from torch import nn


def appended_in_a_loop():
    """Holds: len(net.state_dict()) == 2"""

    class Net(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.blocks = []  # warning: [TLN302]
            for i, o in zip(sizes[:-1], sizes[1:]):
                self.blocks.append(nn.Linear(i, o))
            self.head = nn.Linear(sizes[-1], 1)

        def forward(self, x):
            for block in self.blocks:
                x = torch.relu(block(x))
            return self.head(x)

    net = Net([4, 8, 8])


def multi_task_heads():
    """Holds: len(list(net.parameters())) == 2"""

    class MultiTask(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 4)
            self.heads = {"age": nn.Linear(4, 1), "sex": nn.Linear(4, 2)}  # warning: [TLN302]

        def forward(self, x, task):
            return self.heads[task](self.body(x))

    net = MultiTask()


def own_blocks():
    """Holds: len(list(net.parameters())) == 0"""

    class Block(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.conv = nn.Conv1d(n, n, 3, padding=1)

        def forward(self, x):
            return self.conv(x)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = (Block(2), Block(2))  # warning: [TLN302]

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    net = Encoder()


def list_of_parameters():
    """Holds: len(list(net.parameters())) == 0"""

    class Prompts(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.prompts = [nn.Parameter(torch.randn(1, 4)) for _ in range(n)]  # warning: [TLN302]

        def forward(self, x):
            return torch.cat([*self.prompts, x])

    net = Prompts(3)


def nested_lists():
    """Holds: len(list(net.parameters())) == 0"""

    class Grid(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = [[nn.Linear(1, 1), nn.Linear(1, 1)], [nn.Linear(1, 1), nn.Linear(1, 1)]]  # warning: [TLN302]

        def forward(self, x):
            return self.cells[0][1](x)

    net = Grid()


def module_list():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
            self.scales = nn.ParameterList([nn.Parameter(torch.ones(1))])

    assert len(list(Net().parameters())) == 5


def also_in_a_sequential():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2)]
            self.net = nn.Sequential(*self.layers)

    assert len(list(Net().parameters())) == 4


def added_by_name():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = []
            for i in range(3):
                layer = nn.Linear(2, 2)
                self.add_module(f"layer{i}", layer)
                self.layers.append(layer)

    assert len(list(Net().parameters())) == 6


def hidden_on_purpose():
    class Distilled(nn.Module):
        def __init__(self):
            super().__init__()
            self.teacher = [nn.Linear(2, 2)]
            self.student = nn.Linear(2, 2)

    assert len(list(Distilled().parameters())) == 2


def nothing_to_train():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.activations = {"relu": nn.ReLU(), "tanh": nn.Tanh()}
            self.pools = [nn.MaxPool1d(2), nn.AvgPool1d(2)]

    assert len(list(Net().parameters())) == 0


def references_into_a_registered_module():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
            self.taps = [self.net[0], self.net[1]]

    assert len(list(Net().parameters())) == 4


def not_a_module():
    class Trainer:
        def __init__(self):
            self.models = [nn.Linear(2, 2), nn.Linear(2, 2)]

    assert len(Trainer().models) == 2


def frozen_networks():
    class Perceptual(nn.Module):
        def __init__(self):
            super().__init__()
            self.slices = [nn.Conv2d(3, 4, 3).requires_grad_(False), nn.Conv2d(4, 4, 3).requires_grad_(False)]

        def forward(self, x):
            return [s(x) for s in self.slices]

    assert len(Perceptual().slices) == 2


def extended_and_wrapped():
    class Block(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.linear = nn.Linear(i, o)

        def forward(self, x):
            return self.linear(x)

    class Net(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = []
            for i in range(len(sizes) - 1):
                self.layers += [Block(sizes[i], sizes[i + 1])]
            self.network = nn.Sequential(*self.layers)

        def forward(self, x):
            return self.network(x)

    assert len(list(Net([2, 3, 4]).parameters())) == 4


def gathered_by_a_method():
    class Cores(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.cores = []
            for size in sizes:
                self.cores.append(nn.Parameter(torch.ones(size)))
            self.gather()

        def gather(self):
            parameters = []
            for core in self.cores:
                if core is not None:
                    parameters.append(core)
            self.registered = nn.ParameterList(parameters)

        def forward(self, x):
            return sum((x * core.sum()).sum() for core in self.cores)

    assert len(list(Cores([2, 3]).parameters())) == 2


def one_of_several_is_chosen_and_registered():
    class Switched(nn.Module):
        def __init__(self):
            super().__init__()
            self.choices = {"wide": nn.Linear(2, 8), "narrow": nn.Linear(2, 2)}

        def choose(self, name):
            self.chosen = self.choices[name]

        def forward(self, x):
            return self.chosen(x)

    net = Switched()
    net.choose("wide")
    assert len(list(net.parameters())) == 2


def one_of_several_is_chosen_and_not_registered():
    """Holds: not list(net.parameters())"""

    class Switched(nn.Module):
        def __init__(self):
            super().__init__()
            self.choices = {"wide": nn.Linear(2, 8), "narrow": nn.Linear(2, 2)}  # warning: [TLN302]

        def forward(self, x, name="wide"):
            chosen = self.choices[name]
            return chosen(x)

    net = Switched()


def layer_on_one_arm():
    """Holds: not list(Net(True).parameters())"""

    class Net(nn.Module):
        def __init__(self, lateral):
            super().__init__()
            self.layers = []  # warning: [TLN302]
            for _ in range(3):
                self.layers.append(nn.Conv2d(1, 1, 1) if lateral else nn.Sequential())

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x


def layer_on_one_arm_registered_there():
    """The list is there for the order; each layer is registered under its name."""

    class Net(nn.Module):
        def __init__(self, lateral):
            super().__init__()
            self.first = nn.Conv2d(1, 1, 1) if lateral else nn.Sequential()
            self.layers = [self.first]

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    assert list(Net(True).parameters())
def fast_weights():
    class Attack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.weights = []
            for n in sizes:
                self.weights.append(nn.Parameter(torch.rand(n, n)))

        def inner_train(self, x, steps=2):
            for i in range(len(self.weights)):
                self.weights[i] = self.weights[i].detach().requires_grad_()
            for _ in range(steps):
                for w in self.weights:
                    x = x @ w
                grads = torch.autograd.grad(x.sum(), self.weights, create_graph=True)
                self.weights = [w - 0.1 * g for w, g in zip(self.weights, grads)]

    attack = Attack([3, 3])
    attack.inner_train(torch.rand(2, 3))


def elements_replaced_by_an_inner_loop():
    class Learner(nn.Module):
        def __init__(self):
            super().__init__()
            self.fast = [nn.Parameter(torch.ones(2)), nn.Parameter(torch.zeros(2))]

        def adapt(self, x):
            loss = (x * self.fast[0] + self.fast[1]).sum()
            grads = torch.autograd.grad(loss, self.fast)
            for i, g in enumerate(grads):
                self.fast[i] = self.fast[i] - 0.1 * g
            return self.fast

    Learner().adapt(torch.rand(3, 2))


def given_to_an_optimizer_as_they_are():
    class Surrogate(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = [nn.Parameter(torch.rand(3, 3)) for _ in range(2)]
            self.biases = [nn.Parameter(torch.zeros(3)) for _ in range(2)]

        def fit(self, x):
            optimizer = torch.optim.Adam(self.weights + self.biases, lr=0.1)
            for _ in range(2):
                optimizer.zero_grad()
                for w, b in zip(self.weights, self.biases):
                    x = x @ w + b
                x.sum().backward(retain_graph=True)
                optimizer.step()
                x = x.detach()

    net = Surrogate()
    net.fit(torch.rand(2, 3))


def given_to_an_optimizer_elsewhere():
    """Holds: len(list(net.parameters())) == 0"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = [nn.Parameter(torch.rand(3, 3)) for _ in range(2)]  # warning: [TLN302]

        def forward(self, x):
            for w in self.weights:
                x = x @ w
            return x

    net = Net()
    optimizer = torch.optim.Adam(net.weights, lr=0.1)
    net(torch.rand(2, 3)).sum().backward()
    optimizer.step()


def beside_layers_set_by_name():
    """Holds: len(list(net.parameters())) == 4"""

    class Net(nn.Module):
        def __init__(self, size, count):
            super().__init__()
            for i in range(count):
                setattr(self, f"first{i}", nn.Linear(size, size))
            self.hidden = []  # warning: [TLN302]
            for i in range(count):
                self.hidden.append(nn.Linear(size, size))

        def forward(self, x):
            for layer in self.hidden:
                x = layer(x)
            return x

    net = Net(2, 2)


def list_of_layers_set_by_name():
    class Net(nn.Module):
        def __init__(self, size, count):
            super().__init__()
            for i in range(count):
                setattr(self, f"layer{i}", nn.Linear(size, size))
            self.hidden = []
            for i in range(count):
                self.hidden.append(getattr(self, f"layer{i}"))

        def forward(self, x):
            for layer in self.hidden:
                x = layer(x)
            return x

    net = Net(2, 2)
    assert len(list(net.parameters())) == 4


def layers_of_a_list_set_by_name():
    class Net(nn.Module):
        def __init__(self, size, count):
            super().__init__()
            self.hidden = []
            for i in range(count):
                layer = nn.Linear(size, size)
                setattr(self, f"layer{i}", layer)
                self.hidden.append(layer)

        def forward(self, x):
            for layer in self.hidden:
                x = layer(x)
            return x

    net = Net(2, 2)
    assert len(list(net.parameters())) == 4


def placeholders_that_nothing_computes_with():
    class GAN(nn.Module):
        def __init__(self, shapes):
            super().__init__()
            self.data_inputs = [nn.Parameter(torch.empty(shape)) for shape in shapes]
            self.names = [f"data_{i}" for i in range(len(self.data_inputs))]
            self.layers = []
            for shape in shapes:
                self.layers.append(nn.Parameter(torch.empty(shape)))
            self.generator = nn.Linear(3, 3)

        def forward(self, noise, data):
            self.layers = [data]
            return self.generator(noise + self.layers[0])

    GAN([3, 3])(torch.rand(2, 3), torch.rand(2, 3))


def counted_and_computed_with():
    """Holds: len(list(net.parameters())) == 0"""

    class Prompts(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.prompts = [nn.Parameter(torch.rand(3)) for _ in range(n)]  # warning: [TLN302]
            self.n = len(self.prompts)

        def forward(self, x):
            return x + self.prompts[0] * self.n

    net = Prompts(2)
    net(torch.rand(2, 3))


def a_list_that_is_also_given_to_a_sequential():
    class Net(nn.Module):
        def __init__(self, widths):
            super().__init__()
            layers = [nn.Linear(3, 4)]
            for width in widths:
                layers.append(nn.Linear(4, width))
            self.layers = layers  # as it was
            self.encoder = nn.Sequential(*layers)

        def forward(self, x):
            return self.encoder(x)

    assert len(list(Net([4, 4]).parameters())) == 6


def a_list_beside_a_sequential_of_others():
    """Holds: len(list(Net([4, 4]).parameters())) == 2"""

    class Net(nn.Module):
        def __init__(self, widths):
            super().__init__()
            layers = [nn.Linear(3, 4)]
            for width in widths:
                layers.append(nn.Linear(4, width))
            self.layers = layers  # warning: [TLN302]
            self.encoder = nn.Sequential(nn.Linear(3, 4))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x


def a_list_whose_layers_go_into_a_sequential_one_by_one():
    class Net(nn.Module):
        def __init__(self, sizes, act=nn.Tanh):
            super().__init__()
            self.layers = []
            for i in range(len(sizes) - 1):
                self.layers.append(nn.Linear(sizes[i], sizes[i + 1]))
            parts = []
            for layer in self.layers[:-1]:
                parts.append(layer)
                parts.append(act())
            parts.append(self.layers[-1])
            self.model = nn.Sequential(*parts)

        def forward(self, x):
            return self.model(x)

    assert len(list(Net([3, 4, 2]).parameters())) == 4


def a_list_beside_a_sequential_of_other_layers():
    """Holds: len(list(net.parameters())) == 4"""

    class Net(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = []  # warning: [TLN302]
            for i in range(len(sizes) - 1):
                self.layers.append(nn.Linear(sizes[i], sizes[i + 1]))
            parts = []
            for i in range(len(sizes) - 1):
                parts.append(nn.Linear(sizes[i], sizes[i + 1]))
            self.model = nn.Sequential(*parts)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.model(x)

    net = Net([3, 4, 3])
