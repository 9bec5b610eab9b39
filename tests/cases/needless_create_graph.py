# ruff: noqa
"""Programs for TLN108."""

import torch
import torch.nn.functional as F
from torch import nn


def saliency_map():
    """Holds: slope.grad_fn is not None"""
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    image = torch.rand(1, 4, requires_grad=True)
    slope = torch.autograd.grad(net(image).sum(), image, create_graph=True)[0]  # strict: [TLN108]
    saliency = slope.abs().max().item()


def textbook_loop():
    """Holds: w.grad.grad_fn is not None"""
    w = torch.rand(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = (w**3).sum()
        loss.backward(create_graph=True)  # strict: [TLN108]
        optimizer.step()


def adversarial_step():
    """Holds: g.grad_fn is not None"""
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.rand(4, 2, requires_grad=True)
    (g,) = torch.autograd.grad(net(x).pow(2).mean(), x, create_graph=True)  # strict: [TLN108]
    x_adv = (x + 0.1 * g.sign()).detach()
    net(x_adv).mean().backward()


def second_derivative_too_many():
    """Holds: curvature.grad_fn is not None"""
    x = torch.linspace(0, 1, 5, requires_grad=True)
    y = torch.sin(x).sum()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), x, create_graph=True)  # strict: [TLN108]
    print(curvature)


def gradient_penalty():
    critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    x = torch.rand(4, 2, requires_grad=True)
    (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    (critic(x).mean() + 10 * (slope.norm(dim=1) - 1).pow(2).mean()).backward()


def physics_informed():
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    x, t = torch.rand(5, 1, requires_grad=True), torch.rand(5, 1, requires_grad=True)
    u = net(torch.cat([x, t], dim=1))
    one = torch.ones_like(u)
    u_t = torch.autograd.grad(u, t, one, create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, one, create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, one, create_graph=True)[0]
    (u_t + u * u_x - 0.01 * u_xx).pow(2).mean().backward()


def retains_for_the_second():
    """Not differentiated, but it keeps the graph for the next one."""
    x, t = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    u = (x * t).sin().sum()
    u_t = torch.autograd.grad(u, t, create_graph=True)[0]
    u_x = torch.autograd.grad(u, x)[0]
    print(u_t, u_x)


def returned():
    def slope_of(f, x):
        return torch.autograd.grad(f(x).sum(), x, create_graph=True)[0]

    x = torch.rand(3, requires_grad=True)
    slope_of(torch.sin, x).pow(2).sum().backward()


def kept_on_an_object():
    class Recorder:
        def __init__(self):
            self.x = torch.rand(3, requires_grad=True)

        def record(self):
            (self.slope,) = torch.autograd.grad(self.x.pow(3).sum(), self.x, create_graph=True)

    recorder = Recorder()
    recorder.record()
    recorder.slope.sum().backward()


def inner_step_of_meta_learning():
    w = torch.ones(2, requires_grad=True)
    x, y = torch.rand(4, 2), torch.rand(4)
    (g,) = torch.autograd.grad(F.mse_loss(x @ w, y), w, create_graph=True)
    F.mse_loss(x @ (w - 0.1 * g), y).backward()


def differentiated_by_backward():
    w = torch.rand(3, requires_grad=True)
    (w**3).sum().backward(create_graph=True)
    (curvature,) = torch.autograd.grad(w.grad.sum(), w)


def trained_through_and_predicted():
    """One caller differentiates the derivative, the other doesn't."""

    class Physics:
        def __init__(self):
            self.net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
            self.optimizer = torch.optim.LBFGS(self.net.parameters(), max_iter=2)
            self.x = torch.rand(5, 1, requires_grad=True)

        def residual(self, x):
            u = self.net(x)
            return torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0] - u

        def closure(self):
            self.optimizer.zero_grad()
            loss = self.residual(self.x).pow(2).mean()
            loss.backward()
            return loss

        def fit(self):
            self.optimizer.step(self.closure)

        def predict(self, x):
            return self.residual(x.requires_grad_()).detach().numpy()

    physics = Physics()
    physics.fit()
    physics.predict(torch.rand(2, 1))


