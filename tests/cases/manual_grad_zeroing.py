# ruff: noqa
"""Programs for TLN401."""

import torch
from torch import nn


def textbook_loop():
    """Holds: (before == 0).all()"""
    w = torch.zeros(2, requires_grad=True)
    for _ in range(2):
        loss = (w - 1).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        before = w.grad
        w.grad.zero_()  # smell: [TLN401]


def through_data():
    """Holds: (kept == 0).all()"""
    w = torch.ones(2, requires_grad=True)
    (w * w).sum().backward()
    kept = w.grad
    w.grad.data.zero_()  # smell: [TLN401]


def loop_over_parameters():
    """Holds: all(p.grad is None for p in net.parameters())"""
    net = nn.Linear(2, 1)
    net(torch.rand(3, 2)).sum().backward()
    for p in net.parameters():
        p.grad = None  # strict: [TLN401]


def multiplied_by_zero():
    """Holds: (kept == 0).all()"""
    w = torch.ones(2, requires_grad=True)
    (w * w).sum().backward()
    kept = w.grad
    w.grad *= 0  # smell: [TLN401]


def before_the_first_backward():
    """Raises: 'NoneType' object has no attribute 'zero_'"""
    net = nn.Linear(2, 1)
    for _ in range(2):
        net.weight.grad.zero_()  # error: [TLN401]
        net(torch.rand(3, 2)).sum().backward()


def beside_an_optimizer():
    """Holds: image.grad is None"""
    image = torch.rand(2, 2, requires_grad=True)
    optimizer = torch.optim.Adam([image])
    for _ in range(2):
        image.pow(2).sum().backward()
        optimizer.step()
        image.grad = None  # strict: [TLN401]


def zero_grad_of_the_module():
    net = nn.Linear(2, 1)
    net.zero_grad()
    net(torch.rand(3, 2)).sum().backward()


def scaled_gradient():
    w = torch.ones(2, requires_grad=True)
    (w * w).sum().backward()
    w.grad *= 0.5
    w.grad.clamp_(-1, 1)


def clipped_by_hand():
    net = nn.Linear(2, 1)
    net(torch.rand(3, 2)).sum().backward()
    for p in net.parameters():
        p.grad.div_(p.grad.norm() + 1e-6)


def gradient_handed_over():
    w = torch.ones(2, requires_grad=True)
    w.grad = torch.rand(2)
    torch.optim.SGD([w], lr=0.1).step()


def attribute_of_another_class():
    class Scalar:
        def __init__(self, value):
            self.value, self.grad = value, 0.0

    s = Scalar(torch.ones(()))
    s.grad = None
    s.grad = 0.0


def buffer_called_grad():
    grad = torch.ones(3)
    grad.zero_()


def optimizer_written_by_hand():
    class Descent:
        def __init__(self, parameters):
            self.parameters = list(parameters)

        def zero_grad(self):
            for p in self.parameters:
                if p.grad is not None:
                    p.grad.zero_()

        @torch.no_grad()
        def step(self):
            for p in self.parameters:
                p -= 0.1 * p.grad

    net = nn.Linear(2, 1)
    descent = Descent(net.parameters())
    for _ in range(2):
        descent.zero_grad()
        net(torch.rand(3, 2)).pow(2).mean().backward()
        descent.step()


def reversible_block():
    """Holds: block.f.weight.grad is not None"""

    # The backward fills the parameters of `f`, too, which `autograd.grad` would not.
    class Reversible(nn.Module):
        def __init__(self, f):
            super().__init__()
            self.f = f

        def backward_pass(self, y, dy):
            kept, rest = torch.chunk(y, 2, dim=1)
            with torch.enable_grad():
                kept.requires_grad = True
                out = self.f(kept)
                torch.autograd.backward(out, dy)
            with torch.no_grad():
                dx = dy + kept.grad
                kept.grad = None  # strict: [TLN401]
            return dx

    block = Reversible(nn.Linear(2, 2))
    block.backward_pass(torch.ones(1, 4), torch.ones(1, 2))


