# ruff: noqa
"""Programs for TLN104."""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def forgot_requires_grad():
    """Raises: does not require grad and does not have a grad_fn"""
    w = torch.randn(3)
    x = torch.randn(5, 3)
    loss = (x @ w).pow(2).mean()
    loss.backward()  # error: [TLN104]


def detached_prediction():
    """Raises: does not require grad and does not have a grad_fn"""
    net = nn.Linear(2, 1)
    prediction = net(torch.rand(4, 2)).detach()
    loss = F.mse_loss(prediction, torch.zeros(4, 1))
    loss.backward()  # error: [TLN104]


def evaluation_mode_by_decorator():
    """Raises: does not require grad and does not have a grad_fn"""
    net = nn.Linear(2, 1)

    @torch.no_grad()
    def predict(x):
        return net(x)

    loss = predict(torch.rand(4, 2)).mean()
    loss.backward()  # error: [TLN104]


def accuracy_as_a_loss():
    """Raises: does not require grad and does not have a grad_fn"""
    net = nn.Linear(2, 3)
    right = net(torch.rand(4, 2)).argmax(1) == torch.zeros(4, dtype=torch.long)
    loss = 1 - right.float().mean()
    loss.backward()  # error: [TLN104]


def wrapped_again():
    """Raises: does not require grad and does not have a grad_fn"""
    net = nn.Linear(2, 1)
    losses = [net(torch.rand(4, 2)).mean().item() for _ in range(2)]
    total = torch.tensor(sum(losses))
    total.backward()  # error: [TLN104]


def logged_value():
    """Raises: 'float' object has no attribute 'backward'"""
    net = nn.Linear(2, 1)
    loss = net(torch.rand(4, 2)).mean().item()
    loss.backward()  # error: [TLN104]


def integer_loss():
    """Raises: does not require grad and does not have a grad_fn"""
    x = torch.rand(4, requires_grad=True)
    steps = (x * 10).long().sum()
    steps.backward()  # error: [TLN104]


def input_learns():
    net = nn.Linear(2, 1)
    net.requires_grad_(False)
    image = torch.rand(1, 2, requires_grad=True)
    net(image).sum().backward()


def requires_grad_set_later():
    x = torch.rand(3)
    x.requires_grad = True
    (x * 2).sum().backward()


def enabled_inside():
    x = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        with torch.enable_grad():
            loss = (x * x).sum()
    loss.backward()


def straight_through():
    x = torch.rand(3, requires_grad=True)
    hard = x + (x.round() - x).detach()
    hard.sum().backward()


def only_a_part_is_detached():
    net = nn.Linear(2, 1)
    out = net(torch.rand(4, 2))
    target = out.detach() + 1
    F.mse_loss(out, target).backward()


def function_argument():
    def train_step(loss):
        loss.backward()

    train_step(nn.Linear(2, 1)(torch.rand(4, 2)).mean())


def newton_step_on_a_given_loss():
    def newton(loss, x):
        g = torch.autograd.grad(loss, [x], create_graph=True)[0]
        return torch.autograd.grad(g.sum(), [x])[0]

    x = torch.rand(3, requires_grad=True)
    newton((x**3).sum(), x)


def operand_of_which_nobody_knows_whether_it_is_a_number():
    """An operation that takes a number or a tensor there is a function of the tensor."""

    def penalise(p):
        target = torch.tensor(2.0)
        (p - target).backward()
        (p % target).backward()
        (target**p).backward()
        torch.rsub(target, p).backward()
        target.clamp(max=p).backward()
        torch.lerp(target, target + 1, p).backward()

    penalise(torch.tensor(1.5, requires_grad=True))


def unknown_tensor_lessened_by_data():
    def lessen(p):
        p -= torch.tensor(p.tolist())
        p.backward()

    lessen(torch.tensor(1.5, requires_grad=True) * 2)


def annotated_as_what_it_will_be_printed_as():
    """Passes: an annotation is no proof."""

    def step(loss: float, optimizer):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    w = torch.ones(3, requires_grad=True)
    eval("step")((w * 2).sum(), torch.optim.SGD([w], lr=0.1))  # nobody who reads this knows who calls it


def unknown_value_written_into_a_buffer():
    """What is written may be recorded: the buffer joins the graph then."""
    w = torch.ones(3, requires_grad=True)
    kept = torch.zeros(2)
    kept[0] = eval("w.sum()") * 2
    kept.sum().backward()


def stack_of_one_of_two_tuples():
    """The state is recorded if the loop ran."""
    w = torch.ones(3, requires_grad=True)
    state = (torch.zeros(3), torch.zeros(3))
    for _ in range(int(torch.randint(1, 2, ()))):
        state = (w.tanh(), w * 2)
    torch.stack(state).sum().backward()


def switched_on_inside_a_context_that_leaves_it_so():
    """Only torch's own contexts set the mode back."""
    import io

    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    with io.StringIO():
        torch.set_grad_enabled(True)
    (w * 2).sum().backward()


def callbacks_kept_on_one_path_only():
    import atexit

    seen = []
    if len(seen) > torch.rand(()):
        atexit.register(lambda: seen.append(1))
    atexit.register(seen.clear)
    torch.ones(3, requires_grad=True).sum().backward()


def stack_of_what_is_imported():
    """What another package has made may be recorded."""
    from torch import nn
    from unittest.mock import sentinel

    sentinel.w = nn.Parameter(torch.ones(3))
    from unittest.mock import sentinel as settings

    kept = []
    kept.append(settings.w)
    (torch.stack(kept) * 2).sum().backward()


def integers_times_a_number_are_floats():
    steps = torch.arange(5) * 0.1
    steps.requires_grad_(True)
    (steps.float() ** 2).sum().backward()
    chosen = (torch.rand(4) > 0.5) * 1.0
    chosen.requires_grad_()
    (chosen.float() * 2).sum().backward()


def integers_that_stay_integers():
    """Raises: does not require grad"""
    steps = torch.arange(5) * 2
    (steps.float() ** 2).sum().backward()  # error: [TLN104]


def items_taken_out_of_containers():
    data, weight = torch.rand(3), torch.rand(3, requires_grad=True)
    queue = [data, data, weight]
    del queue[:2]
    (queue[0] ** 2).sum().backward()
    named = {"data": data, "weight": weight}
    del named["data"]
    for value in named.values():
        (value**2).sum().backward()


def the_wrong_item_taken_out():
    """Raises: does not require grad"""
    data, weight = torch.rand(3), torch.rand(3, requires_grad=True)
    queue = [data, weight]
    del queue[1]
    (queue[0] ** 2).sum().backward()  # error: [TLN104]


def buffer_filled_by_an_unknown_function():
    def run(one_value):
        values = torch.zeros(3)
        values[0] = one_value()
        values[1:] += one_value()
        values.sum().backward()
        others = torch.zeros(2)
        others.fill_(one_value())
        others.sum().backward()

    weight = torch.rand((), requires_grad=True)
    run(lambda: weight * 2)


def row_of_a_leaf_taken_under_no_grad():
    """Raises: does not require grad"""
    weight = torch.rand(1, requires_grad=True)
    with torch.no_grad():
        first = weight[0]
    first.backward()  # error: [TLN104]


def copy_of_a_view_taken_under_no_grad():
    import copy

    weight = torch.rand(2, requires_grad=True)
    with torch.no_grad():
        row = weight[None]
    copy.deepcopy(row).sum().backward()
    (row * 2).sum()


def bags_of_words():
    words = nn.EmbeddingBag(10, 3, mode="sum")
    words(torch.tensor([1, 2, 4, 5]), torch.tensor([0, 2])).sum().backward()
    table = torch.rand(10, 3, requires_grad=True)
    nn.functional.embedding_bag(torch.tensor([[1, 2]]), table).sum().backward()


def taken_as_a_tensor_whatever_it_is():
    def start(value):
        values = torch.as_tensor(value, dtype=torch.float64)
        values.sum().backward()

    weight = torch.ones(2, requires_grad=True)
    start(weight * 2)


def taken_as_a_tensor_after_unknown_code():
    import json

    def start(load, flag):
        weight = torch.ones(2, requires_grad=True)
        values = load(weight) if flag else [1.0, 2.0]
        torch.asarray(values).sum().backward()
        torch.as_tensor(data=load(weight)).sum().backward()
        torch.Tensor(load(weight)).sum().backward()

    start(eval("torch.clone"), json.loads("true"))


def of_the_old_constructor():
    weight = torch.ones(2, requires_grad=True)
    torch.Tensor(weight * 2).sum().backward()
    torch.ones(2).new(weight * 2).sum().backward()


def array_taken_as_a_tensor():
    """Raises: does not require grad"""
    import numpy

    def start(size):
        values = torch.as_tensor(numpy.ones(size))
        values.sum().backward()  # error: [TLN104]

    start(3)


def unknown_values_copied():
    """Raises: does not require grad"""

    def start(value):
        values = torch.tensor(value)
        values.sum().backward()  # error: [TLN104]

    start([1.0, 2.0])


def list_taken_as_a_tensor():
    """Raises: does not require grad"""

    def start(scale):
        weight = torch.ones(2, requires_grad=True)
        values = torch.as_tensor([scale(each) for each in weight])
        values.sum().backward()  # error: [TLN104]

    start(eval("abs"))


def array_shared():
    """Raises: does not require grad"""
    import numpy

    def start(load):
        values = torch.from_numpy(load(2))
        values.sum().backward()  # error: [TLN104]

    start(numpy.ones)


