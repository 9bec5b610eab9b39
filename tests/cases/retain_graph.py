# ruff: noqa
"""Programs for TLN102."""

import torch
import torch.nn.functional as F
from torch import nn


def left_over_from_debugging():
    """Holds: loss.grad_fn.next_functions[0][0]._saved_self is not None"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = net(torch.rand(3, 2)).pow(2).mean()
        loss.backward(retain_graph=True)  # smell: [TLN102]
        optimizer.step()


def last_of_two_backwards():
    """Holds: c.grad_fn._saved_self is not None"""
    x = torch.rand(3, requires_grad=True)
    c = x * x
    (c.sum() + c.max()).backward(retain_graph=True)  # smell: [TLN102]


def content_and_style():
    """Holds: len(visits) == 2"""
    image = torch.rand(1, 1, 4, 4, requires_grad=True)
    conv = nn.Conv2d(1, 2, 3)
    features, visits = conv(image).relu(), []
    features.register_hook(visits.append)
    content = features.pow(2).mean()
    style = features.flatten(1).std()
    content.backward(retain_graph=True)  # smell: [TLN102]
    style.backward()


def carried_state_hidden():
    """Holds: len(visits) == 6"""
    cell, visits = nn.RNNCell(2, 3), []
    h = torch.zeros(1, 3)
    for _ in range(3):
        h = cell(torch.rand(1, 2), h)
        h.register_hook(visits.append)
        h.sum().backward(retain_graph=True)  # smell: [TLN102]


def positional():
    """Holds: c.grad_fn._saved_self is not None"""
    x = torch.rand(3, requires_grad=True)
    c = x * x
    torch.autograd.backward([c.sum()], retain_graph=True)  # smell: [TLN102]


def told_not_to():
    x = torch.rand(3, requires_grad=True)
    (x * x).sum().backward(retain_graph=False)


def second_derivative():
    """`create_graph` needs the graph and says so itself."""
    x = torch.rand(3, requires_grad=True)
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    slope.sum().backward()


def one_backward_on_the_sum():
    x = torch.rand(3, requires_grad=True)
    c = x * x
    (c.sum() + c.mean()).backward()


def both_gradients_at_once():
    x = torch.rand(3, requires_grad=True)
    t = torch.rand(3, requires_grad=True)
    u_x, u_t = torch.autograd.grad((x * t).sin().sum(), (x, t))


def somebody_elses_backward():
    class Engine:
        def backward(self, loss, retain_graph=False):
            self.last = float(loss), retain_graph

    engine = Engine()
    engine.backward(torch.ones(()), retain_graph=True)


def beside_create_graph():
    """`create_graph=True` retains the graph anyway, and is needed."""
    net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    x, t = torch.rand(5, 1, requires_grad=True), torch.rand(5, 1, requires_grad=True)
    u = net(torch.cat([x, t], dim=1))
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), retain_graph=True, create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), retain_graph=True, create_graph=True)[0]
    (u_t + u * u_x).pow(2).mean().backward()


def weight_between_two_losses():
    """As autoencoders balance their losses: both gradients are wanted apart, before the backward."""
    encoder, last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    x = torch.rand(3, 4)
    y = last(encoder(x))
    reconstruction, adversarial = (y - x).abs().mean(), -y.mean()
    near = torch.autograd.grad(reconstruction, last.weight, retain_graph=True)[0]
    far = torch.autograd.grad(adversarial, last.weight, retain_graph=True)[0]
    weight = (near.norm() / (far.norm() + 1e-4)).clamp(0, 1e4).detach()
    (reconstruction + weight * adversarial).backward()


def losses_of_different_parameters():
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    hidden = w * v
    hidden.sum().backward(retain_graph=True, inputs=[w])
    hidden.exp().sum().backward(inputs=[v])


def one_loss_of_one_parameter():
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    hidden = w * v
    hidden.sum().backward(retain_graph=True, inputs=[w])
    hidden.exp().sum().backward()


def losses_of_the_same_parameter():
    """Holds: len(visits) == 2"""
    w, v, visits = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True), []
    hidden = w * v
    hidden.register_hook(visits.append)
    hidden.sum().backward(retain_graph=True, inputs=[w])  # smell: [TLN102]
    hidden.exp().sum().backward(inputs=[w])  # note: this backward reads the retained graph


def hook_shares_the_graph():
    """Holds: len(kept.features) == 2"""

    # The second loss is made of what a hook kept of the first one's forward.
    class Kept:
        def __init__(self):
            self.features = []

        def __call__(self, module, inputs, output):
            self.features.append(output)

    def two_objectives(model, objective, hook, images):
        loss = objective(model(images))
        loss.backward(retain_graph=True)  # strict: [TLN102]
        second = objective(hook.features[-1] * 2)
        second.backward()

    kept, model = Kept(), torch.nn.Linear(2, 1)
    model.register_forward_hook(kept)
    model(torch.rand(1, 2))
    run = {"two": two_objectives}["two" if kept.features else "one"]
    run(model, lambda x: x.pow(2).sum(), kept, torch.ones(1, 2))


def each_arm_keeps_the_graph_before_the_loop():
    base, weight = torch.rand(2, requires_grad=True), torch.rand(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def train(kind, rounds):
        features = base.exp()
        for _ in range(rounds):
            loss = (features * weight).sum()
            optimizer.zero_grad()
            if kind == "cg":
                loss.backward(retain_graph=True)
            else:
                (loss * 2).backward(retain_graph=True)
            optimizer.step()

    train("sgd", 2)


def rows_of_what_a_subclass_computes():
    class Flow(nn.Module):
        def check(self, features):
            inputs, rows = torch.ones(1, features, requires_grad=True), []
            inputs.register_hook(rows.append)
            outputs = self.log_prob(inputs)[0]
            for index in range(outputs.shape[0]):
                outputs[index].backward(retain_graph=True)
            return rows


def one_of_two_losses_and_one_backward():
    """Holds: model.weight.grad is not None"""

    # The loss has two values, and the backward is called for one of them: nobody reads the graph again.
    def loss_of(model, x, wide):
        out = model(x)
        if wide:
            return out.exp().mean()
        return out.pow(2).mean()

    model, wide = nn.Linear(2, 1), torch.rand(1).item() >= 0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.rand(2, 3, 2):
        optimizer.zero_grad()
        loss = loss_of(model, x, wide)
        loss.backward(retain_graph=True)  # smell: [TLN102]
        optimizer.step()


def both_of_two_losses():
    """Holds: len(visits) == 2"""
    visits = []

    def train(model, x, wide):
        hidden = model(x)
        hidden.register_hook(visits.append)
        loss = hidden.exp().mean() if wide else hidden.pow(2).mean()
        loss.backward(retain_graph=True)  # smell: [TLN102]
        hidden.sum().backward()  # note: this backward reads the retained graph

    train(nn.Linear(2, 1), torch.rand(3, 2), torch.rand(1).item() >= 0)


def power_iteration():
    """What each pass is given depends on the result of the one before: no batch of gradients takes all at once."""
    w = torch.ones(3, requires_grad=True)
    (slope,) = torch.autograd.grad((w**3).sum() + w.sum() ** 2, w, create_graph=True)
    v = torch.randn(3)
    for _ in range(5):
        (product,) = torch.autograd.grad(slope, w, v, retain_graph=True)
        largest = (v @ product) / (v @ v)
        v = product / product.norm()


def power_iteration_in_place():
    w = torch.ones(3, requires_grad=True)
    (slope,) = torch.autograd.grad((w**3).sum() + w.sum() ** 2, w, create_graph=True)
    v = torch.randn(3)
    for _ in range(5):
        (product,) = torch.autograd.grad(slope, w, v, retain_graph=True)
        v.copy_(product / product.norm())


def fixed_point():
    z = torch.ones(3, requires_grad=True)
    f = torch.tanh(z * 0.5)
    g = torch.ones(3)
    for _ in range(5):
        g = torch.autograd.grad(f, z, g, retain_graph=True)[0] + 1


def applied_twice():
    x = torch.ones(3, requires_grad=True)
    y = x * x * x
    y.backward(torch.ones(3), retain_graph=True)
    again = x.grad / x.grad.norm()
    y.backward(again)


def rows_of_the_identity():
    """Holds: len(visits) == 3"""
    x, visits = torch.ones(3, requires_grad=True), []
    y = x * x
    y.register_hook(visits.append)
    rows = []
    for row in torch.eye(3):
        rows.append(torch.autograd.grad(y, x, row, retain_graph=True)[0])  # strict: [TLN102]


def rows_of_a_hessian_in_a_comprehension():
    def curvatures(theta, data):
        def loss(t):
            return (t * data).square().mean()

        t = theta.detach().requires_grad_(True)
        slope = torch.autograd.grad(loss(t), t, create_graph=True)[0]
        chosen = torch.nonzero(data, as_tuple=True)[0]
        rows = [torch.autograd.grad(slope[i], t, retain_graph=True)[0][chosen] for i in chosen]
        return torch.stack(rows).detach().sum(0)

    assert (curvatures(torch.ones(2), torch.ones(2)) == 1).all()


def adversaries_that_take_turns():
    """Holds: len(visits) == 4"""
    # Opposed losses: one backward on their sum would give neither network its gradient.
    generator = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
    discriminator = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    g_step = torch.optim.SGD(generator.parameters(), lr=0.1)
    d_step = torch.optim.SGD(discriminator.parameters(), lr=0.1)
    visits = []
    for x in torch.rand(2, 3, 2):
        fake = generator(x)
        fake.register_hook(visits.append)
        d_step.zero_grad()
        d_loss = discriminator(fake).mean() - discriminator(x).mean()
        d_loss.backward(retain_graph=True)  # smell: [TLN102]
        d_step.step()
        g_step.zero_grad()
        g_loss = -discriminator(fake).mean()
        g_loss.backward()  # note: this backward reads the retained graph
        g_step.step()


def gradients_of_two_losses_looked_at_apart():
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    hidden = net(torch.rand(3, 2)).tanh()
    hidden.mean().backward(retain_graph=True)
    first = net.weight.grad.clone()
    optimizer.zero_grad()
    hidden.pow(2).mean().backward()
    second = net.weight.grad.clone()
    net.weight.grad = first / first.norm() + second / second.norm()
    optimizer.step()


def the_time_of_one_backward():
    """Holds: len(visits) == 3"""
    w, visits = torch.rand(3, requires_grad=True), []
    out = w * w
    out.register_hook(visits.append)
    for _ in range(3):
        torch.autograd.grad(out, w, torch.ones(3), retain_graph=True)  # strict: [TLN102]


def rows_of_a_jacobian_one_by_one():
    """Holds: len(visits) == 3"""
    w, visits, rows = torch.rand(3, requires_grad=True), [], []
    out = w * w
    out.register_hook(visits.append)
    for seed in torch.eye(3):
        rows += torch.autograd.grad(out, w, seed, retain_graph=True)  # strict: [TLN102]


def losses_of_a_list_each_weighed_by_itself():
    """Their gradients are wanted apart."""
    w, weights, kept, visits = torch.ones(2, requires_grad=True), [0.3, 0.7], [], []
    hidden = w.exp()
    hidden.register_hook(visits.append)
    losses = [hidden.sum(), hidden.square().sum()]
    optimizer = torch.optim.SGD([w], 0.1)
    for weight, loss in zip(weights, losses):
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        kept.append(weight * w.grad.clone())


def losses_of_a_list():
    """Holds: len(visits) == 2"""
    w, visits = torch.ones(2, requires_grad=True), []
    hidden = w.exp()
    hidden.register_hook(visits.append)
    losses = [hidden.sum(), hidden.square().sum()]
    for loss in losses:
        loss.backward(retain_graph=True)  # strict: [TLN102]


def one_result_differentiated_again_to_be_timed():
    """There are no several losses."""
    w, gradient, visits = torch.ones(2, requires_grad=True), torch.ones(2), []
    out = w.exp()
    out.register_hook(visits.append)
    out.backward(gradient, retain_graph=True)
    timed = lambda: out.backward(gradient, retain_graph=True)
    timed()
    timed()
    assert len(visits) == 3
