# ruff: noqa
"""Programs for TLN111."""

import numpy as np
import torch
from torch import nn


def losses_for_a_plot():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    history = []
    for x in torch.rand(3, 4, 2):
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        history.append(loss.numpy())  # error: [TLN111]


def weights_of_a_layer():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    w = net.weight.cpu().numpy()  # error: [TLN111]


def prediction_compared():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    target = np.zeros((3, 1))
    prediction = net(torch.rand(3, 2))
    close = np.allclose(prediction, target)  # error: [TLN111]


def scaled_in_numpy():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    log_var = torch.zeros(3, requires_grad=True)
    std = np.exp(log_var)  # error: [TLN111]


def batch_of_losses():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    first, second = net(torch.rand(2)).sum(), net(torch.rand(2)).sum()
    average = np.stack((first, second))  # error: [TLN111]


def training_function():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def train_epoch(batches):
        for x in batches:
            optimizer.zero_grad()
            out = net(x)
            out.mean().backward()
            optimizer.step()
            print(out.numpy())  # error: [TLN111]

    train_epoch(torch.rand(2, 3, 2))


def loss_of_an_unknown_model():
    """Raises: Can't call numpy() on Tensor that requires grad"""

    def step(model, criterion, x, y):
        loss = criterion(model(x), y)
        loss.backward()
        return loss.numpy()  # error: [TLN111]

    step(nn.Linear(2, 1), nn.MSELoss(), torch.rand(3, 2), torch.rand(3, 1))


def detached():
    net = nn.Linear(2, 1)
    out = net(torch.rand(3, 2))
    print(out.detach().cpu().numpy(), np.mean(out.data.numpy()), out.tolist())


def under_no_grad():
    net = nn.Linear(2, 1)

    def predict(x):
        return net(x).numpy()

    with torch.no_grad():
        print(predict(torch.rand(3, 2)), net.weight.numpy())


def decorated():
    @torch.no_grad()
    def evaluate(net, x):
        return np.asarray(net(x))

    print(evaluate(nn.Linear(2, 1), torch.rand(3, 2)))


def forced():
    net = nn.Linear(2, 1)
    print(net(torch.rand(3, 2)).numpy(force=True))


def labels():
    net = nn.Linear(2, 3)
    guess = net(torch.rand(4, 2)).argmax(dim=1)
    print(guess.numpy(), np.unique(guess))


def data_alone():
    x = torch.rand(4, 2)
    print(x.numpy(), np.sqrt(x))


def called_by_others():
    """A function that doesn't train may be called under `no_grad`."""
    net = nn.Linear(2, 1)

    def act(observation):
        return net(observation).numpy()


def list_of_losses():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    net = nn.Linear(2, 1)
    first, second = net(torch.rand(2)).sum(), net(torch.rand(2)).sum()
    average = np.mean([first, second])  # error: [TLN111]


def mean_of_a_list_of_losses():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    import numpy as np

    def epoch(net, batches):
        losses = []
        for x in batches:
            loss = net(x).mean()
            loss.backward()
            losses.append(loss)  # warning: [TLN106]
        return np.mean(losses)  # error: [TLN111]

    epoch(torch.nn.Linear(4, 1), torch.rand(9, 3, 4))


def curves_of_several_rates():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    import numpy as np

    def train(rate, steps):
        w = torch.rand(3, requires_grad=True)
        curve = []
        for _ in range(steps):
            loss = (w * rate).sum()
            loss.backward()
            curve.append(loss)  # warning: [TLN106]
        return curve

    curves = [train(rate, 3) for rate in (0.1, 1.0)]
    for j in range(2):
        print(np.log10(curves[j]))  # error: [TLN111]


def outputs_of_a_long_loop():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    import numpy as np

    w = torch.rand(2, requires_grad=True)
    outputs = []
    for x in torch.rand(100, 2):
        outputs.append((w * x).sum())
    print(np.array(outputs))  # error: [TLN111]


def outputs_of_a_loop_in_a_loop():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    import numpy as np

    w = torch.rand(2, requires_grad=True)
    outputs = []
    for epoch in range(30):
        for x in eval("torch.rand(4, 2)"):
            outputs.append((w * x).sum())
    print(np.array(outputs))  # warning: [TLN111]


def outputs_of_a_comprehension():
    """Raises: Can't call numpy() on Tensor that requires grad"""
    import numpy as np

    w = torch.rand(2, requires_grad=True)
    print(np.array([(w * x).sum() for x in torch.rand(100, 2)]))  # error: [TLN111]