def a_layer_joins_under_a_name_that_is_read():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            setattr(self, eval("'linear'"), nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def called_with_detached_weights():
    """Raises: does not require grad"""
    from torch.func import functional_call

    net = torch.nn.Linear(3, 1)
    fixed = {name: p.detach() for name, p in net.named_parameters()}
    functional_call(net, fixed, (torch.rand(8, 3),)).sum().backward()  # error: [TLN104]


def called_with_some_detached_weights():
    from torch.func import functional_call

    net = torch.nn.Linear(3, 1)
    functional_call(net, {"weight": net.weight.detach()}, (torch.rand(8, 3),)).sum().backward()
    functional_call(net, {"weight": torch.ones(1, 3)}, torch.rand(8, 3)).sum().backward()
    net(torch.rand(8, 3)).sum().backward()


def sequence_filled_by_code_elsewhere():
    net = nn.Sequential()
    fill = eval("lambda layers: layers.append(nn.Linear(3, 3))")
    fill(net)
    net(torch.rand(2, 3)).sum().backward()


def sequence_that_stays_empty():
    """Raises: does not require grad"""
    net = nn.Sequential()
    net.extend([nn.ReLU(), nn.Tanh()])
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    net(torch.rand(2, 3)).sum().backward()  # error: [TLN104]


def sequence_filled_by_a_method_chosen_by_name():
    net = nn.Sequential()
    getattr(net, eval("'add_module'"))("linear", nn.Linear(3, 3))
    net(torch.rand(2, 3)).sum().backward()


def weights_of_the_caller_updated_in_place():
    def descend(w):
        for _ in range(3):
            (gradient,) = torch.autograd.grad((w - 1).pow(2).sum(), w)
            with torch.no_grad():
                w -= 0.1 * gradient

    descend(torch.zeros(3, requires_grad=True))


def weights_of_the_caller_bound_anew():
    """Raises: does not require grad"""

    def descend(w):
        for _ in range(3):
            (gradient,) = torch.autograd.grad((w - 1).pow(2).sum(), w)  # error: [TLN104]  # error: [TLN113]
            with torch.no_grad():
                w = w - 0.1 * gradient

    descend(torch.zeros(3, requires_grad=True))


def mode_set_to_what_nobody_knows_inside_a_context():
    import io

    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    with io.StringIO():
        torch.set_grad_enabled(eval("True"))
    (w * 2).sum().backward()


def sample_of_a_policy():
    """Raises: does not require grad"""
    mu = nn.Linear(3, 2)
    act = torch.distributions.Normal(mu(torch.rand(4, 3)), 1.0).sample()
    (act**2).mean().backward()  # error: [TLN104]


def sample_of_classes():
    """Raises: does not require grad"""
    from torch.distributions import Categorical

    enc = nn.Linear(4, 2)
    p = Categorical(logits=enc(torch.rand(8, 4)))
    loss = (p.sample().float() - 1).pow(2).mean()
    loss.backward()  # error: [TLN104]


def reparametrised_and_scored():
    mu = nn.Linear(3, 2)
    normal = torch.distributions.Normal(mu(torch.rand(4, 3)), 1.0)
    normal.rsample().square().mean().backward(retain_graph=True)  # smell: [TLN102]
    action = normal.sample()
    (-normal.log_prob(action).mean()).backward()


def a_distribution_of_ones_own():
    class Straight(torch.distributions.Normal):
        def sample(self, shape=torch.Size()):
            return self.rsample(shape)

    w = torch.rand(3, requires_grad=True)
    Straight(w, 1.0).sample().sum().backward()


def recurrent_layers_of_which_nobody_knows_how_many():
    layers, more = eval("2"), eval("[1]")
    out, _ = nn.LSTM(2, 3, layers)(torch.rand(5, 4, 2))
    out.mean().backward()
    out, _ = nn.GRU(2, 3, *more)(torch.rand(5, 4, 2))
    out.mean().backward()


def copies_of_a_layer():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1), 2, enable_nested_tensor=False)
    encoder(torch.rand(3, 2, 4)).mean().backward()
    transformer = nn.Transformer(4, 1, eval("2"), 1)
    transformer(torch.rand(3, 2, 4), torch.rand(3, 2, 4)).mean().backward()


def copies_of_a_frozen_layer():
    """Raises: does not require grad and does not have a grad_fn"""
    layer = nn.TransformerEncoderLayer(4, 1).requires_grad_(False)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    encoder(torch.rand(3, 2, 4)).mean().backward()  # error: [TLN104]


def head_of_unknown_cutoffs():
    head = nn.AdaptiveLogSoftmaxWithLoss(4, 10, eval("[5]"))
    head(torch.rand(3, 4), torch.tensor([1, 2, 7])).loss.backward()


def mode_set_by_a_function_that_code_elsewhere_was_given():
    wrap = eval("lambda function: function")
    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    wrap(torch.set_grad_enabled)(True)
    (w * 2).sum().backward()


def closure_of_a_step_where_nothing_is_recorded():
    net = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.set_grad_enabled(False)

    def closure():
        optimizer.zero_grad()
        loss = net(torch.ones(1, 3)).sum()
        loss.backward()
        return loss

    optimizer.step(closure)


def backward_beside_the_closure_of_a_step():
    """Raises: does not require grad and does not have a grad_fn"""
    net = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = net(torch.ones(1, 3)).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        optimizer.step(closure)
        net(torch.ones(1, 3)).sum().backward()  # error: [TLN104]


def sequence_chosen_of_two_filled_by_a_method_chosen_by_name():
    net = nn.Sequential()
    getattr(net if eval("True") else eval("0.5"), eval("'add_module'"))("linear", nn.Linear(3, 3))
    net(torch.rand(2, 3)).sum().backward()


def sequence_filled_by_an_attribute_chosen_by_name():
    net = nn.Sequential()
    setattr(net, eval("'linear'"), nn.Linear(3, 3))
    net(torch.rand(2, 3)).sum().backward()


def hook_that_cuts_what_it_returns():
    """Raises: does not require grad and does not have a grad_fn"""
    net = nn.Linear(2, 1)

    def cut(module, args, output):
        return output.detach()

    handle = net.register_forward_hook(cut)
    net(torch.rand(4, 2)).sum().backward()  # error: [TLN104]
    handle.remove()


def hook_that_keeps_a_cut_copy():
    """Raises: does not require grad and does not have a grad_fn"""
    net = nn.Linear(2, 1)
    features = {}
    net.register_forward_hook(lambda module, args, output: features.update(last=output.detach()))
    net(torch.rand(4, 2))
    features["last"].sum().backward()  # error: [TLN104]


def function_of_data_alone():
    """Raises: does not require grad and does not have a grad_fn"""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    Double.apply(torch.rand(3)).sum().backward()  # error: [TLN104]


def checkpoint_under_no_grad():
    """Raises: does not require grad and does not have a grad_fn"""
    from torch.utils.checkpoint import checkpoint

    @torch.no_grad()
    def block(x):
        return x * 2

    w = torch.rand(3, requires_grad=True)
    checkpoint(block, w, use_reentrant=False).sum().backward()  # error: [TLN104]


def hook_that_is_removed_before():
    """The hook is gone when the Module is called again."""
    net = nn.Linear(2, 1)

    def cut(module, args, output):
        return output.detach()

    handle = net.register_forward_hook(cut)
    net(torch.rand(4, 2))
    handle.remove()
    net(torch.rand(4, 2)).sum().backward()


def hook_that_somebody_may_remove():
    """Whoever is given the handle may remove the hook."""
    net = nn.Linear(2, 1)

    def cut(module, args, output):
        return output.detach()

    handle = net.register_forward_hook(cut)
    for each in [handle]:
        each.remove()
    net(torch.rand(4, 2)).sum().backward()


def hook_that_keeps_the_output():
    """What the hook keeps has the graph."""
    net = nn.Linear(2, 1)
    features = {}
    net.register_forward_hook(lambda module, args, output: features.update(last=output))
    net(torch.rand(4, 2))
    features["last"].sum().backward()


