# ruff: noqa
"""Programs for TLN101."""

import torch
import torch.nn.functional as F
from torch import nn


def unpacked_from_a_tuple_repeated_as_often_as_nobody_knows():
    w = torch.tensor(2.0, requires_grad=True)
    y = 2**w
    first, second = (y, w) * eval("1")
    first.backward()
    (w + second).backward()


def hidden_state_carried_over_batches():
    """Raises: Trying to backward through the graph a second time"""
    rnn = nn.RNN(2, 3, batch_first=True)
    head = nn.Linear(3, 1)
    optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    hidden = torch.zeros(1, 4, 3)
    for _ in range(3):
        optimizer.zero_grad()
        out, hidden = rnn(torch.rand(4, 5, 2), hidden)
        loss = head(out).mean()
        loss.backward()  # error: [TLN101]
        optimizer.step()


def hidden_state_kept_on_self():
    """Raises: Trying to backward through the graph a second time"""

    class Memory(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(2, 3)
            self.state = torch.zeros(4, 3)

        def forward(self, x):
            self.state = self.cell(x, self.state)
            return self.state

    memory = Memory()
    for _ in range(2):
        memory(torch.rand(4, 2)).pow(2).mean().backward()  # error: [TLN101]


def generator_and_discriminator_share_a_sample():
    """Raises: Trying to backward through the graph a second time"""
    generator, discriminator = nn.Linear(2, 3), nn.Linear(3, 1)
    fake = generator(torch.rand(4, 2)).tanh()
    verdict = discriminator(fake)
    d_loss = F.softplus(verdict).mean()
    d_loss.backward()
    g_loss = F.softplus(-verdict).mean()
    g_loss.backward()  # error: [TLN101]


def actor_and_critic_share_features():
    """Raises: Trying to backward through the graph a second time"""
    body, actor, critic = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 1)
    features = torch.relu(body(torch.rand(5, 4)))
    advantage = torch.rand(5)
    actor_loss = -(F.log_softmax(actor(features), dim=-1)[:, 0] * advantage).mean()
    critic_loss = (critic(features).squeeze(-1) - 1).pow(2).mean()
    actor_loss.backward()
    critic_loss.backward()  # error: [TLN101]


def features_computed_before_the_loop():
    """Raises: Trying to backward through the graph a second time"""
    encoder, head = nn.Linear(3, 3), nn.Linear(3, 1)
    features = torch.sigmoid(encoder(torch.rand(4, 3)))
    for _ in range(3):
        loss = head(features).pow(2).mean()
        loss.backward()  # error: [TLN101]


def running_total_of_losses():
    """Raises: Trying to backward through the graph a second time"""
    net = nn.Linear(2, 1)
    total = torch.zeros(())
    for _ in range(3):
        total = total + net(torch.rand(4, 2)).pow(2).mean()
        total.backward()  # error: [TLN101]


def two_gradients_of_one_output():
    """Raises: Trying to backward through the graph a second time"""
    x = torch.rand(3, requires_grad=True)
    t = torch.rand(3, requires_grad=True)
    u = (x * t).sin().sum()
    (u_x,) = torch.autograd.grad(u, x)
    (u_t,) = torch.autograd.grad(u, t)  # error: [TLN101]


def normalised_weight_built_in_init():
    """Raises: Trying to backward through the graph a second time"""

    class Normalised(nn.Module):
        def __init__(self):
            super().__init__()
            self.raw = nn.Parameter(torch.rand(3))
            self.weight = torch.softmax(self.raw, dim=0)

        def forward(self, x):
            return (x * self.weight).sum()

    model = Normalised()
    model(torch.rand(3)).backward()
    model(torch.rand(3)).backward()  # error: [TLN101]


def same_sum_twice_doubles_the_gradient():
    """Holds: (x.grad == 2).all()"""
    x = torch.rand(3, requires_grad=True)
    total = x.sum()
    total.backward()
    total.backward()  # warning: [TLN101]


def state_detached_in_place():
    cell = nn.GRUCell(2, 3)
    h = torch.zeros(4, 3)
    for _ in range(3):
        h = cell(torch.rand(4, 2), h)
        h.mean().backward()
        h.detach_()


def state_tuple_detached_by_a_comprehension():
    lstm = nn.LSTM(2, 3)
    state = None
    for _ in range(2):
        if state is not None:
            state = tuple(s.detach() for s in state)
        out, state = lstm(torch.rand(5, 4, 2), state)
        out.mean().backward()


def state_renewed_every_epoch():
    cell = nn.GRUCell(2, 3)
    for _ in range(2):
        h = torch.zeros(4, 3)
        for _ in range(3):
            h = cell(torch.rand(4, 2), h)
        h.mean().backward()


def discriminator_sees_a_detached_sample():
    generator, discriminator = nn.Linear(2, 3), nn.Linear(3, 1)
    fake = generator(torch.rand(4, 2))
    F.softplus(discriminator(fake.detach())).mean().backward()
    F.softplus(-discriminator(fake)).mean().backward()


def losses_in_different_branches():
    net = nn.Linear(2, 1)
    for step in range(4):
        out = net(torch.rand(3, 2)).pow(2)
        if step % 2:
            out.mean().backward()
        else:
            out.max().backward()


def linear_losses_share_a_sum():
    """`+` and `sum` save nothing: two losses over them are two passes, and meant."""
    x = torch.rand(3, requires_grad=True)
    shifted = x + 1
    (3 * shifted.sum()).backward()
    shifted.max().backward()


def gradients_of_a_linear_output():
    x = torch.rand(3, requires_grad=True)
    t = torch.rand(3, requires_grad=True)
    u = (x + t).sum()
    (u_x,) = torch.autograd.grad(u, x)
    (u_t,) = torch.autograd.grad(u, t)