def part_of_it_differentiated():
    w = torch.rand(3, requires_grad=True)
    (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    g[0].backward()  # strict: [TLN220]


def written_into_a_buffer():
    w = torch.rand(3, requires_grad=True)
    (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    buffer = torch.zeros(3)
    buffer[:] = g  # strict: [TLN205]
    buffer.sum().backward()


def given_to_a_function():
    w = torch.rand(3, requires_grad=True)
    (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    (lambda t: t[0])(g).backward()  # strict: [TLN220]


def its_graph_asked_for():
    w = torch.rand(3, requires_grad=True)
    (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    assert g.requires_grad


def differentiated_by_an_optimizer_of_the_file():
    class Curved(torch.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        def step(self):
            for group in self.param_groups:
                gradients = [p.grad for p in group["params"]]
                curvatures = torch.autograd.grad([g.sum() for g in gradients], group["params"])
                with torch.no_grad():
                    for p, g, h in zip(group["params"], gradients, curvatures):
                        p -= group["lr"] * g / h.abs().clamp(min=1.0)

    w = torch.ones(3, requires_grad=True)
    optimizer = Curved([w])
    for _ in range(3):
        w.grad = None  # strict: [TLN401]
        (w**4).sum().backward(create_graph=True)
        optimizer.step()


def not_differentiated_by_an_optimizer_of_the_file():
    """Holds: w.grad.grad_fn is not None"""
    class Plain(torch.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    p -= group["lr"] * p.grad

    w = torch.ones(3, requires_grad=True)
    optimizer = Plain([w])
    for _ in range(3):
        w.grad = None  # strict: [TLN401]
        (w**4).sum().backward(create_graph=True)  # strict: [TLN108]
        optimizer.step()


def descent_by_hand():
    """Holds: g.grad_fn is not None"""
    w = torch.rand(3, requires_grad=True)
    for _ in range(2):
        (g,) = torch.autograd.grad((w**3).sum(), [w], create_graph=True)  # strict: [TLN108]
        with torch.no_grad():
            w -= 0.1 * g


def descent_through_data():
    """Holds: g.grad_fn is not None"""
    w = torch.rand(3, requires_grad=True)
    (g,) = torch.autograd.grad((w**3).sum(), [w], create_graph=True)  # strict: [TLN108]
    w.data -= 0.1 * g  # strict: [TLN207]


def momentum_without_a_graph():
    """Holds: gs[0].grad_fn is not None"""
    ws = [torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)]
    ms = [torch.zeros_like(w) for w in ws]
    loss = (ws[0] ** 2).sum() + ws[1].exp().sum()
    gs = torch.autograd.grad(loss, ws, create_graph=True)  # strict: [TLN108]
    with torch.no_grad():
        for w, g, m in zip(ws, gs, ms):
            m.mul_(0.9).add_(g, alpha=0.1)
            w.sub_(m)


def update_that_is_differentiated():
    w = torch.rand(3, requires_grad=True)
    buffer = torch.zeros(3)
    (g,) = torch.autograd.grad((w**3).sum(), [w], create_graph=True)
    buffer.copy_(g)
    buffer.sum().backward()
    v = torch.rand(3, requires_grad=True)
    (h,) = torch.autograd.grad((v**3).sum(), [v], create_graph=True)
    kept = torch.zeros(3).data
    kept -= 0.1 * h  # strict: [TLN207]
    kept.sum().backward()


def penalty_in_a_dictionary_of_the_caller():
    """Whoever made the dictionary adds what it holds to a loss."""

    def penalise(context, critic, x):
        (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
        context.losses["r1"] = slope.pow(2).mean()

    class Context:
        losses = {}

    penalise(Context, nn.Sequential(nn.Linear(2, 2), nn.Tanh()), torch.rand(3, 2, requires_grad=True))
    Context.losses["r1"].backward()


def differentiated_by_the_object_that_holds_the_leaf():
    """A method from elsewhere gets at `.grad` of what its object holds."""
    Boosted = eval("type('Boosted', (), {'hessian': lambda self: torch.autograd.grad(self.scores.grad.sum(), self.scores)})")

    class Booster(Boosted):
        pass

    module = Booster()
    module.scores = nn.Parameter(torch.tensor([[1.0], [3.0]]))
    loss = F.mse_loss(module.scores, torch.zeros(2, 1))
    loss.backward(create_graph=True)
    module.hessian()


def differentiated_by_a_function_from_elsewhere():
    step = eval("lambda leaf: torch.autograd.grad(leaf.grad.sum(), leaf)")
    w = torch.ones(3, requires_grad=True)
    (w**3).sum().backward(create_graph=True)
    step(w)


def newton_step_into_what_a_caller_gave():
    """Whoever gave the points differentiates what comes of the gradients."""

    def refit(points, phi):
        moved = points[1:].clone().requires_grad_(True)
        (slope,) = torch.autograd.grad(phi(moved).sum(), moved, create_graph=True)
        points = points.clone()
        points[1:] = moved - phi(moved) * slope  # strict: [TLN205]
        return points

    radius = torch.tensor(0.5, requires_grad=True)
    refit(torch.ones(3), lambda x: x * x - radius).sum().backward()
    assert radius.grad is not None


def a_penalty_that_nobody_returns():
    """
    What is wrong is that, not the graph that a penalty needs.

    Holds: given is None
    """

    class Penalised(nn.Module):
        def __init__(self):
            super().__init__()
            self.critic = nn.Linear(3, 1)

        def forward(self, x):
            x = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(self.critic(x).sum(), x, create_graph=True)
            gradient_penalty = ((slope.norm(dim=1) - 1) ** 2).mean()  # warning: [TLN408]

    given = Penalised()(torch.ones(2, 3))


def a_penalty_that_is_only_printed():
    """Holds: not printed.requires_grad"""

    def report(critic, x):
        x = x.clone().requires_grad_()
        (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)  # strict: [TLN108]
        penalty = ((slope.norm(dim=1) - 1) ** 2).mean()
        return torch.tensor(penalty.item())

    printed = report(nn.Linear(3, 1), torch.ones(2, 3))


def gradients_kept_by_hooks_of_layers():
    """The gradients of the input are dropped: those that the hook has stored are differentiated."""

    class Recording:
        def __init__(self, model, layer):
            self.model, self.outputs, self.slopes = model, [], []
            layer.register_forward_hook(self.keep)

        def keep(self, module, inputs, output):
            self.outputs.append(output)
            output.register_hook(self.slopes.append)

        def __call__(self, x):
            return self.model(x)

    class Explanation:
        def __init__(self, model, layer):
            self.recorded = Recording(model, layer)

        def forward(self, x, target):
            x = x.clone().requires_grad_()
            loss = target(self.recorded(x))
            torch.autograd.grad(loss, x, retain_graph=True, create_graph=True)
            return self.weights()

        def weights(self):
            slope, output = self.recorded.slopes[0], self.recorded.outputs[0]
            return torch.autograd.grad(slope.sum(), output)[0]

    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    Explanation(model, model[0]).forward(torch.rand(2, 3), lambda scores: scores.sum())


def gradients_kept_by_a_hook_of_a_tensor():
    slopes = []

    def curvature(x, layer):
        hidden = layer(x)
        hidden.register_hook(slopes.append)
        (slope,) = torch.autograd.grad((hidden**3).sum(), x, create_graph=True)
        print(slope)

    curvature(torch.ones(3, requires_grad=True), nn.Linear(3, 3))
    slopes[0].sum().backward()


def hook_of_another_tensor():
    """Holds: slope.grad_fn is not None"""
    other = torch.rand(3, requires_grad=True)
    other.register_hook(lambda grad: 2 * grad)
    x = torch.rand(3, requires_grad=True)
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)  # strict: [TLN108]
    print(slope)
    other.sum().backward()


def gradients_taken_by_an_unknown_context_manager():
    """As `with backpack(Variance())`, whose hooks keep what is differentiated later."""
    extended = eval("__import__('contextlib').nullcontext")
    w = torch.rand(3, requires_grad=True)
    with extended():
        (w**3).sum().backward(create_graph=True)
