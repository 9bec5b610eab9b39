# ruff: noqa
"""Programs for TLN402."""

import torch
from torch import nn


def textbook_regression():
    """Holds: model.bias.grad.item() == 4"""
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.ones(2, 1)
    for epoch in range(4):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()  # warning: [TLN402]


def trainer_class():
    """Holds: trainer.model.bias.grad.item() == 2"""

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = torch.optim.Adam(self.model.parameters())

        def step(self, x):
            loss = self.model(x).sum()
            loss.backward()
            self.optimizer.step()  # warning: [TLN402]
            return loss.item()

        def fit(self, batches):
            total = 0.0
            for x in batches:
                total += self.step(x)
            return total

    trainer = Trainer(nn.Linear(2, 1))
    trainer.fit([torch.rand(1, 2), torch.rand(1, 2)])


def everything_a_parameter():
    """Holds: net.bias.grad.item() == 2"""

    def train(model, loader, optimizer, device="cpu"):
        model.train()
        for batch_idx, data in enumerate(loader):
            data = data.to(device)
            loss = model(data).sum()
            loss.backward()
            optimizer.step()  # warning: [TLN402]
            if batch_idx % 10 == 0:
                print(batch_idx, loss.item())

    net = nn.Linear(2, 1)
    train(net, [torch.rand(1, 2), torch.rand(1, 2)], torch.optim.SGD(net.parameters(), lr=0.1))


def generator_is_forgotten():
    """Holds: g.weight.grad.item() != first.item()"""
    g, d = nn.Linear(1, 1, bias=False), nn.Linear(1, 1)
    opt_g = torch.optim.SGD(g.parameters(), lr=0.0)
    opt_d = torch.optim.SGD(d.parameters(), lr=0.0)
    z = torch.ones(4, 1)
    first = torch.autograd.grad(d(g(z)).mean(), g.weight)[0]
    for _ in range(2):
        opt_d.zero_grad()
        d_loss = d(g(z).detach()).mean() - d(z).mean()
        d_loss.backward()
        opt_d.step()
        g_loss = d(g(z)).mean()
        g_loss.backward()
        opt_g.step()  # warning: [TLN402]


def image_optimisation():
    """Holds: (image.grad == 3).all()"""
    image = torch.zeros(2, 2, requires_grad=True)
    optimizer = torch.optim.Adam([image], lr=0.1)
    step = 0
    while step < 3:
        image.sum().backward()
        optimizer.step()  # warning: [TLN402]
        step += 1


def mixed_precision():
    """Holds: model.bias.grad.item() > 1.5"""

    def train(model, loader, optimizer, scaler):
        for x in loader:
            loss = model(x).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)  # warning: [TLN402]
            scaler.update()

    model = nn.Linear(2, 1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1.0)
    train(model, [torch.ones(1, 2)] * 2, torch.optim.SGD(model.parameters(), lr=0.1), scaler)


def zeroed_in_a_helper():
    class Trainer:
        def __init__(self):
            self.model = nn.Linear(2, 1)
            self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)

        def reset_grad(self):
            self.opt.zero_grad(set_to_none=True)

        def fit(self, batches):
            for x in batches:
                self.reset_grad()
                self.model(x).sum().backward()
                self.opt.step()

    Trainer().fit([torch.rand(1, 2)] * 2)


def zeroed_after_the_step():
    def train(model, loader, optimizer):
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
            model.zero_grad()

    net = nn.Linear(2, 1)
    train(net, [torch.rand(1, 2)] * 2, torch.optim.SGD(net.parameters(), lr=0.1))


def every_fourth_batch():
    def train(model, loader, optimizer, k):
        for i, x in enumerate(loader):
            (model(x).sum() / k).backward()
            if (i + 1) % k == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()

    net = nn.Linear(2, 1)
    train(net, [torch.rand(1, 2)] * 5, torch.optim.SGD(net.parameters(), lr=0.1), 2)


def zeroed_by_hand():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(torch.rand(1, 2)).sum().backward()
        optimizer.step()
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = None


def closure():
    x = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.LBFGS([x])

    def closure():
        optimizer.zero_grad()
        loss = (x**2).sum()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)


def several_optimizers_in_a_list():
    def train(models, optimizers, x):
        for _ in range(2):
            for optimizer in optimizers:
                optimizer.zero_grad()
            sum(m(x).sum() for m in models).backward()
            for optimizer in optimizers:
                optimizer.step()

    nets = [nn.Linear(2, 1), nn.Linear(2, 1)]
    train(nets, [torch.optim.SGD(n.parameters(), lr=0.1) for n in nets], torch.rand(1, 2))


