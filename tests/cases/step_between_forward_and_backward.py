# ruff: noqa
"""Programs for TLN202."""

import torch
import torch.nn.functional as F
from torch import nn


def generator_scored_before_the_critic_learns():
    """Raises: modified by an inplace operation"""
    generator = nn.Linear(2, 2)
    critic = nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
    opt_g = torch.optim.Adam(generator.parameters())
    opt_d = torch.optim.Adam(critic.parameters())
    fake = generator(torch.rand(3, 2))
    g_loss = -critic(fake).mean()
    d_loss = critic(fake.detach()).mean() - critic(torch.rand(3, 2)).mean()
    d_loss.backward()
    opt_d.step()  # error: [TLN202]
    g_loss.backward()
    opt_g.step()


def actor_and_critic():
    """Raises: modified by an inplace operation"""
    actor = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    critic = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    state, reward = torch.rand(8, 3), torch.rand(8, 1)
    action = actor(state)
    actor_loss = -critic(torch.cat([state, action], dim=1)).mean()
    value = critic(torch.cat([state, action.detach()], dim=1))
    critic_loss = F.mse_loss(value, reward)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()  # error: [TLN202]
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()


def step_per_task():
    """Raises: modified by an inplace operation"""
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = [net(torch.rand(3, 2)).pow(2).mean(), net(torch.rand(3, 2)).abs().mean()]
    for loss in losses:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # error: [TLN202]


def one_layer_learns_from_old_weights():
    """Holds: torch.allclose(first, second)"""
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    x = torch.rand(4, 2)
    a, b = layer(x).pow(2).sum(), layer(x).pow(2).sum()
    a.backward()
    first = layer.weight.grad.clone()
    optimizer.step()  # warning: [TLN202]
    optimizer.zero_grad()
    b.backward()
    second = layer.weight.grad.clone()


def weights_clipped_too_late():
    """Holds: w.grad == 6 and w == 1"""
    w = torch.tensor(3.0, requires_grad=True)
    loss = (w + 3.0).sum() * 6
    with torch.no_grad():
        w.clamp_(-1, 1)  # warning: [TLN202]
    loss.backward()


def step_after_every_backward():
    generator = nn.Linear(2, 2)
    critic = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    opt_g = torch.optim.Adam(generator.parameters())
    opt_d = torch.optim.Adam(critic.parameters())
    for real in torch.rand(3, 4, 2):
        fake = generator(torch.rand(4, 2))
        opt_d.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        opt_d.step()
        opt_g.zero_grad()
        (-critic(fake).mean()).backward()
        opt_g.step()


def both_backwards_first():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    a, b = net(torch.rand(3, 2)).pow(2).mean(), net(torch.rand(3, 2)).abs().mean()
    optimizer.zero_grad()
    a.backward()
    b.backward()
    optimizer.step()


def step_of_the_other_network():
    encoder, decoder = nn.Linear(2, 2), nn.Linear(2, 2)
    optimizer = torch.optim.SGD(decoder.parameters(), lr=0.1)
    code = encoder(torch.rand(3, 2))
    loss = code.pow(2).mean()
    optimizer.zero_grad()
    decoder(code.detach()).mean().backward()
    optimizer.step()
    loss.backward()


