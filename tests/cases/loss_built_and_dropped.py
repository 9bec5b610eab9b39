# ruff: noqa
"""Programs for TLN408."""

import torch
import torch.nn.functional as F
from torch import nn


def assigned_twice_in_the_loop():
    """Holds: (head.weight.grad is None)"""
    body, head, criterion = nn.Linear(2, 1), nn.Linear(2, 1), nn.MSELoss()
    optimizer = torch.optim.SGD(body.parameters(), lr=0.1)
    x, y = torch.rand(3, 2), torch.rand(3, 1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = criterion(head(x), y)  # warning: [TLN408]
        loss = criterion(body(x), y)
        loss.backward()
        optimizer.step()


def second_term_forgotten():
    """Holds: loss_size.requires_grad"""
    model = nn.Linear(2, 1)
    x, y = torch.rand(3, 2), torch.rand(3, 1)
    out = model(x)
    loss_fit = F.mse_loss(out, y)
    loss_size = F.l1_loss(out, torch.zeros_like(out))  # warning: [TLN408]
    total = loss_fit
    total.backward()


def equals_plus():
    """Holds: loss == 0.1 * out.abs().mean()"""
    model = nn.Linear(2, 1)
    out = model(torch.rand(3, 2))
    loss = F.mse_loss(out, torch.rand(3, 1))  # warning: [TLN408]
    loss = +0.1 * out.abs().mean()
    loss.backward()


def fake_half_of_a_discriminator():
    """Holds: loss_fake.requires_grad"""
    critic, bce = nn.Linear(2, 1), nn.BCEWithLogitsLoss()
    on_real, on_fake = critic(torch.rand(4, 2)), critic(torch.rand(4, 2))
    loss_real = bce(on_real, torch.ones(4, 1))
    loss_fake = bce(on_fake, torch.zeros(4, 1))  # warning: [TLN408]
    loss_real.backward()


def last_head_alone():
    """Holds: heads[0].weight.grad is None"""
    heads = nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)])
    x, targets = torch.rand(3, 2), [torch.rand(3, 1), torch.rand(3, 1)]
    for head, y in zip(heads, targets):
        loss = F.mse_loss(head(x), y)  # warning: [TLN408]
    loss.backward()


def backward_after_the_batches():
    """Holds: len(losses) == 2"""

    losses = []

    def train(model, loader, criterion, optimizer):
        for epoch in range(2):
            for x, y in loader:
                out = model(x)
                loss = criterion(out, y)  # warning: [TLN408]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

    model = nn.Linear(2, 1)
    data = [(torch.rand(3, 2), torch.rand(3, 1)) for _ in range(4)]
    train(model, data, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1))


def penalty_not_added():
    """Holds: l2_reg.requires_grad"""
    model = nn.Linear(2, 1)
    loss = F.mse_loss(model(torch.rand(3, 2)), torch.rand(3, 1))
    l2_reg = 1e-3 * sum(p.pow(2).sum() for p in model.parameters())  # warning: [TLN408]
    loss.backward()


def training_step_that_returns_one():
    """Holds: lit.aux.weight.grad is None"""

    class Lit(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 2)
            self.aux = nn.Linear(3, 2)

        def training_step(self, batch, index):
            x, y = batch
            main_loss = F.cross_entropy(self.net(x), y)
            aux_loss = F.cross_entropy(self.aux(x), y)  # warning: [TLN408]
            return main_loss

    lit = Lit()
    lit.training_step((torch.rand(4, 3), torch.tensor([0, 1, 0, 1])), 0).backward()


def overwritten_and_returned():
    """Holds: loss.item() == 0"""

    class Objective(nn.Module):
        def __init__(self):
            super().__init__()
            self.criterion = nn.CrossEntropyLoss()

        def forward(self, logits, y):
            loss = self.criterion(logits, y)  # warning: [TLN408]
            loss = 0.1 * logits.pow(2).mean()
            return loss

    loss = Objective()(torch.zeros(2, 3, requires_grad=True), torch.tensor([0, 1]))


def one_term_added_twice():
    """Holds: loss == 2 * loss_a"""
    model = nn.Linear(2, 1)
    x, y = torch.rand(3, 2), torch.rand(3, 1)
    loss_a = F.mse_loss(model(x), y)
    loss_b = F.l1_loss(model(x), y)  # warning: [TLN408]
    loss = loss_a + loss_a
    loss.backward()