def function_given_a_leaf():
    """One of its inputs requires grad."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    Double.apply(torch.rand(3, requires_grad=True)).sum().backward()


def pre_hook_that_one_arm_registers():
    net = nn.Linear(2, 1)
    net.requires_grad_(False)
    w = torch.rand(2, requires_grad=True)

    def scaled(module, args):
        return (args[0] * w,)

    if eval("True"):
        net.register_forward_pre_hook(scaled)
    net(torch.rand(4, 2)).sum().backward()


def pre_hook_that_replaces_the_input():
    """The hook gives the Module something that has a graph."""
    net = nn.Linear(2, 1)
    net.requires_grad_(False)
    w = torch.rand(2, requires_grad=True)

    def scaled(module, args):
        return (args[0] * w,)

    net.register_forward_pre_hook(scaled)
    net(torch.rand(4, 2)).sum().backward()


def output_of_a_given_network_is_detached():
    """Raises: does not require grad and does not have a grad_fn"""
    import pickle

    def fit(model, loader, optimizer):
        for x, y in loader:
            optimizer.zero_grad()
            out = model(x).detach()
            loss = F.cross_entropy(out, y)
            loss.backward()  # warning: [TLN104]
            optimizer.step()

    model = pickle.loads(pickle.dumps(nn.Linear(3, 2)))
    batches = pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.tensor([0, 1, 1, 0]))]))
    fit(model, batches, torch.optim.SGD(model.parameters(), lr=0.1))


def given_network_called_under_no_grad():
    """Raises: does not require grad and does not have a grad_fn"""
    import pickle

    def fit(model, train_loader, optimizer, device):
        criterion = nn.MSELoss()
        for i, batch in enumerate(train_loader):
            x, y = batch[0].to(device), batch[1].to(device)
            optimizer.zero_grad()
            with torch.no_grad():
                out = model(x)
            loss = criterion(out, y.float())
            loss.backward()  # warning: [TLN104]
            optimizer.step()

    model = pickle.loads(pickle.dumps(nn.Linear(3, 2)))
    batches = pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.rand(4, 2))]))
    fit(model, batches, torch.optim.SGD(model.parameters(), lr=0.1), "cpu")


def decisions_of_a_network_against_labels_of_a_loader():
    """Raises: does not require grad and does not have a grad_fn"""
    import pickle

    loader = pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.rand(4))]))
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        guess = model(x).argmax(dim=1)
        loss = F.mse_loss(guess.float(), y)
        loss.backward()  # warning: [TLN104]
        optimizer.step()


def data_of_a_given_network_as_an_attribute():
    """Raises: does not require grad and does not have a grad_fn"""
    import pickle

    def fit(model, loader):
        for x, y in loader:
            out = model(x).data
            loss = ((out - y) ** 2).mean()
            loss.backward()  # warning: [TLN104]

    model = pickle.loads(pickle.dumps(nn.Linear(3, 2)))
    fit(model, pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.rand(4, 2))])))


def examples_are_what_learns():
    import pickle

    def fit(model, loader, target):
        with torch.no_grad():
            wanted = model(target)
        for x, y in loader:
            x.requires_grad_()
            loss = F.mse_loss(x, wanted) + F.mse_loss(y, wanted.detach())
            loss.backward()

    model = pickle.loads(pickle.dumps(nn.Linear(3, 3)))
    fit(model, pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.rand(4, 3))])), torch.rand(4, 3))


def teacher_under_no_grad_and_student():
    import pickle

    def distil(teacher, student, loader, optimizer):
        for x, y in loader:
            optimizer.zero_grad()
            with torch.no_grad():
                wanted = teacher(x)
            loss = F.mse_loss(student(x), wanted) + F.mse_loss(wanted, y)
            loss.backward()
            optimizer.step()

    teacher, student = pickle.loads(pickle.dumps((nn.Linear(3, 2), nn.Linear(3, 2))))
    batches = pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.rand(4, 2))]))
    distil(teacher, student, batches, torch.optim.SGD(student.parameters(), lr=0.1))


def examples_go_through_what_another_network_gives():
    import pickle

    def fit(encoder, decoder, loader, optimizer):
        for x, y in loader:
            optimizer.zero_grad()
            z = encoder(x).detach()
            y = decoder(y)
            loss = F.mse_loss(z, y)
            loss.backward()
            optimizer.step()

    encoder, decoder = pickle.loads(pickle.dumps((nn.Linear(3, 2), nn.Linear(2, 2))))
    batches = pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.rand(4, 2))]))
    fit(encoder, decoder, batches, torch.optim.SGD(decoder.parameters(), lr=0.1))


def a_weight_that_is_given_is_learnt():
    import pickle

    def fit(model, loader, scale):
        for x, y in loader:
            with torch.no_grad():
                out = model(x)
            loss = F.mse_loss(out * scale, y)
            loss.backward()

    model = pickle.loads(pickle.dumps(nn.Linear(3, 2)))
    batches = pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.rand(4, 2))]))
    fit(model, batches, torch.ones(2, requires_grad=True))


def parameters_are_looped_over():
    import pickle

    def penalty(model, anchors):
        for p, (name, old) in zip(model.parameters(), anchors.items()):
            loss = F.mse_loss(p, old.detach())
            loss.backward()

    model = pickle.loads(pickle.dumps(nn.Linear(3, 2)))
    penalty(model, {name: torch.rand_like(p) for name, p in model.named_parameters()})


def examples_are_made_to_require_grad_by_code_elsewhere():
    import pickle

    def prepare(*tensors):
        for each in tensors:
            each.requires_grad_()

    def fit(model, loader, prepare):
        for x, y in loader:
            prepare(x, y)
            loss = F.mse_loss(model(x).detach(), y)
            loss.backward()

    model = pickle.loads(pickle.dumps(nn.Linear(3, 2)))
    fit(model, pickle.loads(pickle.dumps([(torch.rand(4, 3), torch.rand(4, 2))])), prepare)


def checkpoint_of_data_alone():
    """Raises: does not require grad"""
    from torch.utils.checkpoint import checkpoint

    net = nn.Linear(3, 1)
    out = checkpoint(net, torch.rand(2, 3), use_reentrant=True)
    out.sum().backward()  # error: [TLN104]


def checkpoint_of_data_alone_that_is_a_call():
    from torch.utils.checkpoint import checkpoint

    net = nn.Linear(3, 1)
    out = checkpoint(net, torch.rand(2, 3), use_reentrant=False)
    out.sum().backward()


def switch_that_another_method_turns():
    """The constructor has it off, and `enable` turns it on."""

    class Probe:
        def __init__(self):
            self.live = False

        def enable(self):
            self.live = True

        def slope(self):
            x = torch.rand(3, requires_grad=True)
            y = x if self.live else x.detach()
            y.sum().backward()
            return x.grad

    probe = Probe()
    probe.enable()
    probe.slope()


def tensor_that_another_method_replaces():
    """What the constructor makes requires no grad, what `restart` makes does."""

    class Search:
        def __init__(self):
            self.point = torch.zeros(3)

        def restart(self):
            self.point = torch.rand(3, requires_grad=True)

        def slope(self):
            self.point.exp().sum().backward()
            return self.point.grad

    search = Search()
    search.restart()
    search.slope()


def tensor_that_the_method_itself_replaces():
    """Raises: element 0 of tensors does not require grad"""

    class Search:
        def __init__(self):
            self.point = torch.zeros(3)

        def slope(self):
            self.point.exp().sum().backward()  # error: [TLN104]
            self.point = torch.rand(3, requires_grad=True)

    Search().slope()


def tensor_of_an_object_that_somebody_is_given():
    class Search:
        def __init__(self):
            self.point = torch.zeros(3)

        def slope(self):
            self.point.exp().sum().backward()

    eval("lambda it: (it.point.requires_grad_(), it)[1]")(Search()).slope()


def tensor_of_an_object_in_a_list_that_somebody_is_given():
    class Search:
        def __init__(self):
            self.point = torch.zeros(3)

        def slope(self):
            self.point.exp().sum().backward()

    for each in eval("lambda held: [(each.point.requires_grad_(), each)[1] for each in held]")([Search()]):
        each.slope()


def tensor_of_an_object_that_a_derived_class_replaces():
    class Search:
        def __init__(self):
            self.point = torch.zeros(3)

        def slope(self):
            self.point.exp().sum().backward()

    class Leaf(Search):
        def __init__(self):
            self.point = torch.zeros(3, requires_grad=True)

    Leaf().slope()


def tensor_in_a_list_that_its_owner_fills():
    class Search:
        def __init__(self):
            self.points = [torch.zeros(3)]

        def slope(self):
            self.points[0].exp().sum().backward()

    search = Search()
    search.points.insert(0, torch.zeros(3, requires_grad=True))
    search.slope()


def tensor_that_is_set_in_an_object_by_another_name():
    class Search:
        def __init__(self):
            self.point = torch.zeros(3)

        def slope(self):
            self.point.exp().sum().backward()

    search = Search()
    setattr(search, eval("'point'"), torch.zeros(3, requires_grad=True))
    search.slope()


def tensor_of_an_object_that_somebody_makes_a_leaf():
    class Search:
        def __init__(self):
            self.point = torch.zeros(3)

        def slope(self):
            self.point.exp().sum().backward()

    search = Search()
    eval("lambda point: point.requires_grad_()")(search.point)
    search.slope()


def frozen_layer_of_a_module_that_somebody_thaws():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2).requires_grad_(False)

        def slope(self):
            self.layer(torch.ones(2)).sum().backward()

    eval("lambda net: net.requires_grad_()")(Net()).slope()


def flag_is_set_by_an_operator():
    leaf = torch.ones(3)
    same = torch.ops.aten.requires_grad_.default(leaf, True)
    loss = (leaf * 2).sum()
    loss.backward()


def mode_set_again_by_a_function_chosen_by_name():
    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    getattr(torch, eval("'set_grad_enabled'"))(True)
    (w * 2).sum().backward()


def mode_set_again_through_an_operator():
    import operator

    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    operator.methodcaller("set_grad_enabled", True)(torch)
    (w * 2).sum().backward()


def mode_set_again_by_a_module_imported_by_name():
    import importlib

    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    importlib.import_module(eval("'torch'")).set_grad_enabled(True)
    (w * 2).sum().backward()


def mode_set_again_by_what_was_there_for_it():
    gradients_on = eval("lambda: torch.set_grad_enabled(True)")
    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    gradients_on()
    (w * 2).sum().backward()


def stack_of_contexts_that_is_closed():
    import contextlib

    w = torch.ones(3, requires_grad=True)
    stack = contextlib.ExitStack()
    stack.enter_context(torch.no_grad())
    shown = w * 2
    stack.close()
    (w * 2).sum().backward()


def mode_left_off_by_a_call():
    """Raises: does not require grad"""
    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    print(w)
    (w * 2).sum().backward()  # error: [TLN104]


def class_attribute_set_by_a_name_that_is_computed():
    class Settings:
        w = torch.ones(3)

    for name in eval("['w']"):
        setattr(Settings, name, torch.ones(3, requires_grad=True))
    (Settings.w * 2).sum().backward()


def class_attribute_hidden_by_one_of_the_object():
    class Settings:
        w = torch.ones(3)

        def __init__(self, **options):
            for name, value in options.items():
                setattr(self, name, value)

    settings = Settings(**eval("dict(w=torch.ones(3, requires_grad=True))"))
    (settings.w * 2).sum().backward()


def class_patched_by_unknown_code():
    class Model:
        def cut(self, x):
            return x.detach()

    patch = eval("lambda cls: setattr(cls, 'cut', lambda self, x: x)")
    patch(Model)
    w = torch.ones(3, requires_grad=True)
    Model().cut(w * 2).sum().backward()


def object_patched_by_unknown_code():
    class Model(nn.Module):
        def forward(self, x):
            return x.detach()

    model = Model()
    patch = eval("lambda model: setattr(model, 'forward', lambda x: x)")
    patch(model)
    w = torch.ones(3, requires_grad=True)
    model(w * 2).sum().backward()


def method_replaced_by_a_name_that_is_computed():
    class Model(nn.Module):
        def forward(self, x):
            return x.detach()

    model = Model()
    setattr(model, eval("'forward'"), lambda x: x * 2)
    w = torch.ones(3, requires_grad=True)
    model(w * 2).sum().backward()


def method_patched_for_a_block():
    import unittest.mock

    class Model:
        def cut(self, x):
            return x.detach()

    w = torch.ones(3, requires_grad=True)
    with unittest.mock.patch.object(Model, "cut", lambda self, x: x):
        Model().cut(w * 2).sum().backward()


def tensor_method_patched_for_a_block():
    import unittest.mock

    w = torch.ones(3, requires_grad=True)
    with unittest.mock.patch("torch.Tensor.detach", lambda self: self):
        (w * 2).detach().sum().backward()


def object_finished_by_a_metaclass():
    class Meta(type):
        def __call__(cls, *given):
            made = super().__call__(*given)
            made.w = torch.ones(3, requires_grad=True)
            return made

    class Holder(metaclass=eval("Meta")):
        def __init__(self):
            self.w = torch.ones(3)

    Holder().w.sum().backward()


def result_changed_by_a_hook_of_all_modules():
    class Model(nn.Module):
        def forward(self, x):
            return x.detach()

    scale = nn.Parameter(torch.ones(1))
    hook = eval("lambda module, given, result: result * scale")
    handle = nn.modules.module.register_module_forward_hook(hook)
    Model()(torch.rand(3)).sum().backward()
    handle.remove()


def sequence_in_a_list_that_unknown_code_was_given():
    nets = eval("lambda nets: nets")
    net = nn.Sequential()
    setattr(next(iter(nets([net]))), "linear", nn.Linear(3, 3))
    net(torch.rand(2, 3)).sum().backward()


def method_that_may_be_another_on_one_path():
    class Model:
        def cut(self, x):
            return x.detach()

    try:
        Model.cut = eval("lambda cut: lambda self, x: x")(Model.cut)
    except ValueError:
        pass
    w = torch.ones(3, requires_grad=True)
    Model().cut(w * 2).sum().backward()


def variables_given_to_unknown_code():
    plugin = eval("lambda names: names.update(w=torch.ones(3, requires_grad=True))")
    w = torch.ones(3)
    plugin(globals())
    (w * 2).sum().backward()


def class_attribute_set_on_the_type_of_an_object():
    class Settings:
        w = torch.ones(3)

    settings = Settings()
    for name in eval("['w']"):
        setattr(type(settings), name, torch.ones(3, requires_grad=True))
    (settings.w * 2).sum().backward()


def tensors_that_are_swapped():
    a = torch.ones(3)
    b = torch.ones(3, requires_grad=True)
    torch.utils.swap_tensors(a, b)
    (a * 2).sum().backward()


def object_patched_among_arguments_that_nobody_knows():
    class Model(nn.Module):
        def forward(self, x):
            return x.detach()

    model = Model()
    chosen = eval("lambda *given: given")
    patch = eval("lambda model: setattr(model, 'forward', lambda x: x)")
    patch(*chosen(model))
    w = torch.ones(3, requires_grad=True)
    model(w * 2).sum().backward()


def custom_function_of_one_of_two():
    class Sign(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.sign(x)

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.rand(3, requires_grad=True)
    Sign.apply(x if eval("True") else torch.rand(3)).sum().backward()


def one_of_two_frozen():
    w, other = torch.rand(3, requires_grad=True), torch.rand(3)
    (w if eval("False") else other).requires_grad = False
    (2 * w).sum().backward()


def backward_of_what_the_iteration_before_has_computed():
    w = torch.ones(2, requires_grad=True)
    total = torch.zeros(())
    for number, x in enumerate(eval("[torch.rand(2)] * 3")):
        if number > 0:
            total.backward()
        total = (w * x).sum()


def backward_of_what_every_iteration_cuts():
    """Raises: does not require grad"""
    w = torch.ones(2, requires_grad=True)
    for number, x in enumerate(eval("[torch.rand(2)] * 3")):
        loss = (w * x).sum().detach()
        if number > 0:
            loss.backward()  # warning: [TLN104]


def root_of_which_nobody_knows_beside_one_without_a_graph():
    """Raises: does not require grad"""
    a, b = nn.Parameter(torch.ones(1, 3), requires_grad=False), torch.rand(())
    eval("lambda p: None")(a)
    torch.autograd.backward([b, a])  # warning: [TLN104]


def attributes_of_a_class_and_a_constructor_from_elsewhere():
    def setting(init):
        return eval("lambda self, **options: vars(self).update(options)")

    class Settings:
        w = torch.ones(3)

        def __init__(self, **options):
            self.options = options

    Settings.__init__ = setting(Settings.__init__)
    settings = Settings(w=torch.ones(3, requires_grad=True))
    (settings.w * 2).sum().backward()


def of_the_old_constructor_with_more_arguments_nobody_knows():
    sizes = eval("[]")
    weight = torch.ones(2, requires_grad=True)
    torch.Tensor(weight * 2, *sizes).sum().backward()
    torch.ones(2).new(weight * 2, *sizes).sum().backward()
    torch.FloatTensor(*sizes, weight * 2).sum().backward()


def set_in_a_wrapped_constructor():
    same = eval("lambda each: each")

    class Settings:
        w = torch.ones(3)

        @same
        def __init__(self, **options):
            for name, value in options.items():
                setattr(self, name, value)

    settings = Settings(w=torch.ones(3, requires_grad=True))
    (settings.w * 2).sum().backward()


def set_in_a_wrapped_method():
    same = eval("lambda each: each")

    class Settings:
        w = torch.ones(3)

        @same
        def fill(self, w):
            self.w = w

    settings = Settings()
    settings.fill(torch.ones(3, requires_grad=True))
    (settings.w * 2).sum().backward()


def a_layer_appended_by_another():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Tanh()])
            eval("lambda append: append")(self.layers.append)(nn.Linear(3, 3))

        def forward(self, x):
            return self.layers[-1](x)

    Net()(torch.rand(2, 3)).sum().backward()


def network_that_another_method_builds():
    """What the constructor has set keeps the place."""

    class Actor:
        def __init__(self, layers):
            self.layers = layers
            self.model: nn.Sequential = nn.Sequential()
            self.head = nn.Identity()

        def make(self):
            return nn.Sequential(*[nn.Linear(3, 3) for _ in self.layers]), nn.Linear(3, 1)

        def build(self):
            self.model, self.head = self.make()

        def gradients(self, x):
            out = self.model(torch.tensor(x)).sum()
            return torch.autograd.grad(out, list(self.model.parameters()))

        def slope(self, x):
            self.head(torch.tensor(x)).sum().backward()

    actor = Actor((3, 3))
    actor.build()
    actor.gradients([1.0, 2.0, 3.0])
    actor.slope([1.0, 2.0, 3.0])


def network_that_nobody_builds():
    """Raises: does not require grad"""

    class Actor:
        def __init__(self):
            self.model = nn.Sequential()

        def slope(self, x):
            self.model(torch.tensor(x)).sum().backward()  # error: [TLN104]

    Actor().slope([1.0, 2.0, 3.0])


def given_to_a_hook_that_nobody_knows():
    """A forward hook is given the input as well."""
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    layer.register_forward_hook(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def a_layer_that_another_method_thaws_out_of_what_is_made_of_its_object():
    same = eval("lambda net: net")

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(3, 1)
            self.body.requires_grad_(False)

        def thaw(self):
            same(self).body.requires_grad_(True)

        def train_on(self, count):
            self.body(torch.rand(count, 3)).sum().backward()

    net = Net()
    net.thaw()
    net.train_on(2)


def a_layer_that_another_method_thaws():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(3, 1)
            self.body.requires_grad_(False)

        def thaw(self):
            self.body.requires_grad_(True)

        def train_on(self, count):
            self.body(torch.rand(count, 3)).sum().backward()

    net = Net()
    net.thaw()
    net.train_on(2)


def a_layer_made_on_one_path_that_another_method_thaws():
    class Net(nn.Module):
        def __init__(self, deep):
            super().__init__()
            if deep:
                self.body = nn.Linear(3, 1)
            self.body.requires_grad_(False)

        def thaw(self):
            self.body.requires_grad_(True)

        def train_on(self, count):
            self.body(torch.rand(count, 3)).sum().backward()

    net = Net(eval("True"))
    net.thaw()
    net.train_on(2)


def tensor_method_patched_by_what_somebody_gives():
    patch = eval("lambda name, new: __import__('unittest.mock').mock.patch(name, new)")
    w = torch.ones(3, requires_grad=True)
    with patch("torch.Tensor.detach", lambda self: self):
        (w * 2).detach().sum().backward()


def tensor_method_replaced_in_the_class_by_what_somebody_gives():
    replace = eval("setattr")
    kept = torch.Tensor.detach
    w = torch.ones(3, requires_grad=True)
    replace(torch.Tensor, "detach", lambda self: self)
    (w * 2).detach().sum().backward()
    replace(torch.Tensor, "detach", kept)


def tensor_method_replaced_in_the_class_that_a_list_holds():
    replace = eval("setattr")
    kept = torch.Tensor.detach
    w = torch.ones(3, requires_grad=True)
    replace(*(*eval("()"), torch.Tensor, "detach", lambda self: self))
    (w * 2).detach().sum().backward()
    replace(torch.Tensor, "detach", kept)


def another_method_patched_by_what_somebody_gives():
    """Raises: does not require grad"""
    patch = eval("lambda name, new: __import__('unittest.mock').mock.patch(name, new)")
    w = torch.ones(3, requires_grad=True)
    with patch("torch.Tensor.clone", lambda self: self):
        (w * 2).detach().sum().backward()  # warning: [TLN104]


def layer_patched_for_a_block():
    import unittest.mock

    w = torch.ones(3, requires_grad=True)
    layer = nn.Linear(3, 3).requires_grad_(False)
    with unittest.mock.patch("torch.nn.Linear.forward", lambda self, x: x * w):
        layer(torch.ones(3)).sum().backward()


def property_of_tensors_patched_for_a_block():
    import unittest.mock

    w = torch.ones(3, requires_grad=True)
    with unittest.mock.patch("torch.Tensor.T", w * 2):
        w.detach().T.sum().backward()


def another_property_of_tensors_patched_for_a_block():
    """Raises: does not require grad"""
    import unittest.mock

    w = torch.ones(3, requires_grad=True)
    with unittest.mock.patch("torch.Tensor.T", w * 2):
        w.detach().real.sum().backward()  # error: [TLN104]


def thawed_when_the_block_is_left():
    class Frozen:
        def __init__(self, net):
            self.net = net

        def __enter__(self):
            self.net.requires_grad_(False)

        def __exit__(self, *error):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3)
    with Frozen(net):
        net(torch.ones(3))
    net(torch.ones(3)).sum().backward()


def thawed_when_the_block_is_returned_from():
    class Frozen:
        def __init__(self, net):
            self.net = net

        def __enter__(self):
            self.net.requires_grad_(False)

        def __exit__(self, *error):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3)

    def features(x):
        with Frozen(net):
            return net(x)

    features(torch.ones(3))
    net(torch.ones(3)).sum().backward()


def thawed_by_a_way_out_that_nobody_knows():
    class Frozen:
        def __init__(self, net):
            self.net = net

        def __enter__(self):
            self.net.requires_grad_(False)

        def __exit__(self, *error):
            self.net.requires_grad_(True)

    Frozen.__exit__ = eval("lambda method: method")(Frozen.__exit__)
    net = nn.Linear(3, 3)

    def features(x):
        with Frozen(net):
            return net(x)

    with Frozen(net):
        net(torch.ones(3))
    net(torch.ones(3)).sum().backward()
    features(torch.ones(3))
    net(torch.ones(3)).sum().backward()


def frozen_and_not_thawed_when_the_block_is_left():
    """Raises: does not require grad"""

    class Frozen:
        def __init__(self, net):
            self.net = net
            self.uses = 0

        def __enter__(self):
            self.net.requires_grad_(False)

        def __exit__(self, *error):
            self.uses += 1

    net = nn.Linear(3, 3)
    with Frozen(net):
        net(torch.ones(3))
    net(torch.ones(3)).sum().backward()  # error: [TLN104]


def one_of_two_contexts_thaws():
    class Thawed:
        def __init__(self, net):
            self.net = net

        def __enter__(self):
            self.net.requires_grad_(True)

        def __exit__(self, *error):
            self.net.requires_grad_(False)

    net = nn.Linear(3, 3).requires_grad_(False)
    with Thawed(net) if eval("True") else Thawed(net):
        net(torch.ones(3)).sum().backward()


def one_of_two_contexts_thaws_what_it_holds_under_a_name_that_nobody_knows():
    class Thawed:
        def __init__(self, net):
            setattr(self, eval("'net'"), net)

        def __enter__(self):
            self.net.requires_grad_(True)

        def __exit__(self, *error):
            self.net.requires_grad_(False)

    net = nn.Linear(3, 3).requires_grad_(False)
    with Thawed(net) if eval("True") else Thawed(net):
        net(torch.ones(3)).sum().backward()


def given_to_unknown_code_under_a_name_that_nobody_knows():
    class Held:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

    w = torch.ones(3)
    eval("lambda held: held.w.requires_grad_()")(Held(w))
    w.sum().backward()


def thawed_by_a_decorator_that_is_a_context():
    import contextlib

    class Thawed(contextlib.ContextDecorator):
        def __init__(self, net):
            self.net = net

        def __enter__(self):
            self.net.requires_grad_(True)

        def __exit__(self, *error):
            self.net.requires_grad_(False)

    net = nn.Linear(3, 3).requires_grad_(False)

    @Thawed(net)
    def train():
        net(torch.ones(3)).sum().backward()

    train()


def thawed_by_special_methods():
    class Stages:
        def __init__(self, *nets):
            self.nets = nets
            self.net, self.other, self.last = nets

        def __iter__(self):
            self.net.requires_grad_(True)
            yield 1

        def __iadd__(self, other):
            self.other.requires_grad_(True)
            return self

        def __len__(self):
            self.last.requires_grad_(True)
            return 3

    net, other, last = [nn.Linear(3, 3).requires_grad_(False) for _ in range(3)]
    stages = Stages(net, other, last)
    for _ in stages:
        net(torch.ones(3)).sum().backward()
    stages += 1
    other(torch.ones(3)).sum().backward()
    len(stages)
    last(torch.ones(3)).sum().backward()


def special_methods_that_thaw_nothing():
    """Raises: does not require grad"""

    class Stages:
        def __init__(self, net):
            self.net = net
            self.rounds = 0

        def __iter__(self):
            self.rounds += 1
            yield self.net

        def __len__(self):
            return 3

    net = nn.Linear(3, 3).requires_grad_(False)
    stages = Stages(net)
    for _ in stages:
        net(torch.ones(3)).sum().backward()  # error: [TLN104]


def thawed_by_what_a_function_is_handed_to():
    thaw = eval("lambda tensor: tensor.requires_grad_()")
    call = eval("lambda function: function()")
    w = torch.ones(3)

    def prepare():
        thaw(w)

    call(prepare)
    w.sum().backward()


def thawed_by_whoever_asks_for_it():
    thaw = eval("lambda function: function().requires_grad_()")
    v, w = torch.ones(3), torch.ones(3)
    thaw(lambda: v)
    thaw(lambda tensor=w: tensor)
    (v * w).sum().backward()


def thawed_in_a_generator():
    thaw = eval("lambda tensor: tensor.requires_grad_()")
    w = torch.ones(3)

    def stages():
        thaw(w)
        yield 1

    next(stages())
    w.sum().backward()


def thawed_in_a_special_method():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            self.w = w

        def __len__(self):
            thaw(self.w)
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def thawed_by_a_decorator_of_a_class():
    thaw = eval("lambda cls: (cls.w.requires_grad_(), cls)[1]")
    w = torch.ones(3)
    kept = w

    @thaw
    class Holder:
        w = kept

    w.sum().backward()


def thawed_base_of_a_view():
    thaw = eval("lambda tensor: tensor.requires_grad_()")
    w = torch.ones(3)
    v = w.view(3, 1)
    thaw(v._base)
    w.sum().backward()


def handed_on_and_shows_what_it_computes():
    """Raises: does not require grad"""
    call = eval("lambda function: function()")
    w = torch.ones(3, requires_grad=True)

    def norm():
        return w.detach().norm()

    call(norm)
    w.detach().sum().backward()  # warning: [TLN104]


def sequence_in_a_list_that_is_longer_than_anybody_knows():
    nets = eval("lambda nets: nets")
    net = nn.Sequential()
    setattr(next(iter(nets([*eval("[]"), net]))), "linear", nn.Linear(3, 3))
    net(torch.rand(2, 3)).sum().backward()


def sequences_filled_by_who_is_given_lists_of_them():
    fill = eval("lambda nets: nets['all'][0].append(nn.Linear(3, 3))")
    net, other = nn.Sequential(), nn.Sequential()
    fill({"all": [net]})
    fill({"all": [other if eval("True") else None]})
    net(torch.rand(2, 3)).sum().backward()
    other(torch.rand(2, 3)).sum().backward()


def a_sequence_deep_in_what_unknown_code_was_given_and_gives_back():
    same = eval("lambda given: given")
    fill = eval("lambda given: given[0]['all'][0][0].append(nn.Linear(3, 3))")
    net = nn.Sequential()
    fill(same([{"all": [[net if eval("True") else None]]}]))
    net(torch.rand(2, 3)).sum().backward()


def sequence_filled_by_nobody():
    """Raises: does not require grad"""
    fill = eval("lambda nets: nets[0].append(nn.Linear(3, 3))")
    net, other = nn.Sequential(), nn.Sequential()
    fill([other])
    net(torch.rand(2, 3)).sum().backward()  # warning: [TLN104]


def attribute_of_the_class_set_by_a_method_from_elsewhere():
    same = eval("lambda each: each")

    class Settings:
        w = torch.ones(3)

        def fill(self, w):
            self.w = w

    Settings.fill = same(Settings.fill)
    settings = Settings()
    settings.fill(torch.ones(3, requires_grad=True))
    (settings.w * 2).sum().backward()


def network_that_a_method_from_elsewhere_builds():
    same = eval("lambda each: each")

    class Actor:
        def __init__(self):
            self.model = nn.Sequential()

        def build(self):
            self.model = nn.Sequential(nn.Linear(3, 3))

        def slope(self, x):
            self.model(torch.tensor(x)).sum().backward()

    Actor.build = same(Actor.build)
    actor = Actor()
    actor.build()
    actor.slope([1.0, 2.0, 3.0])


def an_imported_function_that_a_class_has_as_a_method():
    import types

    somewhere = types.ModuleType("actors")
    somewhere.build = lambda actor: actor.w.requires_grad_()
    sys.modules["actors"] = somewhere

    from actors import build

    class Actor:
        fill = build

        def __init__(self):
            self.w = torch.zeros(3)

    actor = Actor()
    actor.fill()
    (actor.w * 1).sum().backward()


class DifferentiatesInBackward(torch.autograd.Function):
    """Only where the gradient itself is not recorded: with create_graph=True grad mode is on there."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.relu()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        inner = x.detach().requires_grad_()
        y = inner.relu()
        y.backward(gradient)  # warning: [TLN104]
        return inner.grad