def target_network_follows():
    net, target = nn.Linear(2, 1), nn.Linear(2, 1)
    for p in target.parameters():
        p.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.rand(3, 4, 2):
        loss = F.mse_loss(net(x), target(x))
        with torch.no_grad():
            for p, t in zip(net.parameters(), target.parameters()):
                t.mul_(0.9).add_(p, alpha=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def values_computed_for_printing():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    before = net(torch.rand(3, 2)).mean()
    loss = net(torch.rand(3, 2)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(before.item(), loss.item())


def weights_that_autocast_copies():
    """Holds: net.weight.grad.abs().sum() > 0"""
    net = nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    context = eval("torch.autocast('cpu', torch.bfloat16)")
    with context:
        hidden = net(torch.ones(1, 3, requires_grad=True))
    loss = hidden.float().sum()
    nn.init.zeros_(net.weight)  # warning: [TLN202]
    loss.backward()
    opt.step()


def networks_are_arguments():
    """Raises: modified by an inplace operation"""
    import pickle

    def fit(G, D, batches, criterion):
        opt_g = torch.optim.Adam(G.parameters())
        opt_d = torch.optim.Adam(D.parameters())
        for real in batches:
            fake = G(torch.randn(8, 4))
            loss_g = criterion(D(fake), torch.ones(8, 1))
            loss_d = criterion(D(real), torch.ones(8, 1)) + criterion(D(fake.detach()), torch.zeros(8, 1))
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()  # warning: [TLN202]
            opt_g.zero_grad()
            loss_g.backward()
            opt_g.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    generator, critic, loss = pickle.loads(pickle.dumps((nn.Linear(4, 4), deep, nn.BCEWithLogitsLoss())))
    fit(generator, critic, torch.rand(2, 8, 4), loss)


def actor_and_critic_are_attributes():
    """Raises: modified by an inplace operation"""
    import pickle

    class Agent:
        def __init__(self, actor, critic):
            self.actor, self.critic = actor, critic
            self.actor_opt = torch.optim.Adam(self.actor.parameters())
            self.critic_opt = torch.optim.Adam(self.critic.parameters())

        def update(self, state, reward):
            q = self.critic(torch.cat([state, self.actor(state)], 1))
            critic_loss = F.mse_loss(q, reward)
            actor_loss = -q.mean()
            self.critic_opt.zero_grad()
            critic_loss.backward(retain_graph=True)
            self.critic_opt.step()  # warning: [TLN202]
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()

    deep = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 1))
    actor, critic = pickle.loads(pickle.dumps((nn.Linear(4, 2), deep)))
    Agent(actor, critic).update(torch.rand(8, 4), torch.rand(8, 1))


def generator_steps_before_the_other_loss():
    """Raises: modified by an inplace operation"""
    import pickle

    def fit(gen, disc, batches):
        bce = nn.BCEWithLogitsLoss()
        d_opt, g_opt = torch.optim.SGD(disc.parameters(), lr=0.1), torch.optim.SGD(gen.parameters(), lr=0.1)
        for real in batches:
            fake = gen(torch.rand(8, 4))
            g_loss = bce(disc(fake), torch.ones(8, 1))
            g_opt.zero_grad()
            g_loss.backward(retain_graph=True)
            g_opt.step()  # warning: [TLN202]
            d_loss = bce(disc(real), torch.ones(8, 1)) + bce(disc(fake), torch.zeros(8, 1))
            d_opt.zero_grad()
            d_loss.backward()
            d_opt.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    generator, critic = pickle.loads(pickle.dumps((deep, nn.Linear(4, 1))))
    fit(generator, critic, torch.rand(2, 8, 4))


def given_networks_one_after_the_other():
    import pickle

    def fit(G, D, batches, criterion):
        opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
        for real in batches:
            fake = G(torch.randn(8, 4))
            loss_d = criterion(D(real), torch.ones(8, 1)) + criterion(D(fake.detach()), torch.zeros(8, 1))
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()
            loss_g = criterion(D(fake), torch.ones(8, 1))
            opt_g.zero_grad()
            loss_g.backward()
            opt_g.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    generator, critic, loss = pickle.loads(pickle.dumps((nn.Linear(4, 4), deep, nn.BCEWithLogitsLoss())))
    fit(generator, critic, torch.rand(2, 8, 4), loss)


def given_networks_apart_by_detach_and_by_a_helper():
    import pickle

    def advantage(actor, critic, batches):
        oa, oc = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
        for s in batches:
            value, score = critic(s), actor(s)
            oc.zero_grad()
            F.mse_loss(value, torch.ones(8, 1)).backward()
            oc.step()
            actor_loss = -(score * (1 - value.detach())).mean()
            oa.zero_grad()
            actor_loss.backward()
            oa.step()

    def helper(a, b, batches, criterion):
        oa, ob = torch.optim.Adam(a.parameters()), torch.optim.Adam(b.parameters())

        def loss_of(net, x):
            return criterion(net(x), torch.ones(8, 1))

        for x in batches:
            loss_a, loss_b = loss_of(a, x), loss_of(b, x)
            ob.zero_grad()
            loss_b.backward()
            ob.step()
            oa.zero_grad()
            loss_a.backward()
            oa.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    wide = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    a, b, loss = pickle.loads(pickle.dumps((deep, wide, nn.BCEWithLogitsLoss())))
    advantage(a, b, torch.rand(2, 8, 4))
    helper(a, b, torch.rand(2, 8, 4), loss)