def critic_without_backward():
    """Holds: critic.weight.grad is None"""

    def update(actor, critic, states, actions, returns, optimizer):
        values = critic(states).squeeze(-1)
        chosen = torch.distributions.Categorical(logits=actor(states)).log_prob(actions)
        actor_loss = -(chosen * (returns - values.detach())).mean()
        critic_loss = F.mse_loss(values, returns)  # warning: [TLN408]
        optimizer.zero_grad()
        actor_loss.backward()
        optimizer.step()

    actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
    optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    update(actor, critic, torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), torch.rand(4), optimizer)


def in_one_arm():
    """Holds: loss.requires_grad"""
    model, mixed = nn.Linear(2, 2), True
    out = model(torch.rand(3, 2))
    if mixed:
        loss = F.cross_entropy(out, torch.tensor([0, 1, 0]))  # warning: [TLN408]
        loss = 0.5 * F.cross_entropy(out, torch.tensor([1, 0, 1]))
    else:
        loss = F.cross_entropy(out, torch.tensor([0, 0, 0]))
    loss.backward()


def sum_under_another_name():
    """Holds: losses.requires_grad"""
    model = nn.Linear(3, 3)
    out = model(torch.rand(2, 3))
    loss = F.mse_loss(out, torch.rand(2, 3))
    losses = loss + 0.1 * out.abs().mean()  # warning: [TLN408]
    loss.backward()


# -- correct


def terms_added():
    model = nn.Linear(2, 1)
    out = model(torch.rand(3, 2))
    loss = F.mse_loss(out, torch.rand(3, 1))
    loss = loss + 0.1 * out.abs().mean()
    loss = 0.5 * loss
    loss.backward()


def default_that_an_option_replaces():
    focal, model = torch.rand(1).item() > 2, nn.Linear(2, 2)
    out, y = model(torch.rand(3, 2)), torch.tensor([0, 1, 0])
    loss = F.cross_entropy(out, y)
    if focal:
        loss = F.nll_loss(out.log_softmax(1), y)
    loss.backward()


def logged_alone():
    model = nn.Linear(2, 1)
    x, y = torch.rand(3, 2), torch.rand(3, 1)
    out = model(x)
    loss = F.mse_loss(out, y)
    l1_loss = F.l1_loss(out, y)
    huber_loss = F.huber_loss(out, y)
    print(f"{l1_loss:.3f}", huber_loss.item())
    loss.backward()


def kept_in_a_list_and_returned():
    def losses(model, x, y):
        first_loss = F.mse_loss(model(x), y)
        second_loss = F.l1_loss(model(x), y)
        found = [first_loss]
        found.append(second_loss)
        return found

    sum(losses(nn.Linear(2, 1), torch.rand(3, 2), torch.rand(3, 1))).backward()


def differentiated_one_after_the_other():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in [(torch.rand(3, 2), torch.rand(3, 1))] * 2:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        loss = F.l1_loss(model(x), y)
        loss.backward()
        optimizer.step()


def evaluation_without_a_graph():
    model = nn.Linear(2, 1)
    loss = F.mse_loss(model(torch.rand(3, 2)), torch.rand(3, 1))
    loss.backward()
    with torch.no_grad():
        loss = F.mse_loss(model(torch.rand(3, 2)), torch.rand(3, 1))
        loss = F.l1_loss(model(torch.rand(3, 2)), torch.rand(3, 1))
    print(loss)


def warm_up_before_the_clock():
    model, criterion = nn.Linear(2, 1), nn.MSELoss()
    x, y = torch.rand(3, 2), torch.rand(3, 1)
    for _ in range(3):
        loss = criterion(model(x), y)
    for _ in range(3):
        loss = criterion(model(x), y)
        loss.backward()


def steps_that_train_by_themselves():
    class Agent:
        def __init__(self):
            self.net = nn.Linear(2, 1)
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def update_loss(self, x):
            loss = self.net(x).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return loss

    agent = Agent()
    actor_loss = agent.update_loss(torch.rand(3, 2))
    critic_loss = agent.update_loss(torch.rand(3, 2))
    loss = agent.net(torch.rand(3, 2)).mean()
    loss.backward()


