# ruff: noqa
"""Programs for TLN305."""

import torch
from torch import nn


def counted_first():
    """Raises: optimizer got an empty parameter list"""
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    params = model.parameters()
    n = 0
    for p in params:
        n += p.numel()
    optimizer = torch.optim.Adam(params)  # error: [TLN305]


def two_optimizers_of_one_generator():
    """Raises: optimizer got an empty parameter list"""
    model = nn.Linear(2, 1)
    params = model.parameters()
    slow = torch.optim.SGD(params, lr=0.01)
    fast = torch.optim.SGD(params, lr=0.1)  # error: [TLN305]


def module_without_parameters():
    """Raises: optimizer got an empty parameter list"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.zeros(3, requires_grad=True)

        def forward(self, x):
            return x * self.w

    optimizer = torch.optim.SGD(Net().parameters(), lr=0.1)  # error: [TLN305]


def head_replaced_after_the_optimizer():
    """Holds: (net.fc.weight == before).all()"""

    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.fc = nn.Linear(2, 10)

        def forward(self, x):
            return self.fc(torch.relu(self.body(x)))

    net = Backbone()
    optimizer = torch.optim.Adam(net.parameters(), lr=1.0)
    net.fc = nn.Linear(2, 3)  # warning: [TLN305]
    before = net.fc.weight.detach().clone()
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.rand(4, 2)).sum().backward()
        optimizer.step()


def trains_another_model():
    """Holds: (student.weight == before).all()"""
    teacher, student = nn.Linear(2, 1), nn.Linear(2, 1)
    before = student.weight.detach().clone()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        loss = teacher(torch.rand(4, 2)).mean()
        loss.backward()
        optimizer.step()  # warning: [TLN305]


def listed_and_counted():
    model = nn.Linear(2, 1)
    params = list(model.parameters())
    print(sum(p.numel() for p in params))
    torch.optim.SGD(params, lr=0.1)
    print(sum(p.numel() for p in model.parameters()))
    torch.optim.SGD(model.parameters(), lr=0.1)


def optimizer_built_again():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    net = nn.Module()
    net.body, net.head = model, nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.head = nn.Linear(1, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.head(net.body(torch.rand(1, 2))).sum().backward()
    optimizer.step()


def group_added():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

        def forward(self, x):
            return self.head(self.body(x))

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.head = nn.Linear(2, 3)
    optimizer.add_param_group({"params": net.head.parameters()})
    net(torch.rand(1, 2)).sum().backward()
    optimizer.step()


def registered_by_computed_names():
    class Net(nn.Module):
        def __init__(self, n):
            super().__init__()
            for i in range(n):
                self.add_module(f"layer{i}", nn.Linear(2, 2))

    torch.optim.SGD(Net(3).parameters(), lr=0.1)


def filled_dict():
    class Net(nn.Module):
        def __init__(self, names):
            super().__init__()
            self.heads = nn.ModuleDict()
            for name in names:
                self.heads[name] = nn.Linear(2, 2)

    torch.optim.SGD(Net(["a", "b"]).parameters(), lr=0.1)


def layer_without_parameters():
    net = nn.Module()
    net.body, net.act = nn.Linear(2, 2), nn.ReLU()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.act = nn.Tanh()
    net.act(net.body(torch.rand(1, 2))).sum().backward()
    optimizer.step()


def gan():
    g, d = nn.Linear(2, 2), nn.Linear(2, 1)
    opt_g, opt_d = torch.optim.SGD(g.parameters(), 0.1), torch.optim.SGD(d.parameters(), 0.1)
    for _ in range(2):
        opt_d.zero_grad()
        d(g(torch.rand(1, 2)).detach()).sum().backward()
        opt_d.step()
        opt_g.zero_grad()
        d(g(torch.rand(1, 2))).sum().backward()
        opt_g.step()


def the_derived_class_has_them():
    class Base(torch.nn.Module):
        def optimizer(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    class Net(Base):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

    Net().optimizer()


def the_derived_class_builds_them():
    class Base(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.build()
            self.optimizer = torch.optim.SGD(self.parameters(), 0.1)

        def build(self):
            raise NotImplementedError

    class Net(Base):
        def build(self):
            self.layer = torch.nn.Linear(2, 2)

    Net()


def the_metaclass_adds_them():
    class Adds(type):
        def __call__(cls, *arguments):
            made = super().__call__(*arguments)
            made.layer = torch.nn.Linear(2, 2)
            return made

    class Net(torch.nn.Module, metaclass=Adds):
        def __init__(self):
            super().__init__()

    torch.optim.SGD(Net().parameters(), 0.1)


def decorated_init():
    def configurable(init):
        def wrapped(self, *arguments):
            init(self, *arguments)

        return wrapped

    class Net(torch.nn.Module):
        @configurable
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

    torch.optim.SGD(Net().parameters(), 0.1)


def one_of_two_reasons_to_leave():
    def build(xs, frozen=False):
        params = [x for x in xs if x.requires_grad]
        if frozen or not params:
            return None
        return torch.optim.SGD(params, 0.1)

    build([])


def used_in_part():
    net = nn.Linear(2, 2)
    params = net.parameters()
    device = next(params).device
    torch.optim.SGD(params, 0.1)
    params = net.parameters()
    if any(p.requires_grad for p in params):
        torch.optim.SGD(params, 0.1)
    params = net.parameters()
    for p in params:
        print(p.shape)
        break
    torch.optim.SGD(params, 0.1)


def frozen_head():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.head(self.body(x))

    net = Net()
    opt = torch.optim.SGD(net.parameters(), 0.1)
    net.head = nn.Linear(2, 3).requires_grad_(False)
    net(torch.ones(1, 2)).sum().backward()
    opt.step()


def put_back():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            return self.head(self.body(x))

    net = Net()
    opt = torch.optim.SGD(net.parameters(), 0.1)
    head = net.head
    net.head = nn.Linear(2, 3)
    net.head = nn.Sequential(head, nn.ReLU())
    net(torch.ones(1, 2)).sum().backward()
    opt.step()


def filled_by_a_callback():
    net = nn.Linear(2, 1)
    params = []
    net.apply(lambda module: params.extend(module.parameters()))
    torch.optim.SGD(params, 0.1)


def filled_by_a_method_that_a_name_picks():
    net = nn.Linear(2, 1)
    params = []
    net.apply(lambda module: getattr(params, eval("'extend'"))(module.parameters()))
    torch.optim.SGD(params, 0.1)


def filter_counted_first():
    """Raises: optimizer got an empty parameter list"""
    model = nn.Linear(2, 1)
    trained = filter(lambda p: p.requires_grad, model.parameters())
    print(sum(p.numel() for p in trained))
    optimizer = torch.optim.Adam(trained)  # error: [TLN305]


def chain_listed_first():
    """Raises: optimizer got an empty parameter list"""
    import itertools

    body, head = nn.Linear(2, 2), nn.Linear(2, 1)
    both = itertools.chain(body.parameters(), head.parameters())
    print(len(list(both)))
    optimizer = torch.optim.Adam(both)  # error: [TLN305]


def generator_function_gone_through():
    """Raises: optimizer got an empty parameter list"""

    def trained(model):
        for name, p in model.named_parameters():
            if "bias" not in name:
                yield p

    weights = trained(nn.Linear(2, 1))
    for p in weights:
        print(p.shape)
    optimizer = torch.optim.Adam(weights)  # error: [TLN305]


def all_frozen():
    """Raises: optimizer got an empty parameter list"""
    model = nn.Linear(2, 1).requires_grad_(False)
    optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)  # error: [TLN305]


def filter_before_the_freezing():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)).requires_grad_(False)
    trained = filter(lambda p: p.requires_grad, model.parameters())
    model[1].requires_grad_(True)
    optimizer = torch.optim.SGD(trained, lr=0.1)
    model(torch.rand(4, 2)).sum().backward()
    optimizer.step()


def some_filtered():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
    model(torch.rand(4, 2)).sum().backward()
    optimizer.step()


def generator_called_anew():
    def trained(model):
        for p in model.parameters():
            yield p

    model = nn.Linear(2, 1)
    print(sum(p.numel() for p in trained(model)))
    optimizer = torch.optim.Adam(trained(model))


def what_a_derived_class_trains():
    class Embedding:
        def __init__(self):
            self.trainable = []

        def fit(self, data, rate=0.1):
            optimizer = torch.optim.Adam(self.trainable, lr=rate)
            loss = self.loss(data)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    class Linear(Embedding):
        def __init__(self, features):
            super().__init__()
            self.W = torch.randn(features, 2, requires_grad=True)
            self.trainable = [self.W]

        def loss(self, data):
            return (data @ self.W).square().mean()

    Linear(3).fit(torch.rand(4, 3))


def layers_of_which_nobody_knows_whether_they_have_parameters():
    flag, layers = eval("True"), eval("2")
    torch.optim.SGD(nn.LSTM(2, 3, layers).parameters(), lr=0.1)
    torch.optim.SGD(nn.LayerNorm(2, elementwise_affine=flag).parameters(), lr=0.1)
    torch.optim.SGD(nn.Transformer(4, 1, layers).parameters(), lr=0.1)


def a_parametrised_value_is_assigned():
    def turned(start: torch.Tensor):
        holder = nn.Module()
        holder.D = nn.Parameter(torch.eye(3))
        torch.nn.utils.parametrizations.orthogonal(holder, "D")
        with torch.no_grad():
            holder.D = start
        return torch.optim.SGD(holder.parameters(), lr=0.1)

    turned(torch.eye(3))


def parameters_of_whatever_modules_are_given():
    class Training:
        def optimizer(self, *modules):
            return torch.optim.Adam([p for each in modules for p in each.parameters()])

    def of_all(**modules):
        parameters = []
        for each in modules.values():
            parameters += list(each.parameters())
        return torch.optim.SGD(parameters, lr=0.1)

    Training().optimizer(nn.Linear(2, 2), nn.Linear(2, 2))
    of_all(first=nn.Linear(2, 2))


def the_same_layers_assigned_again():
    def train(features):
        class Net(nn.Module):
            def __init__(self, n, layers=1):
                super().__init__()
                stack = []
                for _ in range(layers - 1):
                    stack.append(nn.Linear(n, n))
                    stack.append(nn.ReLU())
                self.layers = nn.Sequential(*stack).to("cpu")
                self.feat = nn.Linear(n, n)

            def forward(self, x):
                self.layers = self.layers
                return self.feat(self.layers(x))

        net = Net(features.shape[1], layers=2).to("cpu")
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
        before = net.layers[0].weight.detach().clone()
        for _ in range(2):
            optimizer.zero_grad()
            net(features).pow(2).sum().backward()
            optimizer.step()
        assert (net.layers[0].weight != before).any()

    train(torch.rand(4, 3))


def an_old_layer_under_another_name():
    class Net(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.blocks = nn.ModuleList([nn.Linear(n, n) for n in sizes])
            self.head = self.blocks[0]

        def forward(self, x):
            self.head = self.blocks[-1]
            return self.head(x)

    def train(sizes):
        net = Net(sizes)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.rand(4, 3)).sum().backward()
            optimizer.step()

    train([3, 3])


def a_hook_of_an_abstract_class_that_derived_ones_replace():
    import abc

    class Bound(nn.Module, abc.ABC):
        @abc.abstractmethod
        def forward(self, x):
            raise NotImplementedError

        def bound_parameters(self):
            return []

        @property
        def others(self):
            return ()

        def optimizers(self):
            slow = torch.optim.SGD(list(self.others), lr=0.1)
            return slow, torch.optim.SGD(list(self.bound_parameters()), lr=0.1)

    def parameter(self):
        return [torch.nn.Parameter(torch.ones(2))]

    made = type("Made", (Bound,), {"forward": parameter, "bound_parameters": parameter, "others": property(parameter)})
    made().optimizers()


def a_hook_of_a_class_that_can_be_made():
    """Raises: optimizer got an empty parameter list"""

    class Bound(nn.Module):
        def bound_parameters(self):
            return []

        def optimizer(self):
            return torch.optim.SGD(list(self.bound_parameters()), lr=0.1)  # error: [TLN305]

    Bound().optimizer()


def all_of_nothing_returns_first():
    class Bound(nn.Module):
        def bound_parameters(self):
            return []

        def optimizer(self):
            params = list(self.bound_parameters())
            if all([p.numel() == 0 for p in params]):
                return None
            return torch.optim.SGD(params, lr=0.1)

    Bound().optimizer()


def any_of_nothing_does_not_return():
    """Raises: optimizer got an empty parameter list"""

    class Bound(nn.Module):
        def bound_parameters(self):
            return []

        def optimizer(self):
            params = list(self.bound_parameters())
            if any(p.numel() == 0 for p in params):
                return None
            return torch.optim.SGD(params, lr=0.1)  # error: [TLN305]

    Bound().optimizer()