def optimizer_that_code_elsewhere_was_given():
    """Raises: modified by an inplace operation"""
    prepare = eval("lambda optimizer: optimizer")
    x = torch.rand(3, 4, requires_grad=True)
    norm = nn.BatchNorm1d(4)
    optimizer = torch.optim.SGD(norm.parameters(), lr=0.1)
    total = 0
    for _ in range(2):
        prepared = prepare(optimizer)
        optimizer.zero_grad()
        total = total + norm(x).mean()
        total.backward(retain_graph=True)  # smell: [TLN102]
        optimizer.step()  # warning: [TLN202]


def optimizer_in_a_list_that_code_elsewhere_was_given():
    def freeze(optimizers):
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    p.requires_grad_(False)
        return optimizers

    prepare = eval("freeze")
    x = torch.rand(3, 4, requires_grad=True)
    norm = nn.BatchNorm1d(4)
    optimizer = torch.optim.SGD(norm.parameters(), lr=0.1)
    total = 0
    for _ in range(2):
        prepare([optimizer])
        optimizer.zero_grad()
        total = total + norm(x).mean()
        total.backward(retain_graph=True)  # smell: [TLN102]
        optimizer.step()


def backward_called_by_code_elsewhere():
    wrap = eval("lambda function: function")
    net = nn.Linear(2, 1)
    wrap(net(torch.ones(1, 2)).sum().backward)()
    for p in net.parameters():
        p.grad.zero_()  # strict: [TLN401]
    first, *_ = eval("lambda several: several")([net(torch.ones(1, 2)).sum().backward])
    net.zero_grad()
    first()
    net.weight.grad.zero_()  # strict: [TLN401]


def recurrent_state_carried_over_steps():
    """Raises: modified by an inplace operation"""
    cell = nn.GRUCell(4, 4)
    opt = torch.optim.SGD(cell.parameters(), lr=0.1)
    h = torch.zeros(3, 4)
    for t in range(3):
        h = cell(torch.randn(3, 4), h)
        opt.zero_grad()
        h.sum().backward(retain_graph=True)  # smell: [TLN102]
        opt.step()  # error: [TLN202]


def recurrent_state_cut_at_each_step():
    """No backward comes to a cell of an earlier iteration."""
    cell = nn.GRUCell(4, 4)
    opt = torch.optim.SGD(cell.parameters(), lr=0.1)
    h = torch.zeros(3, 4)
    for t in range(3):
        h = cell(torch.randn(3, 4), h.detach())
        opt.zero_grad()
        h.sum().backward()
        opt.step()


def settings_from_the_command_line():
    """Raises: modified by an inplace operation"""
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=8)
    args = parser.parse_args([])

    class Generator(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.width = width
            self.layers = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))

        def forward(self, z):
            return self.layers(z)

    generator = Generator(args.width)
    optimizer = torch.optim.SGD(generator.parameters(), 0.1)
    score = generator(torch.rand(2, 5)).mean()
    score.backward(retain_graph=True)
    optimizer.step()  # error: [TLN202]
    score.backward()


def module_with_a_part_that_nobody_knows():
    """Raises: modified by an inplace operation"""
    import pickle

    class Net(nn.Module):
        def __init__(self, backbone):
            super().__init__()
            self.backbone = backbone
            self.head = nn.Linear(4, 4)
            self.last = nn.Linear(4, 1)

        def forward(self, x):
            return self.last(torch.relu(self.head(x)))

    net = Net(pickle.loads(pickle.dumps(nn.Linear(4, 4))))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    score = net(torch.rand(2, 4)).mean()
    score.backward(retain_graph=True)
    optimizer.step()  # error: [TLN202]
    score.backward()