def loop_variable_of_the_same_name():
    net = nn.Linear(2, 1)
    for batch in torch.rand(3, 4, 2):
        loss = net(batch).pow(2).mean()
        loss.backward()
    loss = net(torch.rand(4, 2)).mean()
    loss.backward()


def total_reset_after_backward():
    net = nn.Linear(2, 1)
    total = 0.0
    for step in range(4):
        total = total + net(torch.rand(4, 2)).pow(2).mean()
        if step % 2:
            total.backward()
            total = 0.0


def states_that_an_unknown_function_detaches():
    def train(repackage):
        rnn = nn.GRU(3, 4)
        state = torch.zeros(1, 2, 4)
        for _ in range(3):
            state = repackage(state)
            out, state = rnn(torch.rand(5, 2, 3), state)
            out.sum().backward()

    train(lambda state: state.detach())


def arithmetic_on_what_an_unknown_function_detaches():
    def train(cut):
        weight = torch.rand(3, requires_grad=True)
        state, other = torch.zeros(3), torch.zeros(3)
        for _ in range(3):
            state = torch.tanh(weight * (-cut(state) + cut(other)) + weight)
            state.sum().backward()

    train(torch.Tensor.detach)


def target_against_an_unknown_model():
    def train(x, model, optimizer):
        target = torch.sin(x)
        for _ in range(3):
            optimizer.zero_grad()
            loss = ((model(x) - target) ** 2).mean()
            loss.backward()
            optimizer.step()

    model = nn.Linear(2, 2)
    train(torch.rand(4, 2), model, torch.optim.SGD(model.parameters(), lr=0.1))


def states_that_nobody_detaches():
    """Raises: backward through the graph a second time"""
    rnn = nn.GRU(3, 4)
    state = torch.zeros(1, 2, 4)
    for _ in range(3):
        out, state = rnn(torch.rand(5, 2, 3), state)
        out.sum().backward()  # error: [TLN101]


def loss_of_a_criterion_that_nobody_knows():
    """Raises: backward through the graph a second time"""

    def train(model, criterion, optimizer, loader):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            loss.backward()  # warning: [TLN101]
            optimizer.step()

    net = vars(nn)["Linear"](2, 1)
    train(net, vars(nn)["MSELoss"](), torch.optim.SGD(net.parameters(), lr=0.1), [(torch.rand(4, 2), torch.rand(4, 1))])


def loss_made_before_the_loop():
    """Raises: backward through the graph a second time"""

    def fit(model, criterion, optimizer, x, y):
        loss = criterion(model(x), y)
        for _ in range(3):
            optimizer.zero_grad()
            loss.backward()  # warning: [TLN101]
            optimizer.step()

    net = vars(nn)["Linear"](2, 1)
    fit(net, vars(nn)["MSELoss"](), torch.optim.SGD(net.parameters(), lr=0.1), torch.rand(4, 2), torch.rand(4, 1))


def loss_under_another_name():
    """Raises: backward through the graph a second time"""

    def fit(model, criterion, x, y):
        loss = criterion(model(x), y)
        total = loss
        loss.backward()
        total.backward()  # warning: [TLN101]

    fit(vars(nn)["Linear"](2, 1), vars(nn)["MSELoss"](), torch.rand(4, 2), torch.rand(4, 1))


def tried_once_more():
    def fit(model, criterion, x, y):
        loss = criterion(model(x), y)
        try:
            loss.backward()
        except RuntimeError:
            loss.backward()

    fit(vars(nn)["Linear"](2, 1), vars(nn)["MSELoss"](), torch.rand(4, 2), torch.rand(4, 1))


def kept_by_a_setting():
    def fit(model, criterion, x, y, keep):
        loss = criterion(model(x), y)
        loss.backward(retain_graph=keep)
        loss.backward()

    fit(vars(nn)["Linear"](2, 1), vars(nn)["MSELoss"](), torch.rand(4, 2), torch.rand(4, 1), True)


def engine_with_a_backward():
    class Engine:
        def backward(self, *given):
            self.count = getattr(self, "count", 0) + 1

    def fit(engine, make, x):
        loss = engine.loss
        for _ in range(3):
            engine.backward(x)
            engine.backward()
            loss.backward()
        other = make(x)
        other.backward()
        other.backward()

    engine = Engine()
    engine.loss = Engine()
    fit(engine, lambda x: Engine(), torch.rand(2))


def one_of_two_ways():
    def fit(model, criterion, x, y, halves):
        loss = criterion(model(x), y)
        if halves:
            (loss / 2).backward()
        else:
            loss.backward()

    fit(vars(nn)["Linear"](2, 1), vars(nn)["MSELoss"](), torch.rand(4, 2), torch.rand(4, 1), False)


def closure_of_lbfgs_over_one_graph():
    """Raises: backward through the graph a second time"""
    w = torch.rand(3, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], max_iter=8)
    loss = (w.exp() - 2).pow(2).sum()

    def closure():
        optimizer.zero_grad()
        loss.backward()  # error: [TLN101]
        return loss

    optimizer.step(closure)  # warning: [TLN202]


def method_as_closure():
    """Raises: backward through the graph a second time"""

    class Fit:
        def __init__(self):
            self.w = torch.rand(3, requires_grad=True)
            self.optimizer = torch.optim.LBFGS([self.w])
            self.loss = (self.w.exp() - 2).pow(2).sum()

        def evaluate(self):
            self.optimizer.zero_grad()
            self.loss.backward()  # error: [TLN101]
            return self.loss

    fit = Fit()
    fit.optimizer.step(closure=fit.evaluate)  # warning: [TLN202]


def features_outside_of_the_closure():
    """Raises: backward through the graph a second time"""
    body, head = nn.Linear(4, 3), nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS([*body.parameters(), *head.parameters()], max_iter=5)
    features = torch.tanh(body(torch.rand(16, 4)))

    def closure():
        optimizer.zero_grad()
        loss = head(features).pow(2).mean()
        loss.backward()  # error: [TLN101]
        return loss

    optimizer.step(closure)  # warning: [TLN202]