def new_optimizer_per_fold():
    for fold in range(2):
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.rand(1, 2)).sum().backward()
        optimizer.step()


def environment_steps():
    class Environment:
        def step(self, action):
            return action + 1

    env = Environment()
    policy = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        state = env.step(1.0)
        losses.append(policy(torch.tensor([state])))
    optimizer.zero_grad()
    torch.cat(losses).sum().backward()
    optimizer.step()


def zeroed_by_code_that_nobody_sees():
    def train(model, loader, optimizer, hooks):
        for x in loader:
            hooks.before_batch(model, optimizer)
            model(x).sum().backward()
            optimizer.step()

    class Hooks:
        def before_batch(self, model, optimizer):
            optimizer.zero_grad()

    net = nn.Linear(2, 1)
    train(net, [torch.rand(1, 2)] * 2, torch.optim.SGD(net.parameters(), lr=0.1), Hooks())


def inherited_reset():
    import types

    class Base:
        def _prepare(self):
            getattr(self, "opt").zero_grad()

    Loop = types.new_class("Loop", (Base,))

    class Trainer(Loop):
        def __init__(self, model):
            self.model = model
            self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

        def fit(self, batches):
            for x in batches:
                self._prepare()
                self.model(x).sum().backward()
                self.opt.step()

    Trainer(nn.Linear(2, 1)).fit([torch.rand(1, 2)] * 2)


def model_is_none_at_first():
    class Detector:
        def __init__(self):
            self.net = None

        def build(self):
            self.net = nn.Linear(2, 1)
            return self

        def fit(self, batches):
            optimizer = torch.optim.Adam(self.net.parameters())
            for x in batches:
                loss = self.net(x).mean()
                self.net.zero_grad()
                loss.backward()
                optimizer.step()

    Detector().build().fit(torch.rand(3, 4, 2))


def zeroed_all_at_once():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net(torch.rand(4, 2)).sum().backward()
        opt.step()
        torch._foreach_zero_([p.grad for p in net.parameters()])


def deleted():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net(torch.rand(4, 2)).sum().backward()
        opt.step()
        for p in net.parameters():
            del p.grad


def by_name():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net(torch.rand(4, 2)).sum().backward()
        opt.step()
        for p in net.parameters():
            setattr(p, "grad", None)


def after_each_step():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.register_step_post_hook(lambda optimizer, arguments, keywords: optimizer.zero_grad())
    for _ in range(3):
        net(torch.rand(4, 2)).sum().backward()
        opt.step()


def on_each_module():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net(torch.rand(4, 2)).sum().backward()
        opt.step()
        net.apply(lambda module: module.zero_grad())


def zeroed_unless_the_caller_wants_it_otherwise():
    def fit(net, data, optimizer, fresh=True):
        for x in data:
            if fresh:
                optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()

    def continued():
        net = nn.Linear(2, 1)
        fit(net, torch.rand(3, 4, 2), torch.optim.SGD(net.parameters(), lr=0.1), fresh=False)

    continued()


def zeroed_only_in_a_later_loop():
    """Holds: grown > 0"""
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad  # error: [TLN110]
        model(torch.ones(8, 4)).sum().backward()
        optimizer.step()  # warning: [TLN402]
    grown = float(model.bias.grad or 0) - 16
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(8, 4)).sum().backward()
        optimizer.step()


def zeroed_in_the_other_arm():
    """Holds: len(sums) == 3 and sums[0] < sums[1] < sums[2]"""
    sums = []

    def train(net, batches, criterion, optimizer):
        if isinstance(criterion, nn.CrossEntropyLoss):
            for x, y in batches:
                optimizer.zero_grad()
                criterion(net(x), y).backward()
                optimizer.step()
        else:
            for x, y in batches:
                loss = criterion(net(x), y)
                loss.backward()
                sums.append(net.weight.grad.abs().sum().item())
                optimizer.step()  # warning: [TLN402]

    net = nn.Linear(2, 1)
    batches = [(torch.ones(3, 2), torch.full((3, 1), 100.0)) for _ in range(3)]
    train(net, batches, nn.MSELoss(), torch.optim.SGD(net.parameters(), 1e-6))
