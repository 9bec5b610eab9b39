# ruff: noqa
"""Programs for TLN306."""

import torch
from torch import nn


def scaled_initial_weights():
    """Holds: not w1.is_leaf and not w2.is_leaf"""
    w1 = torch.randn(4, 8, requires_grad=True) * 0.1  # warning: [TLN306]
    w2 = torch.randn(8, 1, requires_grad=True) * 0.1  # warning: [TLN306]
    loss = (torch.relu(torch.rand(2, 4) @ w1) @ w2).pow(2).mean()
    loss.backward()
    print(w1.grad)  # warning: [TLN109]
    print(w2.grad)  # warning: [TLN109]


def made_positive():
    """Holds: not x.is_leaf"""
    x = torch.zeros(3, requires_grad=True).exp()  # warning: [TLN306]
    (x**2).sum().backward()
    print(x.grad)  # warning: [TLN109]


def another_type():
    """Holds: not x.is_leaf"""
    x = torch.zeros(3, requires_grad=True).double()  # warning: [TLN306]
    (x**2).sum().backward()
    print(x.grad)  # warning: [TLN109]


def reshaped():
    """Holds: not kernel.is_leaf"""
    kernel = torch.rand(9, requires_grad=True).view(1, 1, 3, 3)  # warning: [TLN306]
    nn.functional.conv2d(torch.rand(1, 1, 5, 5), kernel).sum().backward()
    print(kernel.grad)  # warning: [TLN109]


def updated_by_assignment():
    """Raises: unsupported operand type(s) for *: 'float' and 'NoneType'"""
    w = torch.zeros(1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    x, y = torch.rand(5), torch.rand(5)
    for epoch in range(3):
        loss = (x * w + b - y).pow(2).mean()
        loss.backward()
        w = w - 0.1 * w.grad  # warning: [TLN306]
        b = b - 0.1 * b.grad  # warning: [TLN306]


def tensor_of_values_shifted():
    """Holds: not theta.is_leaf"""
    theta = torch.tensor([0.1, 0.2], requires_grad=True) + 1.0  # warning: [TLN306]
    energy = torch.sin(theta).sum()
    energy.backward()
    print(theta.grad)  # warning: [TLN109]


def attacked_network_is_an_argument():
    """Raises: 'NoneType' object has no attribute 'sign'"""

    def attack(model, x, y, eps):
        x_adv = x.clone().detach()
        x_adv.requires_grad = True
        for _ in range(10):
            loss = nn.functional.cross_entropy(model(x_adv), y)
            loss.backward()
            x_adv = x_adv + eps * x_adv.grad.sign()  # warning: [TLN306]
        return x_adv

    attack(vars(nn)["Linear"](3, 2), torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), 0.1)


def attacked_network_is_an_argument_and_the_result_is_clamped():
    """Raises: 'NoneType' object has no attribute 'sign'"""

    def attack(model, images, labels, steps):
        adversarial = images.detach().clone().requires_grad_(True)
        for _ in range(steps):
            model.zero_grad()
            loss = nn.functional.cross_entropy(model(adversarial), labels)
            loss.backward()
            adversarial = torch.clamp(adversarial + 0.1 * adversarial.grad.sign(), 0, 1)  # warning: [TLN306]
        return adversarial

    attack(vars(nn)["Linear"](3, 2), torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), 3)


def input_of_an_unknown_network_is_optimised_by_hand():
    """Raises: unsupported operand type(s) for *: 'float' and 'NoneType'"""
    model = vars(nn)["Linear"](3, 2)
    dream = torch.rand(1, 3, requires_grad=True)
    for _ in range(20):
        loss = -model(dream)[0, 1]
        loss.backward()
        dream = dream + 0.1 * dream.grad  # warning: [TLN306]


def attack_that_makes_a_leaf_each_time():
    def attack(model, x, y, eps):
        x_adv = x.clone().detach()
        for _ in range(3):
            x_adv.requires_grad = True
            loss = nn.functional.cross_entropy(model(x_adv), y)
            loss.backward()
            x_adv = x_adv + eps * x_adv.grad.sign()
            x_adv = x_adv.detach()
        return x_adv

    attack(vars(nn)["Linear"](3, 2), torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), 0.1)


def attack_that_retains_the_gradient():
    def attack(model, x, y, eps):
        x_adv = x.clone().detach().requires_grad_()
        for _ in range(3):
            nn.functional.cross_entropy(model(x_adv), y).backward()
            x_adv = x_adv + eps * x_adv.grad.sign()
            x_adv.retain_grad()
        return x_adv

    attack(vars(nn)["Linear"](3, 2), torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), 0.1)


def attack_that_leaves_after_one_step():
    def attack(model, x, y, eps):
        x_adv = x.clone().detach().requires_grad_()
        while True:
            nn.functional.cross_entropy(model(x_adv), y).backward()
            x_adv = x_adv + eps * x_adv.grad.sign()
            break
        return x_adv

    attack(vars(nn)["Linear"](3, 2), torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), 0.1)


def attack_on_a_copy_of_another_name():
    def attack(model, x, y, eps):
        start = x.clone().detach().requires_grad_()
        moved = start
        for _ in range(3):
            nn.functional.cross_entropy(model(start), y).backward()
            moved = moved + eps * start.grad.sign()
            start.grad = None
        return moved

    attack(vars(nn)["Linear"](3, 2), torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), 0.1)