def functional_call_differentiated_twice():
    """Raises: backward through the graph a second time"""
    from torch.func import functional_call

    net = nn.Linear(3, 1)
    weights = dict(net.named_parameters())
    inner = functional_call(net, weights, (torch.rand(8, 3),)).sigmoid().mean()
    slopes = torch.autograd.grad(inner, tuple(weights.values()))
    moved = {name: p - 0.1 * slope for (name, p), slope in zip(weights.items(), slopes)}
    outer = functional_call(net, moved, (torch.rand(8, 3),)).sigmoid().mean()
    (outer + inner).backward()  # error: [TLN101]


def closure_that_computes_anew():
    w = torch.rand(3, requires_grad=True)
    net = nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS([w, *net.parameters()], max_iter=8)
    x = torch.rand(4, 3)

    def closure():
        optimizer.zero_grad()
        loss = (net(x * w) - 1).pow(2).mean()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)


def closure_evaluated_once():
    w = torch.rand(3, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], max_iter=1)
    loss = (w.exp() - 2).pow(2).sum()

    def closure():
        optimizer.zero_grad()
        loss.backward()
        return loss

    optimizer.step(closure)


def closure_of_sgd():
    w = torch.rand(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    loss = (w.exp() - 2).pow(2).sum()

    def closure():
        loss.backward()
        return loss

    optimizer.step(closure)


def target_outside_of_the_closure():
    net, teacher = nn.Linear(3, 1), nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
    x = torch.rand(4, 3)
    target = teacher(x).detach()

    def closure():
        optimizer.zero_grad()
        loss = (net(x) - target).pow(2).mean()
        loss.backward()
        return loss

    optimizer.step(closure)


def gradient_of_a_product_holds_both_factors():
    """Raises: backward through the graph a second time"""
    gain = torch.tensor([1.0, 2.0], requires_grad=True)
    top = gain.max()
    loss = (gain * top).sum()
    (slope,) = torch.autograd.grad(loss, gain, create_graph=True)
    slope.sum().backward()
    top.backward()  # error: [TLN101]


def gradient_of_one_factor_holds_the_other():
    gain = torch.tensor([1.0, 2.0], requires_grad=True)
    rate = torch.tensor([1.0, 3.0], requires_grad=True)
    top = gain.max()
    loss = (rate * top).sum()
    (slope,) = torch.autograd.grad(loss, rate, create_graph=True)
    slope.sum().backward()
    rate.sum().backward()


def inner_and_outer_loss_of_functional_call():
    from torch.func import functional_call

    net = nn.Linear(3, 1)
    weights = dict(net.named_parameters())
    inner = functional_call(net, weights, (torch.rand(8, 3),)).sigmoid().mean()
    slopes = torch.autograd.grad(inner, tuple(weights.values()), create_graph=True)
    moved = {name: p - 0.1 * slope for (name, p), slope in zip(weights.items(), slopes)}
    outer = functional_call(net, moved, (torch.rand(8, 3),)).sigmoid().mean()
    outer.backward()
    print(net(torch.rand(8, 3)).mean(), weights["bias"].grad)


def custom_function_twice():
    """Raises: Trying to backward through the graph a second time"""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    y = Square.apply(torch.ones(3, requires_grad=True)).sum()
    y.backward()
    y.backward()  # error: [TLN101]


def custom_function_that_saves_nothing_twice():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    w = torch.ones(3, requires_grad=True)
    y = Double.apply(w)
    y.sum().backward()
    y.mean().backward()


def custom_function_applied_each_time():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    w = torch.ones(3, requires_grad=True)
    for _ in range(3):
        Square.apply(w).sum().backward()


def checkpoint_differentiated_twice():
    """Raises: Trying to backward through the graph a second time"""
    from torch.utils.checkpoint import checkpoint

    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    loss = checkpoint(net, torch.rand(4, 2), use_reentrant=False).sum()
    loss.backward()
    loss.backward()  # error: [TLN101]


def what_a_hook_keeps_and_what_comes_back():
    """Raises: Trying to backward through the graph a second time"""
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    features = {}
    net.register_forward_hook(lambda module, args, output: features.update(last=output))
    out = net(torch.rand(4, 2))
    features["last"].sum().backward()
    out.mean().backward()  # error: [TLN101]


def hook_that_keeps_each_output():
    """Each call of the Module replaces what the hook has kept."""
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    features = {}
    net.register_forward_hook(lambda module, args, output: features.update(last=output))
    for step in range(2):
        net(torch.rand(4, 2))
        features["last"].sum().backward()


def generated_samples_of_a_given_network_are_not_detached():
    """Raises: Trying to backward through the graph a second time"""
    import pickle

    def fit(G, D, batches):
        opt_g = torch.optim.Adam(G.parameters())
        opt_d = torch.optim.Adam(D.parameters())
        bce = nn.BCEWithLogitsLoss()
        for real in batches:
            fake = G(torch.randn(8, 4))
            d_loss = bce(D(real), torch.ones(8, 1)) + bce(D(fake), torch.zeros(8, 1))
            opt_d.zero_grad()
            d_loss.backward()
            opt_d.step()
            g_loss = bce(D(fake), torch.ones(8, 1))
            opt_g.zero_grad()
            g_loss.backward()  # warning: [TLN101]
            opt_g.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    generator, critic = pickle.loads(pickle.dumps((deep, nn.Linear(4, 1))))
    fit(generator, critic, torch.rand(2, 8, 4))


def given_critic_and_actor_share_the_advantage():
    """Raises: Trying to backward through the graph a second time"""
    import pickle

    class Agent:
        def __init__(self, actor, critic):
            self.actor, self.critic = actor, critic
            self.actor_opt = torch.optim.Adam(self.actor.parameters())
            self.critic_opt = torch.optim.Adam(self.critic.parameters())

        def update(self, state, reward):
            advantage = reward - self.critic(state)
            critic_loss = advantage.pow(2).mean()
            self.critic_opt.zero_grad()
            critic_loss.backward()
            self.critic_opt.step()
            actor_loss = -(self.actor(state) * advantage).mean()
            self.actor_opt.zero_grad()
            actor_loss.backward()  # warning: [TLN101]
            self.actor_opt.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    actor, critic = pickle.loads(pickle.dumps((nn.Linear(4, 1), deep)))
    Agent(actor, critic).update(torch.rand(8, 4), torch.rand(8, 1))


def features_of_a_given_network_before_the_loop():
    """Raises: Trying to backward through the graph a second time"""
    import pickle

    def fit(encoder, x, y, epochs):
        head = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
        features = encoder(x)
        for _ in range(epochs):
            optimizer.zero_grad()
            loss = F.mse_loss(head(features), y)
            loss.backward()  # warning: [TLN101]
            optimizer.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    fit(pickle.loads(pickle.dumps(deep)), torch.rand(8, 4), torch.rand(8, 1), 3)


def given_generator_detached_or_called_again():
    import pickle

    def detached(G, D, batches):
        opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
        for real in batches:
            fake = G(torch.randn(8, 4))
            d_loss = -D(real).mean() + D(fake.detach()).mean()
            opt_d.zero_grad()
            d_loss.backward()
            opt_d.step()
            g_loss = -D(fake).mean()
            opt_g.zero_grad()
            g_loss.backward()
            opt_g.step()

    def called_again(G, D, batches):
        opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
        for real in batches:
            d_loss = -D(real).mean() + D(G(torch.randn(8, 4))).mean()
            opt_d.zero_grad()
            d_loss.backward()
            opt_d.step()
            g_loss = -D(G(torch.randn(8, 4))).mean()
            opt_g.zero_grad()
            g_loss.backward()
            opt_g.step()

    def without_gradients(G, D, batches):
        opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
        for real in batches:
            with torch.no_grad():
                fake = G(torch.randn(8, 4))
            d_loss = -D(real).mean() + D(fake).mean()
            opt_d.zero_grad()
            d_loss.backward()
            opt_d.step()
            second = D(fake).pow(2).mean()
            second.backward()
            opt_d.step()
            opt_g.zero_grad()
            (-D(G(torch.randn(8, 4))).mean()).backward()
            opt_g.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    generator, critic = pickle.loads(pickle.dumps((deep, nn.Linear(4, 1))))
    for fit in (detached, called_again, without_gradients):
        fit(generator, critic, torch.rand(2, 8, 4))


def given_networks_of_which_one_arm_uses_another_call():
    import pickle

    def fit(encoder, head, batches, fresh):
        optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
        for x in batches:
            z = encoder(x)
            optimizer.zero_grad()
            if fresh:
                head(z).mean().backward()
                z = encoder(x)
                head(z).pow(2).mean().backward()
            else:
                head(z).mean().backward()
            optimizer.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    encoder, head = pickle.loads(pickle.dumps((deep, nn.Linear(4, 1))))
    fit(encoder, head, torch.rand(2, 8, 4), True)
    fit(encoder, head, torch.rand(2, 8, 4), False)


def parts_of_what_a_given_network_returns():
    import pickle

    def fit(encoder, heads, batches):
        optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
        for x in batches:
            z = encoder(x)
            leaf = z.detach().requires_grad_()
            optimizer.zero_grad()
            for head in heads:
                head(leaf).mean().backward()
            z.backward(leaf.grad)
            optimizer.step()

    deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    encoder, one, two = pickle.loads(pickle.dumps((deep, nn.Linear(4, 1), nn.Linear(4, 1))))
    fit(encoder, [one, two], torch.rand(2, 8, 4))
def either_of_two_graphs():
    """Raises: Trying to backward through the graph a second time"""
    w = torch.rand(3, requires_grad=True)
    y = w.exp()
    z = y * 2 if torch.rand(()).item() > 0.5 else y * 3
    z.sum().backward()
    z.sum().backward()  # error: [TLN101]


def each_graph_freed_on_a_path_of_its_own():
    """Either may be freed, and the other one read."""
    w = torch.rand(3, requires_grad=True)
    first, second = w.exp(), w.sin()
    early, late = torch.rand(()).item() > 2, torch.rand(()).item() > 2
    if early:
        first.sum().backward()
    if late:
        second.sum().backward()
    chosen = first if torch.rand(()).item() > 0.5 else second
    chosen.sum().backward()


def forward_that_differentiates_itself():
    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 1)

        def forward(self, x):
            y = self.lin(x).exp()
            loss = y.sum()
            loss.backward()
            return y, loss

    y, loss = Step()(torch.ones(1, 2))
    print(loss.item())