def loss_of_the_last_step():
    """The last state has seen all inputs."""
    cell, read_out = nn.RNNCell(2, 4), nn.Linear(4, 1)
    h = torch.zeros(3, 4)
    for x in torch.rand(5, 3, 2):
        h = cell(x, h)
        loss = F.mse_loss(read_out(h), torch.zeros(3, 1))
    loss.backward()


def first_batch_that_fits():
    model = nn.Linear(2, 1)
    for x, y in [(torch.rand(n, 2), torch.rand(n, 1)) for n in (1, 2, 3)]:
        loss = F.mse_loss(model(x), y)
        if len(x) > 1:
            break
    loss.backward()


def closure_reads_it():
    model = nn.Linear(2, 1)
    out = model(torch.rand(3, 2))
    loss = F.mse_loss(out, torch.rand(3, 1))
    reg_loss = out.abs().mean()

    def report():
        return reg_loss.item()

    loss.backward()
    print(report())


def named_by_its_text():
    model = nn.Linear(2, 1)
    out = model(torch.rand(3, 2))
    fit_loss = F.mse_loss(out, torch.rand(3, 1))
    size_loss = out.abs().mean()
    total = sum(value for name, value in dict(locals()).items() if name.endswith("_loss"))
    total.backward()


def of_targets_alone():
    model = nn.Linear(2, 1)
    x, y = torch.rand(3, 2), torch.rand(3, 1)
    baseline_loss = F.mse_loss(y, torch.zeros_like(y))
    loss = F.mse_loss(model(x), y)
    loss.backward()


def read_when_something_fails():
    model = nn.Linear(2, 1)
    loss = F.mse_loss(model(torch.rand(3, 2)), torch.rand(3, 1))
    try:
        loss = F.l1_loss(model(torch.rand(3, 3)), torch.rand(3, 1))
    except RuntimeError:
        pass
    loss.backward()


def freed_at_once():
    model = nn.Linear(2, 1)
    aux_loss = model(torch.rand(3, 2)).mean()
    del aux_loss
    loss = F.mse_loss(model(torch.rand(3, 2)), torch.rand(3, 1))
    loss.backward()


def total_of_what_was_differentiated():
    a, b = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    criterion = torch.nn.MSELoss()
    x, y = torch.ones(3, 2), torch.zeros(3, 1)
    loss_a = (criterion(a(x), y) + criterion(a(2 * x), y)) / 2
    loss_a.backward()
    loss_b = criterion(b(x), y) / 2
    loss_b.backward()
    loss_d = (loss_a + loss_b) / 2
    print(loss_a.item(), loss_b.item())


def total_of_which_one_term_is_differentiated():
    """Holds: b.weight.grad is None"""
    a, b = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    criterion = torch.nn.MSELoss()
    x, y = torch.ones(3, 2), torch.zeros(3, 1)
    loss_a = criterion(a(x), y)
    loss_b = criterion(b(x), y)
    loss_d = (loss_a + loss_b) / 2  # warning: [TLN408]
    loss_a.backward()


def loss_taken_out_of_the_sum():
    """The sum with it stands in a comment."""

    class Loss(nn.Module):
        def forward(self, output, target):
            fit_loss = nn.functional.mse_loss(output, target)
            size_loss = nn.functional.l1_loss(output, torch.zeros_like(output))

            # total_loss = fit_loss + size_loss
            total_loss = fit_loss

            return total_loss

    Loss()(nn.Linear(2, 2)(torch.rand(3, 2)), torch.rand(3, 2)).backward()


def loss_left_out_of_the_sum():
    """Holds: loss.grad_fn.name() == 'MseLossBackward0'"""

    class Loss(nn.Module):
        def forward(self, output, target):
            fit_loss = nn.functional.mse_loss(output, target)
            # size_loss keeps the output small
            size_loss = nn.functional.l1_loss(output, torch.zeros_like(output))  # warning: [TLN408]
            total_loss = fit_loss
            return total_loss

    loss = Loss()(nn.Linear(2, 2)(torch.rand(3, 2)), torch.rand(3, 2))


def a_scale_is_no_loss(optimizer=eval("None")):
    closure = eval("lambda: 1.0")
    scaler = eval("type('Scaler', (), {'loss_scale': lambda self: 2.0})()")
    for _ in range(2):
        scale = scaler.loss_scale()
        loss = closure()
    print(loss)