def attack_in_a_helper_that_makes_a_leaf():
    def renew(x):
        x.requires_grad_()
        return x

    def attack(model, x, y, eps):
        x_adv = x.clone().detach().requires_grad_()
        for _ in range(3):
            nn.functional.cross_entropy(model(x_adv), y).backward()
            with torch.no_grad():
                x_adv = x_adv + eps * x_adv.grad.sign()
            renew(x_adv)
        return x_adv

    attack(vars(nn)["Linear"](3, 2), torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), 0.1)


def required_last():
    w = (torch.randn(4, 8) * 0.1).requires_grad_()
    (torch.rand(2, 4) @ w).sum().backward()
    assert w.grad is not None


def leaf_has_a_name():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.sum().backward()
    assert x.grad is not None


def non_leaf_on_purpose():
    x = torch.rand(3, requires_grad=True).clone()
    x.sum().backward()


def gradient_retained():
    x = torch.rand(3, requires_grad=True) * 2
    x.retain_grad()
    x.sum().backward()
    assert x.grad is not None


def differentiated_by_grad():
    x = torch.rand(3, requires_grad=True) * 2
    (slope,) = torch.autograd.grad(x.pow(2).sum(), x)


def updated_under_no_grad():
    w = torch.zeros(1, requires_grad=True)
    for _ in range(3):
        (w - 1).pow(2).sum().backward()
        with torch.no_grad():
            w = w - 0.1 * w.grad
        w.requires_grad_()


def inner_loop():
    w = torch.zeros(1, requires_grad=True)
    fast = w
    for _ in range(2):
        (g,) = torch.autograd.grad((fast - 1).pow(2).sum(), fast, create_graph=True)
        fast = fast - 0.1 * g
    fast.sum().backward()


def never_differentiated():
    x = torch.rand(3, requires_grad=True) * 2
    assert x.requires_grad


def on_the_same_device():
    x = torch.rand(3, requires_grad=True).to("cpu")
    x.sum().backward()
    assert x.grad is not None


def leaf_again_before_the_gradient_is_read():
    images = torch.rand(3, requires_grad=True)
    for _ in range(3):
        images.pow(2).sum().backward()
        images = images + 0.1 * images.grad.sign()
        images = images.clamp(0, 1).detach().requires_grad_()


def made_to_be_written():
    x = torch.rand(3, requires_grad=True) * 1
    x.sum().backward()
    y = torch.rand(3, requires_grad=True) + 0.5
    y.add_(1)
    y.sum().backward()


def leaf_is_the_argument():
    """The parameter of the function holds it."""

    def energy(x):
        flat = x.view(x.size(0), -1)
        return (flat @ flat.t()).sum()

    energy(torch.rand(2, 3, requires_grad=True)).backward()


def nobody_wants_its_gradient():
    h = torch.rand(3, requires_grad=True).tanh()
    a = h.detach().numpy().copy()
    a -= a.mean()
    h.sum().backward()


def moved_where_the_device_is_chosen():
    """Raises: Cannot copy out of meta tensor"""
    device = "meta" if torch.get_num_threads() else "cpu"
    w = torch.ones(3, requires_grad=True).to(device)  # warning: [TLN306]
    w.pow(2).sum().backward()
    print(w.grad)  # warning: [TLN109]


def moved_and_the_leaf_is_asked():
    device = "cpu" if torch.get_num_threads() else "cuda"
    w = torch.ones(3, requires_grad=True)
    there = w.to(device)
    there.pow(2).sum().backward()
    assert w.grad is not None


def moved_and_retained():
    device = "cpu" if torch.get_num_threads() else "cuda"
    w = torch.ones(3, requires_grad=True).to(device)
    w.retain_grad()
    w.pow(2).sum().backward()
    assert w.grad is not None


def step_by_hand_that_binds_the_name():
    """Holds: all(torch.equal(a, b) for a, b in zip(net.parameters(), before))"""
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    before = [p.detach().clone() for p in net.parameters()]
    net(torch.rand(2, 3)).sum().backward()
    with torch.no_grad():
        for p in net.parameters():
            p = p - 0.1 * p.grad  # warning: [TLN306]


def target_network_that_does_not_follow():
    """Holds: torch.equal(before, target.weight)"""
    net, target = nn.Linear(3, 2), nn.Linear(3, 2)
    before = target.weight.detach().clone()
    for p, t in zip(net.parameters(), target.parameters()):
        t = 0.01 * p + (1 - 0.01) * t  # warning: [TLN306]


def clipped_by_name():
    """Holds: torch.equal(before, net.weight)"""

    def clip(model, bound):
        for name, p in model.named_parameters():
            if p.requires_grad:
                p = torch.clamp(p, -bound, bound)  # warning: [TLN306]

    net = nn.Linear(3, 2)
    before = net.weight.detach().clone()
    clip(net, 0.01)


def new_values_are_collected():
    net = nn.Linear(3, 2)
    net(torch.rand(2, 3)).sum().backward()
    fast = []
    for p in net.parameters():
        p = p - 0.1 * p.grad
        fast.append(p)


def name_of_a_parameter_is_bound_and_written():
    net = nn.Linear(3, 2)
    net(torch.rand(2, 3)).sum().backward()
    for p in net.parameters():
        p = p.detach()
        p.sub_(0.1)
    for p in net.parameters():
        g = p.grad
        p = p.data
        p -= 0.1 * g


def parameters_initialised_by_what_gives_them_back():
    net = nn.Linear(3, 2)
    for p in net.parameters():
        p = nn.init.normal_(p)
    for p in net.parameters():
        p = p.requires_grad_(False)