def state_of_a_given_network_carried_over_batches():
    """Raises: Trying to backward through the graph a second time"""
    import pickle

    def fit(model, criterion, batches, optimizer):
        state = None
        for x, y in batches:
            optimizer.zero_grad()
            out, state = model(x, state)
            loss = criterion(out, y)
            loss.backward()  # warning: [TLN101]
            optimizer.step()

    model, criterion = pickle.loads(pickle.dumps((nn.RNN(4, 3), nn.MSELoss())))
    fit(model, criterion, [(torch.rand(5, 2, 4), torch.rand(5, 2, 3))] * 2, torch.optim.SGD(model.parameters()))


def two_states_of_a_given_network_carried_over_batches():
    """Raises: Trying to backward through the graph a second time"""
    import pickle

    def fit(model, batches):
        h = c = torch.zeros(1, 2, 3)
        for x, y in batches:
            out, (h, c) = model(x, (h, c))
            F.mse_loss(out, y).backward()  # warning: [TLN101]

    fit(pickle.loads(pickle.dumps(nn.LSTM(4, 3))), [(torch.rand(5, 2, 4), torch.rand(5, 2, 3))] * 2)


def state_of_a_given_network_detached_or_begun_anew():
    import pickle

    def repackage(state):
        return state.detach() if isinstance(state, torch.Tensor) else tuple(repackage(each) for each in state)

    def detached(model, criterion, batches):
        state = torch.zeros(1, 2, 3)
        for x, y in batches:
            out, state = model(x, state.detach())
            criterion(out, y).backward()

    def by_a_helper(model, criterion, batches):
        state = torch.zeros(1, 2, 3)
        for x, y in batches:
            state = repackage(state)
            out, state = model(x, state)
            criterion(out, y).backward()

    def anew(model, criterion, batches):
        for x, y in batches:
            state, loss = None, 0
            for step, target in zip(x, y):
                out, state = model(step[None], state)
                loss = loss + criterion(out, target[None])
            loss.backward()

    def without_a_graph(model, criterion, batches):
        state = None
        for x, y in batches:
            with torch.no_grad():
                _, state = model(x, state)
            out, _ = model(x, state)
            criterion(out, y).backward()

    def retained(model, criterion, batches):
        state = None
        for x, y in batches:
            out, state = model(x, state)
            criterion(out, y).backward(retain_graph=True)

    model, criterion = pickle.loads(pickle.dumps((nn.RNN(4, 3), nn.MSELoss())))
    for fit in (detached, by_a_helper, anew, without_a_graph, retained):
        fit(model, criterion, [(torch.rand(5, 2, 4), torch.rand(5, 2, 3))] * 2)