class DifferentiatesInBackwardAnyhow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.relu()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            y = inner.relu()
        y.backward(gradient)
        return inner.grad


def some_attribute_set_to_what_may_be_a_method():
    class Model(nn.Module):
        def forward(self, x):
            return x.detach()

    model = Model()
    setattr(model, eval("'forward'"), eval("[lambda x: x * 2]")[0])
    w = torch.ones(3, requires_grad=True)
    model(w * 2).sum().backward()


def some_attribute_set_to_what_a_call_returns():
    class Model(nn.Module):
        def forward(self, x):
            return x.detach()

    model = Model()
    setattr(model, eval("'forward'"), eval("lambda x: x * 2"))
    w = torch.ones(3, requires_grad=True)
    model(w * 2).sum().backward()


def a_mode_that_another_function_leaves_open_under_no_grad():
    import torch.nn.functional as F

    def train(model, loader):
        for x, y in loader:
            loss = F.nll_loss(model(x), y)
            loss.backward()
            print(f"{loss.item():.6f}")

    def test(entered, output, target):
        total = 0
        with torch.no_grad():
            entered.__enter__()
            total += F.nll_loss(output, target, reduction="sum").item()

    model = eval("torch.nn.Linear(2, 2)")
    for epoch in range(1, 3):
        train(model, [(torch.ones(3, 2), torch.zeros(3, dtype=torch.long))])