def outputs_of_an_arm_that_may_never_be_taken():
    import numpy as np

    w = torch.rand(2, requires_grad=True)
    outputs = []
    for x in torch.rand(100, 2):
        if eval("False"):
            outputs.append((w * x).sum())
    print(np.array(outputs))


def outputs_that_a_comprehension_leaves_out():
    import numpy as np

    w = torch.rand(2, requires_grad=True)
    print(np.array([(w * x).sum() for x in torch.rand(100, 2) if eval("False")]))


def lists_of_numbers_and_arrays():
    import numpy as np

    net = torch.nn.Linear(4, 1)
    losses, outputs, sizes = [], [], []
    for x in torch.rand(9, 3, 4):
        loss = net(x).mean()
        loss.backward()
        losses.append(loss.item())
        outputs.append(net(x).detach().numpy())
        sizes.append(len(x))
    print(np.mean(losses), np.concatenate(outputs), np.average(losses, weights=sizes))
    with torch.no_grad():
        scores = [net(x).mean() for x in torch.rand(9, 3, 4)]
    print(np.mean(scores), np.array(scores))


def list_that_numpy_shuffles():
    import numpy as np

    w = torch.rand(2, requires_grad=True)
    terms = [(w * k).sum() for k in range(3)]
    np.random.shuffle(terms)
    (terms[0] + terms[1]).backward()


def norms_of_gradients():
    import numpy as np

    net = torch.nn.Linear(4, 1)
    net(torch.rand(2, 4)).mean().backward()
    print(np.mean([p.grad.norm() for p in net.parameters()]))


def drawn_inside_a_decorated_context_manager():
    import contextlib

    wrap = eval("lambda function: function")
    quiet = eval("torch.no_grad")

    @contextlib.contextmanager
    @wrap
    def manager():
        with quiet():
            yield

    model = torch.nn.Linear(2, 1)
    with manager():
        prediction = model(torch.ones(4, 2))
    print(prediction.numpy())


def outputs_of_a_loop_that_nobody_knows_whether_it_is_come_to():
    w = torch.rand(2, requires_grad=True)
    outputs = []
    for epoch in range(30):
        if eval("False"):
            for x in torch.rand(4, 2):
                outputs.append((w * x).sum())
    print(np.array(outputs))


def outputs_of_a_loop_over_what_nobody_knows_under_a_flag():
    w = torch.rand(2, requires_grad=True)
    outputs = []
    if eval("False"):
        for x in eval("torch.rand(4, 2)"):
            outputs.append((w * x).sum())
    print(np.array(outputs))


def outputs_that_are_extended_under_a_flag():
    w = torch.rand(2, requires_grad=True)
    outputs = []
    if eval("False"):
        outputs.extend((w * x).sum() for x in eval("torch.rand(4, 2)"))
    print(np.array(outputs))


def outputs_of_a_loop_in_an_arm_that_is_left():
    w = torch.rand(2, requires_grad=True)
    outputs = []
    for x in eval("torch.rand(4, 2)"):
        if eval("True"):
            continue
        for y in eval("torch.rand(4, 2)"):
            outputs.append((w * y).sum())
    print(np.array(outputs))


def outputs_that_are_emptied_under_a_flag():
    w = torch.rand(2, requires_grad=True)
    outputs = []
    for x in eval("torch.rand(4, 2)"):
        outputs.append((w * x).sum())
    if eval("True"):
        outputs = []
    print(np.array(outputs))


def outputs_that_are_cleared_under_a_flag():
    w = torch.rand(2, requires_grad=True)
    outputs = []
    for x in eval("torch.rand(4, 2)"):
        outputs.append((w * x).sum())
    if eval("True"):
        outputs.clear()
    print(np.array(outputs))


def outputs_behind_an_exception():
    w = torch.rand(2, requires_grad=True)
    outputs = []
    try:
        eval("int")("x")
        for x in eval("torch.rand(4, 2)"):
            outputs.append((w * x).sum())
    except ValueError:
        pass
    print(np.array(outputs))


def outputs_of_a_loop_in_a_loop_that_is_broken_off():
    w = torch.rand(2, requires_grad=True)
    outputs = []
    for x in eval("torch.rand(4, 2)"):
        if eval("True"):
            break
        for y in eval("torch.rand(4, 2)"):
            outputs.append((w * y).sum())
    print(np.array(outputs))


def outputs_of_a_function_under_a_flag():
    w = torch.rand(2, requires_grad=True)

    def collect(outputs, wanted):
        if wanted:
            for x in eval("torch.rand(4, 2)"):
                outputs.append((w * x).sum())
        return outputs

    print(np.array(collect([], eval("False"))))