def sum_of_a_given_criterion_differentiated_in_each_iteration():
    """Raises: Trying to backward through the graph a second time"""
    import pickle

    def fit(criterion, batches):
        model = nn.Linear(4, 3)
        total = 0
        for x, y in batches:
            total += criterion(model(x), y) / len(batches)
            total.backward()  # warning: [TLN101]

    fit(pickle.loads(pickle.dumps(nn.MSELoss())), [(torch.rand(2, 4), torch.rand(2, 3))] * 2)


def sum_of_a_given_criterion_differentiated_once():
    import pickle

    def fit(model, criterion, batches, every):
        total = 0
        for i, (x, y) in enumerate(batches):
            total += criterion(model(x), y)
            if i % every == 0:
                total.backward()
                total = 0
        total = 0
        for x, y in batches:
            total += criterion(model(x), y)
        total.backward()
        total = 0
        for x, y in batches:
            total = total + criterion(model(x), y)
            total.backward()
            total = total.detach()

    model, criterion = pickle.loads(pickle.dumps((nn.Linear(4, 3), nn.MSELoss())))
    fit(model, criterion, [(torch.rand(2, 4), torch.rand(2, 3))] * 3, 2)
def result_of_a_class_under_an_unknown_decorator():
    def leaving(cls):
        class Derived(cls):
            def __call__(self, *given):
                return super().__call__(*given).detach().requires_grad_()

        return Derived

    @eval("leaving")
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 4)

        def forward(self, x):
            return self.first(x).exp()

    y = Net()(torch.ones(1, 3))
    y.sum().backward()
    y.sum().backward()


def losses_of_which_each_has_a_graph_of_its_own():
    w = torch.arange(4.0, requires_grad=True)
    losses = [(w * i).sum() for i in range(eval("3"))]
    for loss in losses:
        loss.backward()


def losses_that_share_what_was_computed_before():
    """Raises: backward through the graph a second time"""
    w = torch.arange(4.0, requires_grad=True)
    features = w.exp()
    losses = [(features * i).sum() for i in range(eval("3"))]
    for loss in losses:
        loss.backward()  # error: [TLN101]


def two_made_before_the_loop():
    """Raises: Trying to backward through the graph a second time"""
    actor, critic = nn.Linear(3, 1), nn.Linear(3, 1)
    seen = torch.rand(4, 3)
    old = actor(seen).exp()
    advantage = torch.rand(4) - critic(seen).squeeze(-1)
    for _ in range(3):
        ratio = actor(seen).exp() / old
        (ratio.squeeze(-1) * advantage).mean().backward()  # error: [TLN101]


def made_before_the_loop_and_detached():
    actor, critic = nn.Linear(3, 1), nn.Linear(3, 1)
    seen = torch.rand(4, 3)
    old = actor(seen).exp().detach()
    advantage = (torch.rand(4) - critic(seen).squeeze(-1)).detach()
    for _ in range(3):
        ratio = actor(seen).exp() / old
        (ratio.squeeze(-1) * advantage).mean().backward()


def state_carried_through_a_wrapped_model():
    """Raises: Trying to backward through the graph a second time"""
    from torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(2, 2)

        def forward(self, x, h):
            return self.cell(x, h)

    model = torch.nn.parallel.DistributedDataParallel(Recurrent())
    model.register_comm_hook(None, noop_hook)
    h = torch.zeros(1, 2)
    for _ in range(2):
        h = model(torch.rand(1, 2), h)
        h.mean().backward()  # error: [TLN101]


def options_that_a_wrapped_model_gives_back():
    """What is carried was made of no parameter: the wrapped model says so."""
    from torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x, option):
            if option is None:
                option = torch.rand(1, 2)
            return self.linear(x), option

    model = torch.nn.parallel.DistributedDataParallel(Net())
    model.register_comm_hook(None, noop_hook)
    option = None
    for _ in range(2):
        out, option = model(torch.rand(1, 2), option)
        out.mean().backward()


def only_in_the_first_of_so_many_iterations():
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    for i in range(int("3")):
        if i == 1:
            break
        (y * i).sum().backward()


def only_in_the_first_of_so_many_that_are_counted():
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    for i, factor in enumerate(eval("[1, 2, 3]")):
        if i != 0:
            continue
        (y * factor).sum().backward()


def in_all_but_the_second_of_so_many_iterations():
    """Raises: Trying to backward through the graph a second time"""
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    for i in range(int("3")):
        if i == 1:
            continue
        (y * i).sum().backward()  # error: [TLN101]