def only_what_is_not_finite():
    """Holds: net.weight.grad is not None"""

    def drop(net):
        for p in net.parameters():
            if p.grad is not None and not torch.isfinite(p.grad).all():
                p.grad = None  # strict: [TLN401]

    net = nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    vars(nn).get("nothing", drop)(net)


def set_to_none_by_hand():
    """Holds: net.weight.grad is None"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=2.0"]
    # ///

    net = nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    for p in net.parameters():
        p.grad = None  # strict: [TLN401]


def where_an_older_release_would_fill_with_zeros():
    """Holds: net.weight.grad is None"""
    from torch import nn

    # /// script
    # dependencies = ["torch>=1.10,<2.3"]
    # ///

    net = nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    for p in net.parameters():
        p.grad = None  # strict: [TLN401]


def gradients_of_whatever_is_given():
    """Holds: all(each.grad is not None for each in weights)"""

    def adapt(params, model, x):
        loss = model(params, x).sum()
        gradients = torch.autograd.grad(loss, params)
        fast = [p - 0.1 * g for p, g in zip(params, gradients)]
        model(fast, x).sum().backward()
        for p in params:
            p.data = p.data - 0.1 * p.grad
            p.grad.zero_()  # strict: [TLN401]

    weights = [torch.ones(2, requires_grad=True), torch.zeros(1, requires_grad=True)]
    vars(torch).get("nothing", adapt)(weights, lambda given, x: x @ given[0] + given[1], torch.ones(3, 2))


def sum_called_by_code_elsewhere():
    retry = eval("lambda function: function()")
    w = torch.zeros(2, requires_grad=True)
    loss = retry((w - 1).pow(2).sum)
    loss.backward()
    print(w.grad.abs().sum())


def given_a_closure_whose_result_it_may_differentiate():
    class Fitted:
        def __init__(self):
            self.w = torch.ones(3, requires_grad=True)
            self.closure = lambda: (self.w**2).sum()

        def run(self, fit):
            fit(self.closure)
            self.w.grad.zero_()

    Fitted().run(eval("lambda closure: closure().backward()"))


def given_a_function_in_a_list():
    def run(fit):
        w = torch.ones(3, requires_grad=True)
        fit([lambda: (w**2).sum()])
        w.grad.zero_()

    run(eval("lambda closures: closures[0]().backward()"))


def given_a_local_function():
    def run(fit):
        w = torch.ones(3, requires_grad=True)

        def closure():
            return (w**2).sum()

        fit(closure)
        w.grad.zero_()

    run(eval("lambda closure: closure().backward()"))


def given_a_function_of_something_else():
    """Raises: 'NoneType' object has no attribute 'zero_'"""

    def run(fit):
        w = torch.ones(3, requires_grad=True)
        v = torch.ones(3, requires_grad=True)
        fit(lambda: (v**2).sum())
        w.grad.zero_()  # warning: [TLN401]

    run(eval("lambda closure: closure().backward()"))


def backward_by_a_name_that_is_chosen():
    import os

    w = torch.ones(2, requires_grad=True)
    for _ in range(2):
        loss = (w - 3).pow(2).sum()
        getattr(loss, os.environ.get("TORCHLINT_METHOD", "backward"))()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad.zero_()



def backward_by_a_function_that_is_made():
    import operator

    w = torch.ones(2, requires_grad=True)
    for _ in range(2):
        loss = (w - 3).pow(2).sum()
        operator.methodcaller("backward")(loss)
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad.zero_()



def backward_by_a_function_of_a_table():
    import os

    differentiate = {"plain": torch.Tensor.backward}[os.environ.get("TORCHLINT_HOW", "plain")]
    w = torch.ones(2, requires_grad=True)
    for _ in range(2):
        loss = (w - 3).pow(2).sum()
        differentiate(loss)
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad.zero_()


def another_method_has_differentiated():
    """Holds: (attack.delta.grad == 0).all()"""

    class Attack:
        def __init__(self, n):
            self.delta = torch.zeros(n, requires_grad=True)

        def learn(self):
            (self.delta - 1).pow(2).sum().backward()

        def forget(self):
            self.delta.grad.zero_()  # smell: [TLN401]

        def scale(self):
            self.delta.grad *= 0  # smell: [TLN401]

    attack = Attack(3)
    attack.learn()
    attack.forget()  # the object of an attack whose gradient the method before has filled
    attack.scale()


def the_caller_gives_what_leads_to_the_parameter():
    """Holds: (net.change.grad == 0).all()"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.change = nn.Parameter(torch.zeros(3))

        def train_on(self, changed, target):
            (changed - target).pow(2).sum().backward(retain_graph=True)
            self.change.grad.zero_()  # smell: [TLN401]

        def attack(self, x):
            self.train_on(self.change + x, x * 2)

    net = Net()
    net.attack(torch.ones(3))