def module_with_a_part_that_nobody_knows_and_a_new_forward():
    import pickle

    class Net(nn.Module):
        def __init__(self, backbone):
            super().__init__()
            self.backbone = backbone
            self.head = nn.Linear(4, 4)
            self.last = nn.Linear(4, 1)

        def forward(self, x):
            return self.last(torch.relu(self.head(x)))

    net = Net(pickle.loads(pickle.dumps(nn.Linear(4, 4))))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(2):
        score = net(torch.rand(2, 4)).mean()
        optimizer.zero_grad()
        score.backward()
        optimizer.step()


def optimizer_of_one_of_two():
    a, b = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    optimizer = torch.optim.SGD([a if eval("False") else b], lr=0.1)
    loss = (a * a).sum()
    loss.backward(retain_graph=True)  # strict: [TLN102]
    optimizer.step()
    loss.backward()



def second_loss_after_the_step_of_the_first():
    """Raises: modified by an inplace operation"""
    generator = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
    discriminator = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    g_step = torch.optim.SGD(generator.parameters(), lr=0.1)
    d_step = torch.optim.SGD(discriminator.parameters(), lr=0.1)
    for x in torch.rand(2, 3, 2):
        fake = discriminator(generator(x))
        d_loss = fake.mean()
        d_step.zero_grad()
        g_step.zero_grad()
        d_loss.backward(retain_graph=True)  # what the step does to it is told there
        d_step.step()  # error: [TLN202]
        g_loss = -fake.sum()
        g_loss.backward()
        g_step.step()



def adversaries_each_now_and_then():
    """Raises: modified by an inplace operation"""

    def train(generator, discriminator, every):
        g_step = torch.optim.SGD(generator.parameters(), lr=0.1)
        d_step = torch.optim.SGD(discriminator.parameters(), lr=0.1)
        for number, x in enumerate(torch.rand(2, 3, 2)):
            scores = discriminator(torch.cat([x, generator(x)]))
            d_step.zero_grad()
            d_loss = scores.pow(2).mean()
            if number % every == 0:
                d_loss.backward(retain_graph=True)
                d_step.step()  # error: [TLN202]
            if number % every == 0:
                g_step.zero_grad()
                g_loss = -scores[3:].mean()
                g_loss.backward()
                g_step.step()

    generator = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
    discriminator = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    train(generator, discriminator, 1)


def step_before_the_view_of_a_detached_leaf():
    """A view of what was written since has a new node, though its base was detached: nothing old is read."""
    x = torch.randn(3, 1, requires_grad=True)
    optimizer = torch.optim.Adam([x], lr=0.001)
    view = x.unflatten(0, (1, -1))
    squares = view * view
    squares.sum().backward()
    optimizer.step()
    x.detach_()
    torch.autograd.grad((squares * view).sum(), (squares, view))


def step_over_one_of_two_lists_before_the_view_of_a_leaf():
    """The optimizer may have been given the leaf: a view of it has a new node then, and nothing old is read."""
    x, w = torch.randn(3, 1, requires_grad=True), torch.randn(3, requires_grad=True)
    optimizer = torch.optim.Adam([x] if torch.rand(()).item() >= 0 else [w], lr=0.001)
    view = x.unflatten(0, (1, -1))
    squares = view * view
    squares.sum().backward()
    optimizer.step()
    x.detach_()
    torch.autograd.grad((squares * view).sum(), (squares, view))


def step_over_a_group_that_is_added_perhaps():
    """As above, of a group."""
    x, w = torch.randn(3, 1, requires_grad=True), torch.randn(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.001)
    optimizer.add_param_group({"params": [x] if torch.rand(()).item() >= 0 else []})
    view = x.unflatten(0, (1, -1))
    squares = view * view
    squares.sum().backward()
    optimizer.step()
    torch.autograd.grad((squares * view).sum(), (squares, view))


def step_under_the_old_node_of_a_view():
    """Raises: modified by an inplace operation"""
    x = torch.randn(3, 1, requires_grad=True)
    optimizer = torch.optim.Adam([x], lr=0.001)
    view = x.unflatten(0, (1, -1))
    squares = view * view
    squares.sum().backward(retain_graph=True)
    optimizer.step()  # error: [TLN202]
    x.detach_()
    squares.sum().backward()


def step_of_a_parameter_beside_unknown_ones():
    """Raises: modified by an inplace operation"""
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([*eval("[]"), w], lr=0.1)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    optimizer.step()  # error: [TLN202]
    loss.backward()