def carried_into_the_second_of_so_many_iterations():
    """Raises: Trying to backward through the graph a second time"""
    w = torch.ones(3, requires_grad=True)
    for i in range(int("3")):
        if i == 0:
            h = torch.ones(3)
        h = torch.tanh(h * w)
        h.sum().backward()  # error: [TLN101]


def the_count_of_a_loop_that_is_over():
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    for i in range(int("3")):
        pass
    if i == 1:
        y.sum().backward()
    elif i == 0:
        y.sum().backward()
    if i == 2:
        y.sum().backward()


def a_loop_over_what_only_looks_like_a_count():
    """Raises: Trying to backward through the graph a second time"""

    def range(number):
        return [1] * int(number)

    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    for i in range(eval("3")):
        if i == 0:
            break
        y.sum().backward()  # error: [TLN101]


def a_state_is_detached_in_place():
    model = eval("nn.GRU(2, 3)")
    state = None
    for x in torch.rand(3, 4, 1, 2):
        if state is not None:
            if isinstance(state, tuple):
                for part in state:
                    part.detach_()
            else:
                state.detach_()
        output, state = model(x, state)
        output.sum().backward()


def a_part_of_a_state_is_detached_in_place():
    model = eval("nn.LSTM(2, 3)")
    state = None
    for x in torch.rand(3, 4, 1, 2):
        if state is not None:
            state[0].detach_()
            state[1].detach_()
        output, state = model(x, state)
        output.sum().backward()


def asked_for_at_the_result_of_a_recurrent_layer():
    gru = nn.GRU(3, 3, batch_first=True)
    out, _ = gru(torch.ones(2, 1, 3))
    out.mean().backward()
    (out**2).sum().backward(inputs=[out])


def asked_for_before_a_recurrent_layer():
    """Raises: backward through the graph a second time"""
    gru = nn.GRU(3, 3)
    given = torch.ones(2, 1, 3, requires_grad=True).exp()
    out, _ = gru(given)
    out.mean().backward()
    (out**2).sum().backward(inputs=[given])  # error: [TLN101]


def product_of_a_view_without_an_edge_and_what_nobody_knows():
    w = torch.rand(3, 4, requires_grad=True)
    with torch.no_grad():
        v = w.view(-1)
    h = v * eval("2")
    h.sum().backward()
    h.sum().backward()


def product_of_what_may_be_a_view_without_an_edge():
    w = torch.rand(12, requires_grad=True)
    with torch.no_grad():
        v = w.view(-1)
    h = (v if eval("True") else w) * 2
    h.sum().backward()
    h.sum().backward()


def product_of_what_may_be_such_a_view_with_some_attribute_set():
    w = torch.rand(12, requires_grad=True)
    with torch.no_grad():
        v = w.view(-1)
        setattr(v, eval("'note'"), eval("'note'"))
    h = (v if eval("True") else w) * 2
    h.sum().backward()
    h.sum().backward()


def product_of_a_view_in_a_mode_that_nobody_knows():
    w = torch.rand(12, requires_grad=True)
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def product_of_a_view_in_a_mode_that_nobody_knows_of_what_unknown_code_holds():
    w = torch.rand(12, requires_grad=True)
    eval("lambda: None").kept = w
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def product_of_a_view_in_a_mode_that_nobody_knows_and_a_leaf():
    """Raises: backward through the graph a second time"""
    w = torch.rand(12, requires_grad=True)
    b = torch.rand(12, requires_grad=True)
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = v * b
    h.sum().backward()
    h.sum().backward()  # warning: [TLN101]


def product_of_a_view_in_a_mode_that_nobody_knows_and_a_leaf_or_a_number():
    """Of the number nothing is saved: no gradient flows to the view."""
    w = torch.rand(12, requires_grad=True)
    b = torch.rand(12, requires_grad=True) if eval("False") else eval("0.5")
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = v * b
    h.sum().backward()
    h.sum().backward()


def product_of_a_view_without_an_edge_and_a_leaf():
    """Raises: backward through the graph a second time"""
    w = torch.rand(3, 4, requires_grad=True)
    b = torch.rand(12, requires_grad=True)
    with torch.no_grad():
        v = w.view(-1)
    h = v * b * eval("2")
    h.sum().backward()
    h.sum().backward()  # error: [TLN101]


def gradient_of_a_cross_entropy_penalised_twice():
    """Raises: backward through the graph a second time"""
    net = nn.Linear(4, 3)
    x = torch.rand(5, 4, requires_grad=True)
    loss = F.cross_entropy(net(x), torch.randint(3, (5,)))
    slope = torch.autograd.grad(loss, x, create_graph=True)[0]
    slope.pow(2).sum().backward()
    slope.norm().backward()  # error: [TLN101]


def gradient_of_the_targets_of_a_cross_entropy():
    """It depends on the scores alone, and these on nothing."""
    scores = torch.rand(5, 3)
    target = torch.rand(5, 3, requires_grad=True)
    weight = torch.ones(3, requires_grad=True)
    slope = torch.autograd.grad(F.cross_entropy(scores, target), target, create_graph=True)[0]
    (slope * weight).sum().backward()
    (slope * weight).sum().backward()


def gradient_of_a_cross_entropy_kept_for_two_penalties():
    net = nn.Linear(4, 3)
    x = torch.rand(5, 4, requires_grad=True)
    loss = F.cross_entropy(net(x), torch.randint(3, (5,)))
    slope = torch.autograd.grad(loss, x, create_graph=True)[0]
    (slope.pow(2).sum() + slope.norm()).backward()


def loss_that_was_moved_to_a_device():
    """Raises: Trying to backward through the graph a second time"""

    def train(w, device):
        loss = (w * 2).exp().sum().to(device)
        loss.backward()
        loss.backward()  # error: [TLN101]

    train(torch.ones(3, requires_grad=True) + eval("0"), eval("'cpu'"))