def a_variable_of_the_file_that_somebody_else_differentiates():
    """Holds: (w.grad == 0).all()"""
    w = torch.ones(3, requires_grad=True)

    def forget():
        w.grad.zero_()  # smell: [TLN401]

    def learn():
        (w * w).sum().backward()
        forget()

    learn()


def two_kinds_of_attack():
    from torch.nn import functional as F

    def attack(model, x, y, bound="linf"):
        moved = x.clone().detach().requires_grad_()
        eta = torch.zeros_like(x, requires_grad=True)
        for _ in range(3):
            F.cross_entropy(model(moved), y).backward()
            if bound == "linf":
                eta = torch.clamp(moved.data + moved.grad.sign() - x.data, -0.1, 0.1)
                moved = (x.data + eta).detach().requires_grad_()
            if bound == "l2":
                F.cross_entropy(model(x + eta), y).backward()
                eta.data += eta.grad
                eta.grad.zero_()
        return x + eta

    attack(nn.Linear(3, 2), torch.rand(4, 3), torch.zeros(4, dtype=torch.long))
    attack(nn.Linear(3, 2), torch.rand(4, 3), torch.zeros(4, dtype=torch.long), "l2")


def one_of_two_tensors():
    """Holds: (w.grad == 0).all()"""
    import os

    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    if os.environ.get("TORCHLINT_OTHER"):
        w = torch.zeros(3, requires_grad=True)
    w.grad.zero_()  # smell: [TLN401]


