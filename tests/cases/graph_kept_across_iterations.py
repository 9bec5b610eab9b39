# ruff: noqa
"""Programs for TLN106."""

import torch
import torch.nn.functional as F
from torch import nn


def epoch_loss():
    """Holds: epoch_loss.requires_grad"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(2):
        epoch_loss = 0
        for x in torch.rand(3, 4, 2):
            optimizer.zero_grad()
            loss = F.mse_loss(net(x), torch.zeros(4, 1))
            loss.backward()
            optimizer.step()
            epoch_loss += loss  # warning: [TLN106]
        print(epoch_loss / 3)


def losses_for_a_plot():
    """Holds: all(loss.grad_fn is not None for loss in losses)"""
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    losses = []
    for step in range(100):
        optimizer.zero_grad()
        loss = (w - 1).pow(2).sum()
        losses.append(loss)  # warning: [TLN106]
        loss.backward()
        optimizer.step()


def trainer_with_a_history():
    """Holds: trainer.history["loss"][0].requires_grad"""

    class Trainer:
        def __init__(self):
            self.net = nn.Linear(2, 1)
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
            self.history = {"loss": []}

        def fit(self, batches):
            for x in batches:
                self.optimizer.zero_grad()
                loss = self.net(x).abs().mean()
                loss.backward()
                self.optimizer.step()
                self.history["loss"].append(loss)  # warning: [TLN106]

    trainer = Trainer()
    trainer.fit(torch.rand(3, 4, 2))


def summed_by_assignment():
    """Holds: running.grad_fn is not None"""

    def train(net, optimizer, batches):
        running = 0.0
        for x in batches:
            optimizer.zero_grad()
            loss = net(x).pow(2).mean()
            (loss / 2).backward()
            optimizer.step()
            running = running + loss  # warning: [TLN106]
        return running

    net = nn.Linear(2, 1)
    running = train(net, torch.optim.SGD(net.parameters(), lr=0.1), torch.rand(3, 4, 2))


def variational_terms():
    """Holds: kl_total.requires_grad and reconstruction_total.requires_grad"""
    mu, log_var = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.Adam([mu, log_var])
    kl_total = reconstruction_total = 0.0
    for x in torch.rand(3, 2):
        optimizer.zero_grad()
        z = mu + torch.exp(0.5 * log_var) * torch.randn(2)
        reconstruction = F.mse_loss(z, x)
        kl = -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum()
        (reconstruction + kl).backward()
        optimizer.step()
        kl_total += kl  # warning: [TLN106]
        reconstruction_total += reconstruction  # warning: [TLN106]


def everything_a_parameter():
    """Holds: all(loss.requires_grad for loss in kept)"""

    def train(model, loader, optimizer, criterion):
        losses = []
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss)  # warning: [TLN106]
        return losses

    net = nn.Linear(2, 1)
    batches = [(torch.rand(4, 2), torch.rand(4, 1)) for _ in range(3)]
    kept = train(net, batches, torch.optim.SGD(net.parameters(), lr=0.1), nn.MSELoss())


def weighted_by_the_size_of_the_batch():
    """Holds: running_loss.requires_grad"""

    def train(model, loader, optimizer, criterion):
        running_loss = 0.0
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss * inputs.size(0)  # warning: [TLN106]
        return running_loss / len(loader)

    net = nn.Linear(2, 1)
    batches = [(torch.rand(4, 2), torch.rand(4, 1)) for _ in range(3)]
    running_loss = train(net, batches, torch.optim.SGD(net.parameters(), lr=0.1), nn.MSELoss())


def undone_division():
    """Holds: total.requires_grad"""
    net, total = nn.Linear(2, 1), torch.zeros(())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, x in enumerate(torch.rand(4, 4, 2)):
        loss = net(x).pow(2).mean() / 2
        loss.backward()
        total = total + loss * 2  # warning: [TLN106]
        if step % 2:
            optimizer.step()
            optimizer.zero_grad()


def only_added():
    """Sums save nothing: after each backward the whole sum can be differentiated still."""
    w, total = torch.ones(2, requires_grad=True), 0.0
    for x in torch.rand(3, 2):
        term = (w + x).sum()
        term.backward()
        total = total + 2 * term
    total.backward()


def losses_given():
    """The graphs are older than the loop."""

    def backward_all(losses):
        total = 0.0
        for loss in losses:
            loss.backward()
            total += loss
        return total

    w = torch.ones(2, requires_grad=True)
    backward_all([(w * k).sum() for k in range(3)])


def numbers_collected():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    total, history = 0.0, []
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
        history.append(loss.detach())


def sum_is_differentiated():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        total, parts = 0.0, []
        for x in torch.rand(3, 4, 2):
            loss = net(x).pow(2).mean()
            total += loss
            parts.append(loss)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


def policy_gradient():
    policy = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(policy.parameters())
    log_probs, rewards = [], []
    for state in torch.rand(4, 3):
        dist = torch.distributions.Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action))
    loss = -(torch.stack(log_probs) * torch.tensor(rewards)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def terms_of_one_loss():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.rand(3, 4, 2):
        loss = net(x).pow(2).mean()
        for p in net.parameters():
            loss = loss + 0.1 * p.abs().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluation():
    net = nn.Linear(2, 1)
    total = 0.0
    with torch.no_grad():
        for x in torch.rand(3, 4, 2):
            total += net(x).pow(2).mean()


def counters_and_data():
    net = nn.Linear(2, 1)
    seen, inputs = 0, []
    for x in torch.rand(3, 4, 2):
        net(x).mean().backward()
        seen += len(x)
        inputs.append(x)
    net.zero_grad()


def recurrent_outputs():
    cell, head = nn.Linear(2, 2), nn.Linear(2, 1)
    h, outputs = torch.zeros(1, 2), []
    for x in torch.rand(3, 1, 2):
        h = torch.tanh(cell(h) + x)
        outputs.append(head(h))
    torch.cat(outputs).mean().backward()


def running_mean_of_the_loss():
    """Holds: mean.grad_fn is not None"""
    w = torch.rand(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    mean = 0.0
    for x in torch.rand(5, 3):
        loss = (w * x).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = 0.9 * mean + 0.1 * loss  # warning: [TLN106]


def highest_loss():
    """Holds: highest.grad_fn is not None"""
    w = torch.rand(3, requires_grad=True)
    highest = torch.tensor(0.0)
    for x in torch.rand(5, 3):
        loss = (w * x).pow(2).sum()
        loss.backward()
        highest = torch.maximum(highest, loss)  # warning: [TLN106]


def kept_with_its_number():
    """Holds: history[0][1].grad_fn is not None"""
    w = torch.rand(3, requires_grad=True)
    history = []
    for i, x in enumerate(torch.rand(5, 3)):
        loss = (w * x).pow(2).sum()
        loss.backward()
        history.append((i, loss))  # warning: [TLN106]


def kept_by_its_number():
    """Holds: history[0].grad_fn is not None"""
    w = torch.rand(3, requires_grad=True)
    history = {}
    for i, x in enumerate(torch.rand(5, 3)):
        loss = (w * x).pow(2).sum()
        loss.backward()
        history[i] = loss  # warning: [TLN106]


def list_made_longer():
    """Holds: history[0].grad_fn is not None"""
    w = torch.rand(3, requires_grad=True)
    history = []
    for x in torch.rand(5, 3):
        loss = (w * x).pow(2).sum()
        loss.backward()
        history = history + [loss]  # warning: [TLN106]


def newest_of_each_kind():
    w = torch.rand(3, requires_grad=True)
    newest = {}
    for x in torch.rand(5, 3):
        loss = (w * x).pow(2).sum()
        loss.backward()
        newest["loss"] = loss


def running_mean_that_is_differentiated():
    w = torch.rand(3, requires_grad=True)
    mean = torch.zeros(())
    for x in torch.rand(5, 3):
        mean = 0.9 * mean.detach() + 0.1 * (w * x).pow(2).sum()
        mean.backward()


def state_of_a_recurrent_network():
    cell, head = torch.nn.RNNCell(3, 3), torch.nn.Linear(3, 1)
    h = torch.zeros(1, 3)
    total = 0.0
    for x in torch.rand(5, 1, 3):
        h = 0.5 * h + 0.5 * cell(x, h)
        total = total + head(h).sum()
    total.backward()


def detached_in_a_tuple():
    w = torch.rand(3, requires_grad=True)
    history, by_number, mean = [], {}, 0.0
    for i, x in enumerate(torch.rand(5, 3)):
        loss = (w * x).pow(2).sum()
        loss.backward()
        history.append((i, loss.detach()))
        by_number[i] = loss.item()
        mean = 0.9 * mean + 0.1 * loss.detach()


def gradients_of_all_steps_at_the_end():
    w = torch.rand(3, requires_grad=True)
    history = {}
    for i, x in enumerate(torch.rand(5, 3)):
        loss = (w * x).pow(2).sum()
        loss.backward(retain_graph=True)  # smell: [TLN102]
        history[i] = loss
    sum(history.values()).backward()


def sum_of_losses_that_nobody_knows():
    """Holds: running.requires_grad"""

    def train(model, loader, loss_fn):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        running = 0
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss  # warning: [TLN106]
        return running

    batches = [(torch.rand(4, 2), torch.rand(4, 1)) for _ in range(3)]
    running = train(nn.Linear(2, 1), batches, F.mse_loss)


def differentiated_after_the_loop():
    def train(model, loader, loss_fn):
        running = 0
        for x, y in loader:
            loss = loss_fn(model(x), y)
            running += loss
        running.backward()

    train(nn.Linear(2, 1), [(torch.rand(4, 2), torch.rand(4, 1)) for _ in range(3)], F.mse_loss)


def numbers_of_losses():
    def train(model, loader, loss_fn, training):
        running, best = 0.0, 0.0
        for x, y in loader:
            loss = loss_fn(model(x), y)
            if training:
                loss.backward()
            with torch.no_grad():
                running += loss
            loss = loss.detach()
            best = best + loss
        return running

    train(nn.Linear(2, 1), [(torch.rand(4, 2), torch.rand(4, 1)) for _ in range(3)], F.mse_loss, True)


def highest_so_far():
    """Holds: best.grad_fn is not None"""
    net = torch.nn.Linear(3, 1)
    best = None
    for _ in range(3):
        score = net(torch.rand(2, 3)).mean()
        score.backward()
        best = score if best is None else torch.max(best, score)  # warning: [TLN106]


def highest_number_so_far():
    net = torch.nn.Linear(3, 1)
    best = None
    for _ in range(3):
        score = net(torch.rand(2, 3)).mean()
        score.backward()
        best = score.detach() if best is None else torch.max(best, score.detach())


def running_mean_begins_with_none():
    """Holds: smooth.grad_fn is not None"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    smooth = None
    for _ in range(4):
        loss = net(torch.rand(4, 2)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss  # warning: [TLN106]


def difference_to_the_loss_before():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    before = None
    for _ in range(4):
        loss = net(torch.rand(4, 2)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        change = loss if before is None else loss - before
        before = loss
    print(change.item())


def running_mean_of_a_detached_loss():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    smooth = None
    for _ in range(4):
        loss = net(torch.rand(4, 2)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth = loss.detach() if smooth is None else 0.9 * smooth + 0.1 * loss.detach()
    print(smooth.item())


def list_cleared_at_the_head_of_the_loop():
    """It never holds more than one iteration's graph."""
    net = nn.Linear(3, 2)
    outputs = []
    for step in range(3):
        outputs.clear()
        outputs.append(net(torch.rand(1, 3)))
        torch.cat(outputs).sum().backward()


def list_cleared_that_a_hook_fills():
    """The same, filled by a hook."""
    net = nn.Linear(3, 2)
    outputs = []
    net.register_forward_hook(lambda module, args, output: outputs.append(output))
    for step in range(3):
        outputs.clear()
        net(torch.rand(1, 3))
        torch.cat(outputs).sum().backward()


def running_mean_begun_in_a_branch():
    """Holds: smooth.grad_fn is not None"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    smooth = None
    for _ in range(4):
        output = net(torch.rand(4, 2))
        loss = output.pow(2).mean()
        error = output.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if smooth is None:
            smooth = error
        smooth = 0.5 * error + 0.5 * smooth  # warning: [TLN106]


def running_mean_begun_in_a_branch_and_cut():
    """Each mean holds the graph of one iteration."""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    smooth = None
    for _ in range(4):
        output = net(torch.rand(4, 2))
        loss = output.pow(2).mean()
        error = output.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if smooth is None:
            smooth = error
        smooth = 0.5 * error + 0.5 * smooth.detach()


def mean_of_two_begun_anew():
    """It begins in every iteration."""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        output = net(torch.rand(4, 2))
        loss = output.pow(2).mean()
        smooth = loss
        smooth = 0.5 * output.abs().mean() + 0.5 * smooth
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(smooth.item())