def activations_that_were_moved_to_a_device():
    """Raises: Trying to backward through the graph a second time"""

    def train(device):
        w = torch.ones(3, requires_grad=True)
        loss = w.exp().to(device, non_blocking=True).sum()
        loss.backward()
        loss.backward()  # error: [TLN101]

    train(eval("'cpu'"))


def graph_kept_though_the_loss_was_moved():
    def train(device):
        w = torch.ones(3, requires_grad=True)
        loss = w.exp().sum().to(device)
        loss.backward(retain_graph=True)  # smell: [TLN102]
        loss.backward()

    train(eval("'cpu'"))
def detached_by_unknown_code_in_one_arm_whose_value_is_used():
    def cut(value):
        value.detach_().requires_grad_()
        return value

    often = eval("1")
    y = torch.rand(3, requires_grad=True).exp()
    if often:
        kept = eval("cut")(y)
    y.sum().backward()
    y.sum().backward()
    print(kept)


def kept_by_unknown_code_in_one_arm_whose_value_is_used():
    """Raises: Trying to backward through the graph a second time"""
    often = eval("1")
    y = torch.rand(3, requires_grad=True).exp()
    if often:
        kept = eval("float")(y.sum())
    else:
        kept = 0.0
    y.sum().backward()
    y.sum().backward()  # error: [TLN101]
    print(kept)


def number_set_under_a_name_that_nobody_knows():
    class Holder:
        pass

    x = torch.rand(3, requires_grad=True)
    holder = Holder()
    holder.factor = x.exp()
    (x * holder.factor).sum().backward()
    setattr(holder, eval("'factor'"), 1)
    (x * holder.factor).sum().backward()


def attributes_written_through_a_dictionary_that_has_a_name():
    class Holder:
        pass

    x = torch.rand(3, requires_grad=True)
    holder = Holder()
    holder.loss = x.exp().sum()
    holder.loss.backward()
    found = vars(holder)
    found["loss"] = x.sum()
    holder.loss.backward()
    holder.loss = x.exp().sum()
    holder.loss.backward()
    found.update(loss=x.sum())
    holder.loss.backward()


def attributes_replaced_all_at_once():
    class Holder:
        pass

    x = torch.rand(3, requires_grad=True)
    holder = Holder()
    holder.loss = x.exp().sum()
    holder.loss.backward()
    holder.__dict__ = {"loss": x.sum()}
    holder.loss.backward()


def attributes_only_read_through_their_dictionary():
    """Raises: Trying to backward through the graph a second time"""

    class Holder:
        pass

    x = torch.rand(3, requires_grad=True)
    holder = Holder()
    holder.loss = x.exp().sum()
    holder.loss.backward()
    found = vars(holder)
    print(found.get("loss"), list(found))
    holder.loss.backward()  # error: [TLN101]


def default_list_that_unknown_code_fills():
    def fill(defaults):
        defaults[0].append(torch.rand(3, requires_grad=True))

    def keep(value, kept=[]):
        kept.append(value)
        return kept

    y = torch.rand(3, requires_grad=True).exp()
    eval("fill")(keep.__defaults__)
    keep(y)[0].sum().backward()
    keep(y)[0].sum().backward()


def gradient_with_respect_to_itself_whichever_it_is():
    rounded = eval("1")
    r = torch.rand(3, requires_grad=True) * 2
    if rounded:
        r = r * 3
    r.mul_(torch.rand(3))
    torch.autograd.grad(r, r, torch.ones(3))
    torch.autograd.grad(r, r, torch.ones(3))


def gradient_with_respect_to_what_one_of_them_is():
    """Raises: Trying to backward through the graph a second time"""
    rounded = eval("1")
    x = torch.rand(3, requires_grad=True)
    r = x.exp()
    if rounded:
        r = r.tanh()
    torch.autograd.grad(r, x, torch.ones(3))
    torch.autograd.grad(r, x, torch.ones(3))  # error: [TLN101]


def view_in_an_open_mode_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def view_in_an_open_mode_of_a_leaf_that_is_chosen():
    w = max([[torch.rand(12, requires_grad=True)][eval("False")]], key=eval("None"))
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def view_in_an_open_mode_of_a_leaf_that_may_be_one():
    w = torch.rand(12, requires_grad=eval("True"))
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def view_in_an_open_mode_of_a_leaf_that_went_through_unknown_code():
    w = eval("lambda w: w")(torch.rand(12, requires_grad=True))
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def view_in_a_mode_that_is_set_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    torch.set_grad_enabled(eval("False"))
    v = w.view(-1)
    torch.set_grad_enabled(True)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def view_in_a_mode_that_is_chosen_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    with torch.set_grad_enabled(eval("False")):
        v = w.view(-1)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def view_of_a_view_in_an_open_mode_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    with eval("torch.no_grad()"):
        v = w.view(3, 4)[1:]
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def transposed_in_an_open_mode_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    with eval("torch.no_grad()"):
        v = w.view(3, 4).T
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def view_of_a_function_in_an_open_mode_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    v = eval("torch.no_grad()")(lambda: w.view(-1))()
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def view_of_a_followed_function_in_an_open_mode_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    def flat():
        with eval("torch.no_grad()"):
            return w.view(-1)

    v = flat()
    h = 3 * v
    h.sum().backward()
    h.sum().backward()


def view_in_one_of_two_modes_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    with torch.no_grad() if eval("True") else torch.enable_grad():
        v = w.view(-1)
    h = v * 2
    h.sum().backward()
    h.sum().backward()


def parts_in_an_open_mode_of_an_unknown_leaf():
    w = eval("torch.rand(12, requires_grad=True)")
    with eval("torch.no_grad()"):
        v = w.narrow(0, 1, 2)
    h = torch.mul(v, 2)
    h.sum().backward()
    h.sum().backward()