def zeroed_and_not_dropped():
    """Holds: (kept == 0).all()"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.rand(3, 2)).sum().backward()
    kept = net.weight.grad
    optimizer.zero_grad(set_to_none=False)
    net.weight.grad.zero_()  # smell: [TLN401]


def dropped_or_zeroed():
    import os

    net = nn.Linear(2, 1)
    net(torch.rand(3, 2)).sum().backward()
    net.zero_grad(set_to_none=bool(os.environ.get("TORCHLINT_DROP")))
    with torch.no_grad():
        net.weight -= net.weight.grad


def dropped_by_zero_grad():
    """Raises: 'NoneType' object has no attribute 'zero_'"""

    class Trainer:
        def __init__(self):
            self.w = torch.ones(3, requires_grad=True)
            self.optimizer = torch.optim.SGD([self.w], lr=0.1)

        def step(self):
            self.optimizer.zero_grad()
            self.w.grad.zero_()  # error: [TLN401]

    Trainer().step()


def some_rows_are_frozen():
    atoms = torch.rand(5, 3, requires_grad=True)
    backbone = torch.tensor([True, True, False, False, False])
    optimizer = torch.optim.Adam([atoms])
    for _ in range(2):
        optimizer.zero_grad()
        atoms.pow(2).sum().backward()
        atoms.grad[backbone] = 0
        atoms.grad[:2] = 0.0
        optimizer.step()


def dropped_on_one_path():
    """Holds: (trainer.w.grad == 0).all()"""

    class Trainer:
        def __init__(self):
            self.w = torch.ones(3, requires_grad=True)
            self.optimizer = torch.optim.SGD([self.w], lr=0.1)

        def learn(self):
            (self.w * self.w).sum().backward()

        def step(self, fresh):
            if fresh:
                self.optimizer.zero_grad()
                self.learn()
            self.w.grad.zero_()  # smell: [TLN401]

    trainer = Trainer()
    trainer.learn()
    trainer.step(False)


def zeroed_twice_in_a_method():
    class Attack:
        def __init__(self, model):
            self.delta = torch.zeros(2, requires_grad=True)
            self.optimizer = torch.optim.SGD([self.delta], lr=0.1)

        def clear(self, how):
            self.optimizer.zero_grad(set_to_none=False)
            self.delta.grad.zero_()
            self.delta.grad.zero_()
            if how == "scale":
                self.delta.grad *= 0

    assert Attack


def a_parameter_of_no_module():
    """Holds: (attack.delta.grad == 0).all()"""

    class Attack:
        def __init__(self, model):
            self.model = model
            self.delta = nn.Parameter(torch.zeros(1, 3))

        def step(self, x, y):
            nn.functional.cross_entropy(self.model(x + self.delta), y).backward()
            self.delta.data += 0.1 * self.delta.grad.sign()
            self.delta.grad.zero_()  # smell: [TLN401]

    attack = Attack(nn.Linear(3, 2))
    attack.step(torch.rand(4, 3), torch.zeros(4, dtype=torch.long))


def gradient_made_by_an_engine():
    engine = eval("type('Engine', (), {'backward': staticmethod(lambda loss: loss.backward())})()")
    net = nn.Linear(3, 3)
    loss = net(torch.rand(1, 3)).exp().sum()
    engine.backward(loss)
    net.weight.grad.zero_()


def something_to_add_to():
    """Holds: all((p.grad == 1).all() for p in net.parameters())"""
    net = nn.Linear(2, 1)
    for p in net.parameters():
        p.grad = torch.zeros_like(p)  # strict: [TLN401]
    for p in net.parameters():
        p.grad += torch.ones_like(p)  # what a worker sends


def leaf_of_an_unknown_product():
    w = (eval("0.5") * torch.arange(4.0)).clone().requires_grad_()
    (w**3).sum().backward()
    w.grad.zero_()


def leaf_told_by_its_flag():
    """Holds: callable(scaled)"""

    def scaled(number):
        w = number * torch.arange(4.0)
        w.requires_grad = True
        (2 * w).sum().backward()
        w.grad.zero_()  # smell: [TLN401]

    scaled(0.5)


def gradient_that_is_retained():
    """Holds: bool((h.grad == 0).all())"""

    h = 2 * torch.rand(3, requires_grad=True)
    h.retain_grad()
    h.sum().backward()
    h.grad.zero_()  # smell: [TLN401]


def one_of_two_without_a_gradient():
    """Holds: bool((w.grad == 0).all())"""

    w, other = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    (2 * w).sum().backward()
    (w if eval("False") else other).grad = None
    w.grad.zero_()  # smell: [TLN401]


def guarded_by_one_of_two():
    w, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    holds = eval("bool")
    for x in torch.rand(3, 2):
        if (w if eval("True") else other).grad is not None:
            w.grad.zero_()
        if holds(w.grad is not None):
            w.grad.zero_()
        (w * x).sum().backward()


def zeroed_from_the_second_iteration_on():
    """Holds: bool(torch.allclose(v.grad, x))"""

    w = torch.ones(2, requires_grad=True)
    for number, x in enumerate(eval("torch.rand(3, 2)")):
        if number > 0:
            w.grad.zero_()
        (w * x).sum().backward()
    started, holds = False, eval("bool")
    v = torch.ones(2, requires_grad=True)
    for x in torch.rand(3, 2):
        if holds(started):
            v.grad.zero_()  # smell: [TLN401]
        (v * x).sum().backward()
        started = True


def all_leaves_after_a_step_by_hand():
    """Holds: (w.grad == 0).all() and (b.grad == 0).all()"""
    w, b = torch.zeros(2, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _ in range(2):
        loss = (torch.rand(4, 2) @ w + b - 1).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            b -= 0.1 * b.grad
        w.grad.zero_()  # strict: [TLN401]
        b.grad.zero_()


def leaves_that_a_function_steps():
    """Holds: (w.grad == 0).all() and (b.grad == 0).all()"""

    def descend(parameters, lr):
        for p in parameters:
            p.data -= lr * p.grad  # strict: [TLN207]

    w, b = torch.zeros(2, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _ in range(2):
        loss = (torch.rand(4, 2) @ w + b - 1).pow(2).sum()
        loss.backward()
        descend([w, b], 0.1)
        w.grad.zero_()  # strict: [TLN401]
        b.grad.zero_()


def leaves_that_a_function_steps_asked_for_none():
    """Holds: w.grad is not None and b.grad is not None"""

    def descend(parameters, lr):
        for p in parameters:
            p.data -= lr * p.grad  # strict: [TLN207]

    w, b = torch.zeros(2, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _ in range(2):
        loss = (torch.rand(4, 2) @ w + b - 1).pow(2).sum()
        if w.grad is not None:
            w.grad.data.zero_()  # strict: [TLN401]
            b.grad.data.zero_()
        loss.backward()
        descend([w, b], 0.1)


def one_leaf_is_forgotten_after_a_step():
    """Holds: (c.grad != 0).all() and (w.grad == 0).all()"""
    w, b, c = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _ in range(2):
        loss = (w + b + c - 1).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            b -= 0.1 * b.grad
            c -= 0.1 * c.grad  # warning: [TLN112]
        w.grad.zero_()  # smell: [TLN401]
        b.grad.zero_()


def all_parameters_in_a_loop():
    """Holds: all((p.grad == 0).all() for p in net.parameters())"""
    net = nn.Linear(2, 1)
    net(torch.rand(3, 2)).sum().backward()
    for p in net.parameters():
        if p.grad is not None:
            p.grad.zero_()  # strict: [TLN401]


def all_parameters_in_a_loop_and_a_gradient_is_kept():
    """Holds: (kept == 0).all()"""
    net = nn.Linear(2, 1)
    net(torch.rand(3, 2)).sum().backward()
    kept = net.weight.grad
    for p in net.parameters():
        p.grad.zero_()  # smell: [TLN401]


def parameter_of_an_object_that_its_class_calls_otherwise():
    """Holds: not weight.linears.grad.any()"""

    class Weight(nn.Module):
        def __init__(self):
            super().__init__()
            self.linears = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return (self.linears * x).sum()

    weight = Weight()
    weight(torch.ones(3)).backward()
    kept = weight.linears.grad
    weight.linears.grad.zero_()  # smell: [TLN401]
    weight(torch.zeros(3)).backward()


def leaf_of_an_unknown_product_whose_backward_is_handed_on():
    w = eval("0.5") * torch.arange(4.0)
    w.requires_grad = True
    eval("lambda function: function")((2 * w).sum().backward)()
    w.grad.zero_()


def leaf_of_an_unknown_product_in_a_function_that_is_handed_on():
    w = eval("0.5") * torch.arange(4.0)
    w.requires_grad = True
    eval("lambda function: function()")(lambda: w.sum().backward())
    w.grad.zero_()


def leaf_of_an_unknown_product_that_unknown_code_was_given():
    w = (eval("0.5") * torch.arange(4.0)).clone().requires_grad_()
    (eval("lambda tensor: tensor")(w) ** 3).sum().backward()
    w.grad.zero_()


def leaf_whose_gradient_is_not_what_nobody_knows():
    w = torch.zeros(2, 1, requires_grad=True)
    if w.grad is not torch.version.hip:  # None where torch is built without it
        w.grad.zero_()
    w.grad.zero_() if w.grad is not eval("None") else None
    w.grad is not eval("None") and w.grad.zero_()
    while w.grad is not eval("None"):
        w.grad.zero_()
        break


def parameter_of_a_module_with_a_forward_that_nobody_knows():
    """Holds: not weight.linears.grad.any()"""

    class Weight(nn.Module):
        def __init__(self):
            super().__init__()
            self.linears = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return (self.linears * x).sum()

    Weight.forward = eval("lambda method: method")(Weight.forward)
    weight = Weight()
    weight(torch.ones(3)).backward()
    weight.linears.grad.zero_()  # smell: [TLN401]


def leaf_of_an_object_with_a_method_that_nobody_knows():
    class Cell:
        def __init__(self):
            self.w = torch.ones(3, requires_grad=True)

        def loss(self, x):
            return (self.w * x).sum()

    Cell.loss = eval("lambda method: method")(Cell.loss)
    cell = Cell()
    cell.loss(torch.ones(3)).backward()
    cell.w.grad.zero_()


def leaves_of_which_one_gradient_is_not_what_nobody_knows():
    w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    if w.grad is not torch.version.hip:  # None where torch is built without it
        w.grad.zero_()
        b.grad.zero_()


def told_to_require_grad_on_one_path():
    number, told = eval("0.5"), eval("True")
    w = number * torch.arange(4.0)
    if told:
        w.requires_grad = True
    (2 * w).sum().backward()
    w.grad.zero_()


def told_what_nobody_knows():
    number, told = eval("0.5"), eval("True")
    w = number * torch.arange(4.0)
    w.requires_grad = told
    (2 * w).sum().backward()
    w.grad.zero_()


def gradient_of_one_that_tells_of_another():
    w = eval("torch.zeros")(2, 1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    for _ in range(2):
        loss = (torch.rand(4, 2) @ w + b - 1).pow(2).sum()
        if w.grad is not None:
            w.grad.data.zero_()
            b.grad.data.zero_()
        loss.backward()


def leaf_that_is_cut_on_one_way():
    """Holds: callable(scaled)"""

    def scaled(number):
        w = number * torch.arange(4.0)
        if eval("True"):
            w.detach_().requires_grad_()
        (2 * w).sum().backward()
        w.grad.zero_()  # smell: [TLN401]

    scaled(0.5)


def leaf_that_is_cut_on_one_way_inside_of_another():
    def scaled(number):
        w = number * (torch.arange(4.0) + eval("1"))
        if eval("True"):
            if eval("True"):
                w.detach_().requires_grad_()
        (2 * w).sum().backward()
        w.grad.zero_()

    scaled(0.5)


def differentiated_in_a_function_that_somebody_wraps():
    same = eval("lambda each: each")
    w = torch.ones(3, requires_grad=True)

    @same
    def step(q):
        q.backward(torch.ones_like(q))

    step(w)
    w.grad.zero_()


def backward_of_a_layer_whose_forward_nobody_knows():
    same = eval("lambda several: several")
    net = nn.Linear(2, 1)
    net.forward = same(net.forward)
    net(torch.ones(1, 2)).sum().backward()
    first, *_ = same([net(torch.ones(1, 2)).sum().backward])
    net.zero_grad()
    first()
    net.weight.grad.zero_()


def backward_unpacked_from_what_code_elsewhere_returns():
    net = nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    first, *_ = eval("lambda several: several")([net(torch.ones(1, 2)).to(eval("'cpu'")).sum().backward])
    net.zero_grad()
    first()
    net.weight.grad.zero_()


def forward_with_a_decorator_from_elsewhere():
    """Holds: (net.w.grad == 0).all()"""
    repeated = eval("lambda function: function")

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        @repeated
        def forward(self, x):
            return (self.w * x).sum()

    net = Net()
    net(torch.ones(3)).backward()
    net.w.grad.zero_()  # smell: [TLN401]


def loss_that_code_elsewhere_has_computed_of_a_network():
    net = nn.Linear(3, 1)
    loss = eval("lambda net: net(torch.ones(3)).sum()")(net)
    net.zero_grad()
    loss.backward()
    net.weight.grad.zero_()


def loss_of_a_network_among_others():
    net = nn.Linear(3, 1)
    losses = eval("lambda nets: [net(torch.ones(3)).sum() for net in nets]")([nn.Sequential(net)])
    net.zero_grad()
    losses[0].backward()
    net.weight.grad.zero_()