def given_to_a_hook_registered_by_a_name_that_nobody_knows():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    getattr(layer, eval("'register_forward_hook'"))(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def given_to_a_hook_put_where_nobody_knows():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    getattr(layer, eval("'_forward_hooks'"))[0] = turned_on
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def given_to_a_hook_registered_by_what_a_method_is_handed_to():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    eval("lambda method: method")(layer.register_forward_hook)(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def given_to_a_hook_whose_handle_is_kept():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    handle = getattr(layer, eval("'register_forward_hook'"))(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def given_to_a_layer_of_which_an_attribute_nobody_knows_was_read():
    """Raises: does not require grad"""
    layer = nn.Linear(3, 3)
    weight = getattr(layer, eval("'weight'"))
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    y = layer(x) * weight.sum()
    (x**2).sum().backward()  # warning: [TLN104]


def result_changed_by_a_hook_of_all_modules_registered_through_what_nobody_knows():
    class Model(nn.Module):
        def forward(self, x):
            return x.detach()

    scale = nn.Parameter(torch.ones(1))
    hook = eval("lambda module, given, result: result * scale", {"scale": scale})
    handle = eval("lambda given: given")(nn.modules.module).register_module_forward_hook(hook)
    Model()(torch.rand(3)).sum().backward()
    handle.remove()


def hook_of_all_modules_registered_by_who_is_given_the_function_for_it():
    class Model(nn.Module):
        def forward(self, x):
            return x.detach()

    scale = nn.Parameter(torch.ones(1))
    same = eval("lambda given: given")
    hook = eval("lambda module, given, result: result * scale", {"scale": scale})
    handle = same(nn.modules.module.register_module_forward_hook)(next(iter(same([hook]))))
    Model()(torch.rand(3)).sum().backward()
    handle.remove()


def layer_kept_under_a_name_that_nobody_knows():
    class Thawed:
        def __init__(self, net):
            setattr(self, eval("'net'"), net)

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def a_view_is_written_by_a_method_that_went_through_unknown_code():
    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    eval("lambda method: method")(matrix[0].copy_)(w)
    matrix.sum().backward()


def a_diagonal_is_written_by_a_method_that_went_through_unknown_code():
    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    eval("lambda method: method")(matrix.diagonal(offset=1).copy_)(w[1:])
    matrix.sum().backward()


def a_view_of_a_view_is_written_by_a_method_that_went_through_unknown_code():
    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    eval("lambda method: method")(matrix[1:][0].add_)(w)
    matrix.sum().backward()


def a_view_is_written_by_unknown_code():
    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    eval("lambda row, w: row.copy_(w)")(matrix[0], w)
    matrix.sum().backward()


def a_view_is_written_by_a_function_of_torch_that_nobody_knows():
    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    eval("torch.Tensor.copy_")(matrix[0], w)
    matrix.sum().backward()


def a_view_is_written_by_a_partial_of_unknown_code():
    import functools

    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    functools.partial(eval("torch.Tensor.copy_"), matrix[0])(w)
    matrix.sum().backward()


def a_view_is_written_by_a_method_in_a_list():
    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    [eval("lambda method: method")(matrix.T.add_)][0](w)
    matrix.sum().backward()


def a_view_is_written_by_a_method_that_is_looked_up():
    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    getattr(matrix[0], eval("'copy_'"))(w)
    matrix.sum().backward()


def a_view_is_written_under_map():
    matrix = torch.zeros(3, 3)
    w = eval("torch.rand(3, requires_grad=True)")
    list(map(eval("lambda method: method")(matrix[0].add_), [w]))
    matrix.sum().backward()


def a_layer_joins_a_sequence_with_what_nobody_knows_behind_it():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            setattr(self, eval("'linear'"), nn.Linear(features, features), *eval("[]"))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_out_of_a_list():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            setattr(*eval("lambda *given: given")(self, "linear", nn.Linear(features, features)))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_out_of_a_list_behind_it():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            setattr(self, *eval("lambda *given: given")("linear", nn.Linear(features, features)))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_by_the_method_of_its_class():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            nn.Module.__setattr__(self, eval("'linear'"), nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_by_the_method_of_its_base():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            super().__setattr__(eval("'linear'"), nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_by_its_own_method():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self.__setattr__(eval("'linear'"), nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_by_a_partial():
    import functools

    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            functools.partial(setattr, self)(eval("'linear'"), nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_as_a_module():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self.add_module(eval("'linear'"), nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_as_a_module_out_of_a_list():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self.add_module(*eval("lambda *given: given")("linear", nn.Linear(features, features)))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_in_its_dictionary():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self._modules[eval("'linear'")] = nn.Linear(features, features)
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_in_its_dictionary_by_a_method():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self._modules.update({eval("'linear'"): nn.Linear(features, features)})
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_in_its_dictionary_by_a_method_that_nobody_knows():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            getattr(self._modules, eval("'update'"))({eval("'linear'"): nn.Linear(features, features)})
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_in_its_dictionary_that_unknown_code_hands_back():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            eval("lambda it: it")(self._modules).update({"linear": nn.Linear(features, features)})

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_in_its_dictionary_by_another_method():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self._modules.setdefault(eval("'linear'"), nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_in_its_dictionary_by_a_union():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            self._modules |= {eval("'linear'"): nn.Linear(features, features)}
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def thawed_out_of_a_dictionary_that_is_updated():
    class Thawed:
        def __init__(self, net):
            self.__dict__.update(eval("lambda net: {'net': net}")(net))

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_a_dictionary_that_is_updated_with_a_name():
    class Thawed:
        def __init__(self, net):
            self.__dict__.update({eval("'net'"): net})

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_a_dictionary_that_is_united():
    class Thawed:
        def __init__(self, net):
            self.__dict__ |= {eval("'net'"): net}

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_a_dictionary_that_is_united_with_what_nobody_knows():
    class Thawed:
        def __init__(self, net):
            self.__dict__ |= eval("lambda net: {'net': net}")(net)

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_a_dictionary():
    class Thawed:
        def __init__(self, net):
            self.__dict__[eval("'net'")] = net

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_its_variables():
    class Thawed:
        def __init__(self, net):
            vars(self)[eval("'net'")] = net

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_its_variables_that_are_updated():
    class Thawed:
        def __init__(self, net):
            vars(self).update({eval("'net'"): net})

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_a_dictionary_with_a_default():
    class Thawed:
        def __init__(self, net):
            self.__dict__.setdefault(eval("'net'"), net)

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_a_dictionary_by_the_method_of_its_class():
    class Thawed:
        def __init__(self, net):
            dict.update(self.__dict__, {eval("'net'"): net})

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_a_dictionary_by_an_item():
    class Thawed:
        def __init__(self, net):
            dict.__setitem__(self.__dict__, eval("'net'"), net)

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_a_dictionary_that_is_given():
    class Thawed:
        def __init__(self, net):
            self.__dict__ = {eval("'net'"): net}

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_an_attribute_set_by_object():
    class Thawed:
        def __init__(self, net):
            object.__setattr__(self, eval("'net'"), net)

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_an_attribute_out_of_a_list():
    class Thawed:
        def __init__(self, net):
            setattr(self, *eval("lambda *given: given")("net", net))

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_its_class():
    class Thawed:
        def __init__(self, net):
            setattr(Thawed, eval("'net'"), net)

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_the_class_of_it():
    class Thawed:
        def __init__(self, net):
            setattr(type(self), eval("'net'"), net)

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_out_of_keywords_that_nobody_knows():
    class Thawed:
        def __init__(self, net):
            self.__dict__.update(**eval("lambda net: {'net': net}")(net))

        def thaw(self):
            self.net.requires_grad_(True)

    net = nn.Linear(3, 3).requires_grad_(False)
    Thawed(net).thaw()
    net(torch.ones(3)).sum().backward()


def thawed_in_a_special_method_under_a_name_that_nobody_knows():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

        def __len__(self):
            thaw(self.w)
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def thawed_in_a_special_method_that_looks_it_up():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

        def __len__(self):
            thaw(getattr(self, eval("'w'")))
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def thawed_in_a_special_method_out_of_a_dictionary():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            self.__dict__.update({eval("'w'"): w})

        def __len__(self):
            thaw(self.w)
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def thawed_in_a_special_method_out_of_a_list():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'held'"), [w])

        def __len__(self):
            thaw(self.held[0])
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def thawed_in_a_special_method_of_an_object_it_holds():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'held'"), eval("lambda w: {'w': w}")(w))

        def __len__(self):
            thaw(self.held["w"])
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def thawed_while_it_is_gone_through():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

        def __iter__(self):
            thaw(self.w)
            return iter([1])

    w = torch.ones(3)
    list(Stages(w))
    w.sum().backward()


def thawed_when_it_is_written():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

        def __repr__(self):
            thaw(self.w)
            return ""

    w = torch.ones(3)
    print(Stages(w))
    w.sum().backward()


def thawed_when_it_is_called():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

        def __call__(self):
            thaw(self.w)
            return 3

    w = torch.ones(3)
    Stages(w)()
    w.sum().backward()


def thawed_by_a_method_that_unknown_code_runs():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

        def run(self):
            thaw(self.w)
            return 3

    w = torch.ones(3)
    eval("lambda f: f()")(Stages(w).run)
    w.sum().backward()


def thawed_out_of_its_own_method():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

        def __len__(self):
            self.w.requires_grad_()
            return 3

    w = torch.ones(3)
    len(Stages(w))
    w.sum().backward()


def thawed_out_of_its_own_method_that_unknown_code_runs():
    thaw = eval("lambda tensor: tensor.requires_grad_()")

    class Stages:
        def __init__(self, w):
            setattr(self, eval("'w'"), w)

        def run(self):
            self.w.requires_grad_()
            return 3

    w = torch.ones(3)
    eval("lambda f: f()")(Stages(w).run)
    w.sum().backward()


def no_grad_is_another_one_by_a_name_that_nobody_knows():
    no_grad = torch.no_grad
    w = torch.rand(3, requires_grad=True)
    setattr(torch, eval("'no_grad'"), torch.enable_grad)
    with torch.no_grad():
        loss = (w * 2).sum()
    loss.backward()
    torch.no_grad = no_grad


def no_grad_is_another_one_in_its_dictionary():
    no_grad = torch.no_grad
    w = torch.rand(3, requires_grad=True)
    torch.__dict__["no_grad"] = torch.enable_grad
    with torch.no_grad():
        loss = (w * 2).sum()
    loss.backward()
    torch.no_grad = no_grad


def grad_mode_that_unknown_code_sets_inside_of_a_context():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        eval("torch.set_grad_enabled")(True)
        loss = (w * 2).sum()
    loss.backward()


def no_grad_is_another_one_after_unknown_code_was_given_torch():
    no_grad = torch.no_grad
    w = torch.rand(3, requires_grad=True)
    eval("lambda t: setattr(t, 'no_grad', t.enable_grad)")(torch)
    with torch.no_grad():
        loss = (w * 2).sum()
    loss.backward()
    torch.no_grad = no_grad


def set_in_a_class_past_its_metaclass():
    class Held:
        w = torch.ones(3)
    type.__setattr__(Held, eval("'w'"), torch.ones(3, requires_grad=True))
    Held().w.sum().backward()


def set_in_all_classes_of_an_object():
    class Held:
        w = torch.ones(3)
    class Sub(Held): pass
    h = Sub()
    for cls in Sub.__mro__[:-1]:
        setattr(cls, eval("'w'"), torch.ones(3, requires_grad=True))
    h.w.sum().backward()


def an_object_becomes_one_of_another_class():
    class Held: pass
    h = Held(); h.w = torch.ones(3)
    h.__class__ = eval("type('O', (), {'w': property(lambda s: torch.ones(3, requires_grad=True))})")
    h.w.sum().backward()


def what_an_object_holds_is_removed_and_its_class_has_another():
    class Held:
        w = torch.ones(3, requires_grad=True)
    h = Held(); h.w = torch.ones(3)
    del h.__dict__["w"]
    h.w.sum().backward()


def variables_under_another_name():
    w = torch.ones(3)
    g = globals()
    g["w"] = torch.ones(3, requires_grad=True)
    w.sum().backward()


def variables_that_are_united_with_others():
    w = torch.ones(3)
    g = globals()
    g |= {"w": torch.ones(3, requires_grad=True)}
    w.sum().backward()


def set_in_the_module_that_runs():
    import sys
    w = torch.ones(3)
    sys.modules[__name__].w = torch.ones(3, requires_grad=True)
    w.sum().backward()


def set_in_the_module_that_runs_by_a_call():
    import sys
    w = torch.ones(3)
    setattr(sys.modules[__name__], "w", torch.ones(3, requires_grad=True))
    w.sum().backward()


def set_among_the_variables_of_the_module_that_runs():
    import sys
    w = torch.ones(3)
    vars(sys.modules["__main__"])["w"] = torch.ones(3, requires_grad=True)
    w.sum().backward()


def set_among_the_variables_that_a_function_sees():
    w = torch.ones(3)
    def f(): pass
    f.__globals__["w"] = torch.ones(3, requires_grad=True)
    w.sum().backward()


def set_in_the_module_that_is_imported_as_itself():
    w = torch.ones(3)
    import __main__
    __main__.w = torch.ones(3, requires_grad=True)
    w.sum().backward()


def told_so_in_a_text_whose_value_is_kept():
    w = torch.ones(3)
    x = eval("w.requires_grad_()")
    w.sum().backward()


def told_so_in_a_text_that_is_tested():
    w = torch.ones(3)
    x = 1 if eval("w.requires_grad_() is None") else 2
    w.sum().backward()


def told_so_in_texts_that_nobody_knows():
    w = torch.ones(3)
    x = [eval(t) for t in ["w.requires_grad_()"]]
    w.sum().backward()


def told_so_in_a_text_that_is_gone_through():
    w = torch.ones(3)
    for x in eval("[w.requires_grad_()]"): pass
    w.sum().backward()


def hooked_into_a_layer_that_is_chosen():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    handle = getattr(layer if eval("True") else eval("0.5"), eval("'register_forward_hook'"))(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_one_of_two_layers():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    handle = getattr(layer if eval("True") else nn.Linear(3, 3), eval("'register_forward_hook'"))(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_in_a_list():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    handle = getattr([layer][eval("0")], eval("'register_forward_hook'"))(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_through_unknown_code():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    handle = getattr(eval("lambda layer: layer")(layer), eval("'register_forward_hook'"))(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_by_a_method_that_is_kept():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    register = getattr(layer if eval("True") else None, eval("'register_forward_hook'"))
    register(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_by_a_partial():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    __import__("functools").partial(getattr(layer, eval("'register_forward_hook'")), turned_on)()
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_by_its_dictionary():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    layer._forward_hooks[eval("7")] = turned_on
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_by_its_class():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    getattr(nn.Linear, eval("'register_forward_hook'"))(layer, turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_by_a_caller_of_methods():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    __import__("operator").methodcaller(eval("'register_forward_hook'"), turned_on)(layer)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_by_a_getter():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    __import__("operator").attrgetter(eval("'register_forward_hook'"))(layer)(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_all_layers():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    list(map(lambda each: getattr(each, eval("'register_forward_hook'"))(turned_on), layer.modules()))
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def hooked_into_a_layer_in_a_class():
    turned_on = eval("lambda module, given, output: (given[0].requires_grad_(), None)[1]")
    layer = nn.Linear(3, 3)
    class Hooked:
        def __init__(self, layer):
            self.layer = layer

    getattr(Hooked(layer).layer if eval("True") else None, eval("'register_forward_hook'"))(turned_on)
    with torch.no_grad():
        x = torch.ones(2, 3) + 1
    layer(x)
    (x**2).sum().backward()


def told_so_by_map():
    w = torch.ones(3)
    list(map(torch.Tensor.requires_grad_, [w]))
    w.sum().backward()


def told_so_by_map_of_one_of_two_that_may_be_anything():
    other = eval("lambda value: value")
    w = torch.ones(3)
    list(map(torch.Tensor.requires_grad_ if eval("True") else other, [w]))
    w.sum().backward()


def told_so_in_a_reduction():
    import functools

    w = torch.ones(3)
    functools.reduce(lambda a, b: a.requires_grad_(), [w, 1])
    w.sum().backward()


def told_so_in_a_reduction_by_a_method_handed_on():
    import functools

    w = torch.ones(3)
    functools.reduce(lambda a, b: next(iter([a.requires_grad_]))(), [w, 1])
    w.sum().backward()


def told_so_in_the_key_of_an_order():
    w = torch.ones(3)
    sorted([w], key=lambda t: t.requires_grad_() is None)
    w.sum().backward()


def told_so_in_the_key_of_a_choice():
    w = torch.ones(3)
    max([w], key=lambda t: t.requires_grad_() is None)
    w.sum().backward()


def told_so_where_it_is_an_index_of_an_object():
    w = torch.ones(3)
    class C:
        def __getitem__(self, x): x.requires_grad_()
    C()[w]
    w.sum().backward()


def an_item_set_by_a_function():
    import operator

    base = torch.zeros(3, 3)
    torch.add(base, eval("torch.ones(3, requires_grad=True)"), out=None)
    operator.setitem(base, 0, eval("torch.ones(3, requires_grad=True)"))
    base.sum().backward()


def added_in_place_by_a_function():
    import operator

    base = torch.zeros(3, 3)
    operator.iadd(base, eval("torch.ones(3, requires_grad=True)"))
    base.sum().backward()


def a_view_added_in_place_by_a_function():
    import operator

    base = torch.zeros(3, 3)
    operator.iadd(base[0], eval("torch.ones(3, requires_grad=True)"))
    base.sum().backward()


def told_so_by_a_method_of_its_class():
    w = torch.ones(3)
    torch.Tensor.requires_grad_(w)
    w.sum().backward()


def added_in_place_by_a_method_of_its_class():
    base = torch.zeros(3)
    torch.Tensor.__iadd__(base, torch.ones(3, requires_grad=True))
    base.sum().backward()


def added_in_place_by_a_method_of_its_class_to_one_of_two():
    import os

    base = torch.zeros(3)
    torch.Tensor.__iadd__(base if os.name else torch.zeros(3), torch.ones(3, requires_grad=True))
    base.sum().backward()


def told_so_past_its_class():
    w = torch.ones(3)
    object.__setattr__(w, "requires_grad", True)
    w.sum().backward()


def told_so_by_the_setter_of_its_class():
    w = torch.ones(3)
    torch.Tensor.__setattr__(w, "requires_grad", True)
    w.sum().backward()


def a_layer_told_so_by_a_method_of_its_class():
    net = nn.Linear(3, 3).requires_grad_(False)
    nn.Module.requires_grad_(net)
    net(torch.rand(3)).sum().backward()


def layers_told_so_by_map():
    net = nn.Linear(3, 3).requires_grad_(False)
    list(map(nn.Module.requires_grad_, [net]))
    net(torch.rand(3)).sum().backward()


def a_layer_told_so_by_a_method_of_the_class_it_has():
    net = nn.Linear(3, 3).requires_grad_(False)
    net.__class__.requires_grad_(net)
    net(torch.rand(3)).sum().backward()


def a_layer_told_so_by_a_method_of_its_type():
    net = nn.Linear(3, 3).requires_grad_(False)
    type(net).requires_grad_(net)
    net(torch.rand(3)).sum().backward()


def a_layer_is_given_another_parameter():
    net = nn.Linear(3, 3).requires_grad_(False)
    net.register_parameter("weight", nn.Parameter(torch.ones(3, 3)))
    net(torch.rand(3)).sum().backward()


def a_layer_is_given_other_parameters():
    net = nn.Linear(3, 3).requires_grad_(False)
    net._parameters = dict(weight=torch.ones(3, 3, requires_grad=True), bias=None)
    net(torch.rand(3)).sum().backward()


def a_layer_becomes_one_of_another_class():
    net = nn.Linear(3, 3).requires_grad_(False)
    net.__class__ = eval("type('L', (nn.Linear,), {'forward': lambda self, x: torch.ones(3, requires_grad=True)})")
    net(torch.rand(3)).sum().backward()


def another_layer_is_registered_in_its_place():
    net = nn.Sequential(nn.Linear(3, 3).requires_grad_(False))
    net.register_module("0", nn.Linear(3, 3))
    net(torch.rand(3)).sum().backward()


def a_layer_is_initialised_again():
    net = nn.Sequential(nn.Linear(3, 3).requires_grad_(False))
    net[0].__init__(3, 3)
    net(torch.rand(3)).sum().backward()


def layers_told_so_by_a_method_of_their_class():
    net = nn.Linear(3, 3).requires_grad_(False)
    net.apply(nn.Module.requires_grad_)
    net(torch.rand(3)).sum().backward()


def a_view_written_by_a_function_that_unknown_code_runs():
    base = torch.zeros(3, 3)
    r = base[0]
    def f(): r.add_(torch.ones(3, requires_grad=True))
    eval("lambda f: f()")(f)
    base.sum().backward()


def a_row_of_what_is_chosen_is_added_to():
    base = torch.zeros(3, 3)
    for r in base.unbind() if eval("False") else [base[0]]:
        r += eval("torch.ones(3, requires_grad=True)")
    base.sum().backward()


def written_by_a_function_that_unknown_code_runs():
    r = torch.zeros(3)
    def f(): r.add_(torch.ones(3, requires_grad=True))
    eval("lambda f: f()")(f)
    r.sum().backward()


def a_view_written_by_a_lambda_that_unknown_code_runs():
    base = torch.zeros(3, 3)
    r = base[0]
    eval("lambda f: f()")(lambda: r.add_(torch.ones(3, requires_grad=True)))
    base.sum().backward()


def one_of_several_views_written_by_a_lambda_that_unknown_code_runs():
    base = torch.zeros(3, 3)
    r = base[0]
    eval("lambda f: f()")(lambda: ([r][0] if eval("True") else r[0]).add_(torch.ones(3, requires_grad=True)))
    base.sum().backward()


def copied_into_by_a_function_that_unknown_code_runs():
    r = torch.zeros(3)

    def f():
        r.copy_(torch.ones(3, requires_grad=True))

    eval("lambda f: f()")(f)
    r.sum().backward()


def a_row_of_a_list_that_is_chosen_is_added_to():
    base = torch.zeros(3, 3)
    for r in [base[0]] if eval("True") else base.unbind():
        r += torch.ones(3, requires_grad=True)
    base.sum().backward()


def a_view_or_what_nobody_knows_is_added_to():
    base = torch.zeros(3, 3)
    r = base[0] if eval("True") else eval("torch.zeros(3)")
    r += torch.ones(3, requires_grad=True)
    base.sum().backward()


def a_row_of_a_list_that_nobody_knows_is_added_to():
    base = torch.zeros(3, 3)
    for r in [base[0], *eval("[]")]:
        r += torch.ones(3, requires_grad=True)
    base.sum().backward()


def a_view_that_a_text_gives_is_written():
    base = torch.zeros(3, 3)
    r = eval("base[0]")
    r.copy_(torch.ones(3, requires_grad=True))
    base.sum().backward()


def a_view_that_a_text_gives_is_added_to():
    base = torch.zeros(3, 3)
    r = eval("base[0]")
    r += torch.ones(3, requires_grad=True)
    base.sum().backward()


def an_item_is_set_of_what_a_text_gives():
    base = torch.zeros(3, 3)
    r = eval("base")
    r[0] = torch.ones(3, requires_grad=True)
    base.sum().backward()


def told_so_by_a_function_that_its_decorator_runs():
    base = torch.zeros(3, 3)
    @eval("lambda f: f()")
    def g(): base.requires_grad_()
    base.sum().backward()


def told_so_by_an_object_that_a_decorator_makes():
    base = torch.zeros(3, 3)
    @eval("lambda c: c()")
    class G:
        def __init__(self): base.requires_grad_()
    base.sum().backward()


def told_so_where_a_class_is_made():
    base = torch.zeros(3, 3)
    class G:
        base.requires_grad_()
    base.sum().backward()


def a_layer_joins_by_a_method_that_nobody_knows():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            getattr(self, eval("'__setattr__'"))(eval("'linear'"), nn.Linear(features, features))
            self.act = nn.Tanh()
    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_by_a_method_that_is_kept():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            add = getattr(self, eval("'add_module'"))
            add("linear", nn.Linear(features, features))
            self.act = nn.Tanh()
    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_is_replaced_by_a_method_that_nobody_knows():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3).requires_grad_(False)
        def forward(self, x): return self.l(x).sum()
    net = Net()
    getattr(net, eval("'set_submodule'"))("l", nn.Linear(3, 3))
    net(torch.rand(3)).backward()


def set_by_a_method_that_nobody_knows():
    class H: pass
    h = H(); h.w = torch.ones(3)
    getattr(h, eval("'__setattr__'"))("w", torch.ones(3, requires_grad=True))
    h.w.sum().backward()


def a_module_becomes_one_of_another_class():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3).requires_grad_(False)
        def forward(self, x): return self.l(x).sum()
    net = Net()
    net.__class__ = eval("type('N', (nn.Module,), {'forward': lambda self, x: torch.ones(3, requires_grad=True).sum()})")
    net(torch.rand(3)).backward()


def a_module_told_so_among_the_variables():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3).requires_grad_(False)
        def forward(self, x): return self.l(x).sum()
    net = Net()
    vars()["net"].requires_grad_()
    net(torch.rand(3)).backward()


def grad_mode_that_is_set_by_a_text_that_nobody_knows():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        eval("-".join(["torch.set_grad_enabled"]))(True)
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_text_that_is_chosen():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        eval(["torch.set_grad_enabled"][eval("0")])(True)
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_text_that_is_run():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        exec("-".join(["torch.set_grad_enabled(True)"]))
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_text_that_is_kept():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        enable = eval("-".join(["torch.set_grad_enabled"]))
        enable(eval("True"))
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_text_with_the_word():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        eval("torch").set_grad_enabled(True)
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_text_of_a_lambda():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        eval("-".join(["lambda: torch.set_grad_enabled(True)"]))()
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_text_that_calls():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        mode = eval("-".join(["torch.set_grad_enabled(True)"]))
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_name_of_torch():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        getattr(eval("torch"), eval("'set_grad_enabled'"))(True)
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_module_of_torch():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        __import__("torch").set_grad_enabled(True)
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_module_that_is_imported():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        __import__("importlib").import_module(eval("'torch'")).set_grad_enabled(True)
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_text_that_is_handed_on():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        list(map(eval("torch").set_grad_enabled, [True]))
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_text_that_chooses():
    import functools

    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        functools.partial(eval("torch if w is not None else None").set_grad_enabled, True)()
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_what_a_partial_holds():
    import functools

    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        functools.partial(eval("torch if w is not None else None").set_grad_enabled, eval("True"))()
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_a_text_enters():
    w = torch.rand(3, requires_grad=True)
    mode = eval("-".join(["torch.enable_grad"]))
    with torch.no_grad(), mode():
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_that_is_set_by_a_loaded_module_of_torch():
    import functools

    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        functools.partial(sys.modules["torch"].set_grad_enabled)(True)
        loss = (w * 2).sum()
    loss.backward()


def grad_mode_of_what_is_read_by_its_name():
    w = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        eval("__import__('operator')").attrgetter("set_grad_enabled")(torch)(True)
        loss = (w * 2).sum()
    loss.backward()


def told_so_by_map_among_others():
    w = torch.ones(3)
    found = list(range(eval("0")))
    list(map(torch.Tensor.requires_grad_, [*found, w]))
    w.sum().backward()


def told_so_by_filter():
    w = torch.ones(1)
    list(filter(torch.Tensor.requires_grad_, [w]))
    w.sum().backward()


def told_so_by_a_method_of_a_class_with_what_is_spread():
    w = torch.ones(3)
    torch.Tensor.requires_grad_(*[w], **eval("{}"))
    w.sum().backward()


def a_layer_told_so_by_map():
    net = nn.Linear(3, 1).requires_grad_(False)
    list(map(nn.Module.requires_grad_, [*eval("[]"), net]))
    net(torch.ones(3)).sum().backward()


def a_layer_joins_a_sequence_by_what_is_chosen():
    import functools

    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            put = {"some": functools.partial, "other": functools.partial}[eval("'some'")](setattr, self)
            put("linear", nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def a_layer_joins_a_sequence_under_another_name():
    class Stack(nn.Sequential):
        def __init__(self, features):
            super().__init__()
            eval("lambda x: x")(self).append(nn.Linear(features, features))
            self.act = nn.Tanh()

    Stack(3)(torch.rand(2, 3)).sum().backward()


def gradient_of_a_function_of_several_operations():
    """Its last node, a subtraction, holds nothing; the `tanh` before it does."""
    u = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(F.tanhshrink(u.sinh()), u, create_graph=True)
    (g * 1).abs().sum().backward()
    x = torch.rand(2, 3, 4, requires_grad=True)
    (h,) = torch.autograd.grad(F.instance_norm(x).square().sum(), x, create_graph=True)
    h.sum().backward()


def gradient_of_a_difference():
    """Raises: does not require grad"""
    u = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(u - 3 * u, u, create_graph=True)
    (g * 1).abs().sum().backward()  # error: [TLN104]


def class_from_torch_alone_that_unknown_code_decorates():
    def around(cls):
        class Derived(cls):
            def __call__(self, *given):
                return super().__call__(*given).requires_grad_()

        return Derived

    @eval("around")
    class Act(nn.ReLU):
        pass

    Act()(torch.rand(2, 3)).sum().backward()


def class_from_torch_alone_under_an_unknown_base():
    class Leaves:
        def forward(self, *given):
            return super().forward(*given).requires_grad_()

    class Act(eval("Leaves"), nn.ReLU):
        pass

    Act()(torch.rand(2, 3)).sum().backward()


def forward_from_torch_under_an_unknown_base():
    class Leaves:
        def forward(self, *given):
            return super().forward(*given).requires_grad_()

    class Act(eval("Leaves"), nn.ReLU):
        def forward(self, x):
            return super().forward(x) * 2

    Act()(torch.rand(2, 3)).sum().backward()


def object_of_a_class_from_torch_that_unknown_code_was_given():
    def switch(act):
        act.forward = lambda x: x.requires_grad_()

    class Act(nn.ReLU):
        pass

    act = Act()
    eval("switch")(act)
    act(torch.rand(2, 3)).sum().backward()


def class_from_torch_alone():
    """Raises: does not require grad"""

    class Act(nn.ReLU):
        pass

    Act()(torch.rand(2, 3)).sum().backward()  # error: [TLN104]


def forward_from_torch_of_a_class_that_unknown_code_decorates():

    @eval("lambda cls: cls")
    class Act(nn.Tanh):
        def forward(self, x):
            h = super().forward(x)
            h.add_(1)  # warning: [TLN201]
            return h

    Act()(torch.rand(2, 3))


# --- a dictionary made of one of which nobody knows the keys, and of more


def held_in_a_merged_dictionary():
    w = torch.ones(2, requires_grad=True)
    given = {key: torch.zeros(2) for key in eval("['a']")}
    held = dict(given, w=w)
    held["w"].sum().backward()