def parts_in_an_open_mode_that_unknown_code_hands_back():
    w = eval("torch.rand(12, requires_grad=True)")
    with eval("torch.no_grad()"):
        v = w.narrow(0, 1, 2)
    h = torch.mul(eval("lambda given: given")(v), 2)
    h.sum().backward()
    h.sum().backward()


def view_in_an_open_mode_that_takes_part_in_a_loss():
    w = eval("torch.rand(12, requires_grad=True)")
    with eval("torch.no_grad()"):
        v = w.view(-1)
    h = (v * 2 + w.sum())
    h.sum().backward()
    h.sum().backward()


def backward_of_its_own():
    import functools

    w = torch.ones(3, requires_grad=True)
    loss = (w * w).sum()
    loss.backward = functools.partial(loss.backward, retain_graph=True)
    loss.backward()
    loss.backward()


def loss_of_its_own_in_each_iteration():
    class Held:
        pass

    w = torch.ones(3, requires_grad=True)
    held = Held()
    held.loss = (w * w).sum()
    for _ in range(2):
        held.loss.backward()
        held.__dict__ |= {eval("'loss'"): (w * w).sum()}


def view_of_a_leaf_that_code_elsewhere_may_have_written():
    x = torch.randn(3, 1, requires_grad=True)
    optimizer = eval("lambda *given: torch.optim.SGD(given, lr=0.1)")(x)
    view = x.unflatten(0, (1, -1))
    squares = view * view
    squares.sum().backward()
    optimizer.step()
    x.detach_()
    torch.autograd.grad((squares * view).sum(), (squares, view))


def what_stands_in_a_list_beside_unknown_ones_runs_once():
    w = torch.ones(3, requires_grad=True)
    done = [(w * w).sum().backward(), *eval("[]")]
    loss = (w * w).sum()
    done = [loss.backward(), *eval("[]"), *done]


def data_in_each_batch_through_a_wrapper_of_a_model():
    """The parameters of the model are differentiated: that does not show that the data requires grad."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    wrapper = nn.DataParallel(model)
    data = torch.rand(2, 4, 2) / eval("0.5")
    for x in data:
        wrapper(x).mean().backward()


def dropout_of_a_view_without_an_edge():
    w = torch.ones(3, 1, requires_grad=True)
    with torch.no_grad():
        x = w.t().contiguous()
    y = F.dropout(x, 0.5)
    for i in range(2):
        (y * x).sum().backward()


def losses_of_a_comprehension_beside_their_optimizers():
    def train(critics, optimizers, batches):
        for batch in batches:
            losses = [critic(batch).pow(2).mean() for critic in critics]
            for optimizer, loss in zip(optimizers, losses):
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    critics = [nn.Linear(2, 1), nn.Linear(2, 1)]
    train(critics, [torch.optim.SGD(each.parameters(), lr=0.1) for each in critics], [torch.rand(3, 2)])


def losses_of_a_comprehension_that_are_picked():
    def train(critics, batch):
        losses = [critic(batch).pow(2).mean() for critic in critics]
        for place in range(len(losses)):
            losses[place].backward()
        first, second = [critic(batch).exp().sum() for critic in critics]
        first.backward()
        second.backward()
        [loss.backward() for _, loss in enumerate([critic(batch).exp().sum() for critic in critics])]
        losses = list(map(lambda critic: critic(batch).pow(2).mean(), critics))
        while losses:
            losses.pop().backward()

    train([nn.Linear(2, 1), nn.Linear(2, 1)], torch.rand(3, 2))


def losses_of_a_comprehension_that_share_a_graph():
    """Raises: backward through the graph a second time"""

    def train(net, heads, batch):
        features = net(batch).exp()
        losses = [head(features).pow(2).mean() for head in heads]
        for _, loss in enumerate(losses):
            loss.backward()  # error: [TLN101]

    train(nn.Linear(2, 2), [nn.Linear(2, 1), nn.Linear(2, 1)], torch.rand(3, 2))


def losses_of_a_comprehension_gone_over_twice():
    """Raises: backward through the graph a second time"""

    def train(critics, batch):
        losses = [critic(batch).pow(2).mean() for critic in critics]
        for loss in losses:
            loss.backward()
        for _, loss in zip(critics, losses):
            loss.backward()  # error: [TLN101]

    train([nn.Linear(2, 1), nn.Linear(2, 1)], torch.rand(3, 2))


def losses_of_a_loop_that_are_picked():
    def train(critics, batches):
        for batch in batches:
            losses = []
            for critic in critics:
                losses.append(critic(batch).pow(2).mean())
            losses[0].backward()
            losses[1].backward()

    train([nn.Linear(2, 1), nn.Linear(2, 1)], [torch.rand(3, 2)])


def losses_of_nested_comprehensions():
    def train(critics, batches):
        rows = [[critic(batch).pow(2).mean() for critic in critics] for batch in batches]
        for row in rows:
            for loss in row:
                loss.backward()
        found = [{"loss": critic(batches[0]).exp().sum()} for critic in critics]
        for _, each in zip(critics, found):
            each["loss"].backward()
        losses = [critic(batches[0]).exp().sum() if critic is not None else None for critic in critics]
        for _, loss in zip(critics, losses):
            loss.backward()

    train([nn.Linear(2, 1), nn.Linear(2, 1)], [torch.rand(3, 2), torch.rand(3, 2)])


def losses_of_a_loop_by_their_names():
    model = nn.Linear(2, 1)

    def train(names, batches):
        for batch in batches:
            losses = {}
            for name in names:
                losses[name] = model(batch).pow(2).mean()
            losses["left"].backward()
            losses["right"].backward()

    def train_again(names, batches):
        for batch in batches:
            losses = {}
            for name in names:
                losses[name] = model(batch).pow(2).mean()
            losses.get("left").backward()
            losses.get("right").backward()

    for each in (train, train_again):
        each(["left", "right"], [torch.rand(3, 2), torch.rand(3, 2)])
