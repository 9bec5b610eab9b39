# ruff: noqa
"""Programs for TLN206."""

import numpy as np
import torch
from torch import nn


def weights_before_and_after():
    """Holds: moved == 0"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    before = net.weight.detach()
    net(torch.rand(4, 2)).sum().backward()
    optimizer.step()  # warning: [TLN206]
    moved = (net.weight - before).abs().sum().item()


def snapshot_of_a_buffer():
    """Holds: snapshot.sum() == 6"""
    noise = torch.zeros(3, requires_grad=True)
    snapshot = noise.detach()
    with torch.no_grad():
        noise.add_(2.0)  # warning: [TLN206]
    print(snapshot)


def image_shown_as_an_array():
    """Holds: picture.max() == 0"""
    image = torch.rand(2, 2, requires_grad=True)
    out = image * 2
    picture = out.detach().numpy()
    out.zero_()  # warning: [TLN206]
    print(picture)


def perturbed_copy():
    """Holds: clean.item() > 99"""
    h = nn.Linear(2, 2)(torch.rand(1, 2))
    noisy = h.detach()
    noisy += 100  # warning: [TLN206]
    clean = h.max()


def data_kept():
    """Holds: old.item() == 0"""
    w = torch.ones((), requires_grad=True)
    old = w.data
    with torch.no_grad():
        w.zero_()  # warning: [TLN206]
    ratio = w / (old + 1)


def cloned():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    before = net.weight.detach().clone()
    net(torch.rand(4, 2)).sum().backward()
    optimizer.step()
    moved = (net.weight - before).abs().sum().item()


def read_before_the_write():
    w = torch.ones(3, requires_grad=True)
    shown = w.detach()
    print(shown)
    with torch.no_grad():
        w.mul_(2)


def source_not_used_again():
    h = nn.Linear(2, 2)(torch.rand(1, 2))
    h = h.detach()
    h += 1
    print(h)


def hand_written_update():
    """A leaf is written through its alias on purpose."""
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    raw = w.data
    raw -= 0.1 * w.grad
    print(w)


def target_of_a_loss():
    out = nn.Linear(2, 2)(torch.rand(3, 2))
    target = out.detach()
    (out - target - 1).pow(2).mean().backward()


def array_copied():
    w = torch.ones(3, requires_grad=True)
    picture = w.detach().numpy().copy()
    with torch.no_grad():
        w.zero_()
    print(picture)


def best_state_loaded_back():
    """Holds: torch.equal(kept, model.weight)"""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    lowest, best = float("inf"), None
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 2)).pow(2).mean()
        loss.backward()
        if loss.item() < lowest:
            lowest = loss.item()
            best = model.state_dict()  # warning: [TLN206]
        optimizer.step()
    kept = model.weight.detach().clone()
    model.load_state_dict(best)


def started_again():
    """Holds: torch.equal(kept, model.weight)"""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = dict(model.state_dict())  # warning: [TLN206]
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    kept = model.weight.detach().clone()
    model.load_state_dict(first)


def averaged_weights_tried_out():
    """Holds: (model.weight == 0).all()"""
    model = nn.Linear(2, 1)
    averaged = {"weight": torch.zeros(1, 2), "bias": torch.zeros(1)}
    mine = model.state_dict()  # warning: [TLN206]
    model.load_state_dict(averaged)
    print(model(torch.ones(1, 2)))
    model.load_state_dict(mine)


def distance_from_the_old_parameters():
    """Holds: moved.item() == 0"""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    old = {name: p for name, p in model.named_parameters()}  # warning: [TLN206]
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    moved = sum((p - old[name]).abs().sum() for name, p in model.named_parameters())


def keeper_of_the_best():
    """Holds: torch.equal(kept, model.weight)"""

    class Keeper:
        def __init__(self, model):
            self.model, self.lowest, self.state = model, float("inf"), None

        def see(self, loss):
            if loss < self.lowest:
                self.lowest = loss
                self.state = self.model.state_dict()  # warning: [TLN206]

        def restore(self):
            self.model.load_state_dict(self.state)

    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    keeper = Keeper(model)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 2)).pow(2).mean()
        loss.backward()
        keeper.see(loss.item())
        optimizer.step()
    kept = model.weight.detach().clone()
    keeper.restore()


def states_of_all_epochs():
    """Holds: torch.equal(states[0]["weight"], states[2]["weight"])"""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    states = []
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
        states.append(model.state_dict())  # warning: [TLN206]


def model_from_outside():
    """Holds: torch.equal(trained.weight, newest)"""

    def train(model, optimizer, batches):
        best_loss, best_weights = None, None
        for batch in batches:
            optimizer.zero_grad()
            loss = model(batch).mean()
            loss.backward()
            if best_loss is None or loss.item() < best_loss:
                best_loss, best_weights = loss.item(), model.state_dict()  # warning: [TLN206]
            optimizer.step()
        newest = model.weight.detach().clone()
        if best_weights is not None:
            model.load_state_dict(best_weights)
        return model, newest

    net = nn.Linear(2, 1)
    trained, newest = train(net, torch.optim.SGD(net.parameters(), lr=0.1), torch.rand(3, 4, 2))


def state_copied():
    import copy

    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best = copy.deepcopy(model.state_dict())
    initial = {name: value.clone() for name, value in model.state_dict().items()}
    old = [p.detach().clone() for p in model.parameters()]
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    print([(p - q).norm() for p, q in zip(model.parameters(), old)], initial["bias"])
    model.load_state_dict(best)


def state_written_out_each_epoch():
    import io

    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
        best = model.state_dict()
        torch.save(best, io.BytesIO())


def average_that_follows_on_purpose():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    newest = model.state_dict()
    averaged = {name: value.clone() for name, value in newest.items()}
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
        for name, value in averaged.items():
            value.mul_(0.9).add_(newest[name], alpha=0.1)
    model.load_state_dict(averaged)


def loaded_in_part():
    pretrained = {"bias": torch.zeros(1), "head": torch.zeros(1)}
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state = model.state_dict()
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    state.update({name: pretrained[name] for name in state if name in pretrained})
    model.load_state_dict(state)


def entries_replaced():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state = model.state_dict()
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    state["bias"] = torch.zeros(1)
    model.load_state_dict(state)


def copied_to_the_target():
    model, target = nn.Linear(2, 1), nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state = model.state_dict()
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
        target.load_state_dict(state)


def state_of_a_model_that_nobody_trains():
    best, model = nn.Linear(2, 1), nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best_state = best.state_dict()
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    print(best_state["bias"])
    best.load_state_dict(best_state)


def tested_for_none_alone():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best = model.state_dict()
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    if best is not None:
        best = model.state_dict()
    print(list(best.keys()))


def kept_anew_after_each_step():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
        best = model.state_dict()
        print(best["bias"])


def array_of_a_result_scaled():
    """Holds: not torch.allclose(sand.grad, torch.sigmoid(sand) * (1 - torch.sigmoid(sand)))"""
    sand = torch.rand(3, requires_grad=True)
    dune = torch.sigmoid(sand)
    picture = dune.detach().numpy()
    picture *= 255  # warning: [TLN206]
    dune.sum().backward()


def array_of_a_result_filled():
    """Holds: h[0] == 0"""
    x = torch.rand(3, requires_grad=True)
    h = x.exp()
    a = h.detach().numpy()
    a[0] = 0.0  # warning: [TLN206]
    h.sum().backward()


def array_as_an_output():
    """Holds: (h <= 0.5).all()"""
    x = torch.rand(3, requires_grad=True)
    h = x.exp()
    a = h.detach().numpy()
    np.clip(a, 0.0, 0.5, out=a)  # warning: [TLN206]
    h.sum().backward()


def arrays_of_their_own():
    x = torch.rand(3, requires_grad=True)
    h = x.exp()
    a = h.detach().numpy().copy()
    a *= 255
    b = h.detach().numpy() * 2
    b += 1
    b[0] = 0.0
    c = h.detach().numpy()
    d = np.clip(c, 0.0, 0.5)
    d[:] = 1.0
    e = h.detach().clone().numpy()
    e -= e.mean()
    np.clip(c, 0.0, 0.5, out=e)
    h.sum().backward()


def number_that_other_code_makes_of_it():
    """What code from elsewhere makes of an array is not the array."""
    score = eval("lambda x, y: float((x * y).sum())")

    def information(x, y):
        x = x.detach().numpy()
        y = y.detach().numpy()
        return score(x, y)

    def sensitivity(n):
        inputs = torch.zeros(10, 3)
        outputs = torch.zeros(10, 3)
        total = 0.0
        for column in range(n):
            inputs[0:3] = torch.rand(3, 3)
            outputs[0:3] = torch.rand(3, 3)
            total += information(inputs[:, column].to("cpu"), outputs[:, column].to("cpu"))
            inputs.fill_(0)
            outputs.fill_(0)
        return total

    sensitivity(2)


def alias_given_another_shape():
    w = torch.ones(3, requires_grad=True)
    y = w * 2
    d = y.detach()
    d.unsqueeze_(0)
    print(y, d)
