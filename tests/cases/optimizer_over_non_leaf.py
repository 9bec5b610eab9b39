# ruff: noqa
"""Programs for TLN304."""

import torch
from torch import nn


def image_shifted():
    """Raises: can't optimize a non-leaf Tensor"""
    image = torch.rand(3, 4, 4, requires_grad=True) - 0.5
    optimizer = torch.optim.LBFGS([image])  # error: [TLN304]


def exponential_of_a_leaf():
    """Raises: can't optimize a non-leaf Tensor"""
    log_sigma = torch.zeros(1, requires_grad=True)
    sigma = log_sigma.exp()
    mu = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.Adam([mu, sigma], lr=0.1)  # error: [TLN304]


def in_a_group():
    """Raises: can't optimize a non-leaf Tensor"""
    model = nn.Linear(2, 2)
    offset = model.bias + 1
    groups = [{"params": [model.weight]}, {"params": [offset], "lr": 0.01}]
    optimizer = torch.optim.SGD(groups, lr=0.1)  # error: [TLN304]


def the_model_itself():
    """Raises: is not iterable"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 1)

        def forward(self, x):
            return self.layer(x)

    net = Net()
    optimizer = torch.optim.Adam(net, lr=1e-3)  # error: [TLN304]


def one_tensor():
    """Raises: params argument given to the optimizer should be an iterable of Tensors or dicts"""
    x = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.SGD(x, lr=0.1)  # error: [TLN304]


def list_of_generators():
    """Raises: optimizer can only optimize Tensors"""
    encoder, decoder = nn.Linear(2, 1), nn.Linear(1, 2)
    optimizer = torch.optim.Adam([encoder.parameters(), decoder.parameters()])  # error: [TLN304]


def values_through_data():
    """Holds: torch.equal(x, torch.zeros(3))"""
    start = torch.zeros(3, requires_grad=True)
    x = start.data
    optimizer = torch.optim.SGD([x], lr=0.1)  # error: [TLN304]
    (start - 1).pow(2).sum().backward()
    optimizer.step()


def leaf_and_parameters():
    model = nn.Linear(2, 2)
    x = torch.zeros(3, requires_grad=True)
    torch.optim.SGD([x, *model.parameters()], lr=0.1)
    torch.optim.SGD([{"params": model.parameters()}, {"params": [x], "lr": 0.01}], lr=0.1)
    torch.optim.SGD([{"params": x}], lr=0.1)


def required_after_the_optimizer():
    x = torch.zeros(3)
    optimizer = torch.optim.SGD([x], lr=0.1)
    x.requires_grad_()
    x.sum().backward()
    optimizer.step()


def frozen_parameters():
    model = nn.Linear(2, 2)
    model.weight.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def gradients_set_by_hand():
    x = torch.zeros(3)
    optimizer = torch.optim.SGD([x], lr=0.1)
    x.grad = torch.ones(3)
    optimizer.step()


def list_of_parameters():
    weights = nn.ParameterList([nn.Parameter(torch.zeros(2)) for _ in range(2)])
    torch.optim.SGD(weights, lr=0.1)


def detached_and_required():
    model = nn.Linear(2, 2)
    w = model.weight.detach().clone().requires_grad_()
    optimizer = torch.optim.SGD([w], lr=0.1)
    w.sum().backward()
    optimizer.step()


def moved_where_the_device_is_chosen():
    """Raises: can't optimize a non-leaf Tensor"""
    device = torch.device("meta" if torch.get_num_threads() else "cpu")
    start = torch.zeros(3, requires_grad=True).to(device)
    optimizer = torch.optim.Adam([start], lr=0.1)  # warning: [TLN304]


def moved_away_for_certain():
    """Raises: can't optimize a non-leaf Tensor"""
    start = torch.randn(3, requires_grad=True).to("meta")
    optimizer = torch.optim.Adam([start], lr=0.1)  # error: [TLN304]


def moved_by_the_argument_of_a_function():
    """Raises: can't optimize a non-leaf Tensor"""

    def invert(size, device):
        code = torch.randn(1, size, requires_grad=True).to(device)
        return torch.optim.Adam([code], lr=0.05)  # error: [TLN304]

    invert(4, "meta")


def moved_to_the_cpu_where_it_is():
    for cpu in ("cpu", torch.device("cpu")):
        start = torch.zeros(3, requires_grad=True).to(cpu)
        torch.optim.Adam([start, torch.zeros(3, requires_grad=True).cpu()], lr=0.1)


def made_on_the_device_it_is_moved_to():
    device = torch.device("meta" if torch.get_num_threads() else "cpu")
    start = torch.zeros(3, requires_grad=True, device=device).to(device)
    torch.optim.Adam([start], lr=0.1)


def default_device_is_the_one_it_is_moved_to():
    device = torch.device("meta")
    with device:
        start = torch.zeros(3, requires_grad=True).to(device)
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device("meta")
    other = torch.zeros(3, requires_grad=True).to(device)
    torch.optim.Adam([other], lr=0.1)
    torch.set_default_device(None)


def required_after_the_move():
    device = torch.device("meta" if torch.get_num_threads() else "cpu")
    start = torch.zeros(3).to(device).requires_grad_()
    kept = torch.zeros(3, requires_grad=True).to(device).detach().requires_grad_()
    torch.optim.Adam([start, kept], lr=0.1)


def moved_copy_beside_its_leaf():
    device = torch.device("meta" if torch.get_num_threads() else "cpu")
    leaf = torch.zeros(3, requires_grad=True)
    there = leaf.to(device)
    torch.optim.Adam([leaf], lr=0.1)


def default_dtype_set_to_what_it_is():
    """Raises: can't optimize a non-leaf Tensor"""
    torch.set_default_dtype(torch.float32)
    start = torch.zeros(3, requires_grad=True).double()
    torch.optim.Adam([start], lr=0.1)  # error: [TLN304]


def default_dtype_set_to_another_one():
    torch.set_default_dtype(torch.float64)
    start = torch.zeros(3, requires_grad=True).double()
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_dtype(torch.float32)


def default_dtype_set_by_a_function():
    def prepare():
        torch.set_default_dtype(torch.float64)

    def optimizer():
        start = torch.zeros(3, requires_grad=True).double()
        return torch.optim.Adam([start], lr=0.1)

    prepare()
    optimizer()
    torch.set_default_dtype(torch.float32)


def values_in_a_later_group():
    """Holds: torch.equal(before, net.weight)"""
    net = nn.Linear(2, 1)
    before = net.weight.detach().clone()
    groups = [{"params": [net.weight.data], "lr": 0.5}, {"params": [net.bias]}]
    optimizer = torch.optim.SGD(groups, lr=0.1)  # error: [TLN304]
    net(torch.ones(3, 2)).sum().backward()
    optimizer.step()


def scaled_tensor_in_an_added_group():
    """Raises: can't optimize a non-leaf Tensor"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scale = torch.rand(2, requires_grad=True)
    optimizer.add_param_group({"params": [scale * 0.1]})  # error: [TLN304]


def data_in_an_added_group():
    """Holds: torch.equal(offset, before)"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    offset = torch.rand(1)
    before = offset.clone()
    optimizer.add_param_group({"params": offset, "lr": 1.0})  # error: [TLN304]
    (net(torch.ones(3, 2)) + offset).sum().backward()
    optimizer.step()


def module_as_a_group():
    """Raises: object is not iterable"""
    net = nn.Linear(2, 1)
    torch.optim.SGD([{"params": net}], lr=0.1)  # error: [TLN304]


def groups_of_all_kinds():
    net, head = nn.Linear(2, 2), nn.Linear(2, 1)
    optimizer = torch.optim.SGD([{"params": net.weight}, {"params": [net.bias]}, {"params": head.parameters()}], lr=0.1)
    offset = nn.Parameter(torch.rand(1))
    optimizer.add_param_group({"params": offset})
    for _ in range(2):
        optimizer.zero_grad()
        (head(net(torch.ones(3, 2))) + offset).sum().backward()
        optimizer.step()


def frozen_bias_in_a_group():
    net = nn.Linear(2, 1)
    net.bias.requires_grad_(False)
    optimizer = torch.optim.SGD([{"params": [net.weight], "lr": 0.5}, {"params": [net.bias]}], lr=0.1)
    net(torch.ones(3, 2)).sum().backward()
    optimizer.step()


def required_after_it_was_added():
    net, offset = nn.Linear(2, 1), torch.zeros(1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.add_param_group({"params": [offset]})
    offset.requires_grad_()
    (net(torch.ones(3, 2)) + offset).sum().backward()
    optimizer.step()


def groups_added_on_some_paths():
    def build(more, much):
        net, offset, extra = nn.Linear(2, 1), torch.zeros(1), nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        if more:
            optimizer.add_param_group({"params": [extra]})
        if much == 1:
            optimizer.add_param_group({"params": [offset.requires_grad_()]})
        elif much == 2:
            optimizer.add_param_group({"params": nn.Linear(2, 3).parameters()})
        (net(torch.ones(3, 2)) + offset + extra).sum().backward()
        optimizer.step()

    for much in range(3):
        build(much % 2 == 0, much)


def an_optimizer_for_its_schedule_alone():
    optimizer = torch.optim.SGD([torch.tensor([])], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    print(scheduler.get_last_lr())


def vector_of_parameters():
    """Raises: can't optimize a non-leaf Tensor"""
    net = nn.Linear(3, 1)
    vector = nn.utils.parameters_to_vector(net.parameters())
    torch.optim.SGD([vector], lr=0.1)  # error: [TLN304]


def data_of_the_linear_layers():
    """Holds: torch.equal(before, wing[0].weight)"""
    wing = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    parts = [m.weight.data for m in wing if isinstance(m, nn.Linear)]
    opt = torch.optim.SGD(parts, lr=0.1)  # error: [TLN304]
    before = wing[0].weight.clone()
    wing(torch.rand(4, 3)).sum().backward()
    opt.step()


def weights_of_the_linear_layers():
    wing = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.LazyLinear(1))
    wing(torch.rand(4, 3))
    parts = [m.weight for m in wing if isinstance(m, (nn.Linear, nn.Conv2d))]
    opt = torch.optim.SGD(parts, lr=0.1)
    wing(torch.rand(4, 3)).sum().backward()
    opt.step()


def result_that_retains_its_gradient():
    w = torch.ones(3, requires_grad=True)
    doubled, tripled = w * 2, w * 3
    doubled.retain_grad()
    tripled.sum().backward(inputs=[tripled])
    torch.optim.SGD([doubled, tripled], lr=0.1)


def gradient_that_other_code_retains():
    import operator

    x = torch.ones(2, requires_grad=True)
    y = x * 2
    operator.methodcaller("retain_grad")(y)
    optimizer = torch.optim.SGD([y], lr=0.1)
    y.sum().backward()
    optimizer.step()


def gradient_that_a_method_of_some_name_retains():
    import os

    x = torch.ones(2, requires_grad=True)
    y = x * 2
    getattr(y, os.environ.get("TORCHLINT_METHOD", "retain_grad"))()
    optimizer = torch.optim.SGD([y], lr=0.1)
    y.sum().backward()
    optimizer.step()


def made_to_retain_its_gradient_by_unknown_code():
    retain = eval("lambda tensors: [each.retain_grad() for each in tensors]")
    a = torch.ones(3, requires_grad=True)
    w = a.abs()
    kept = retain((w,))
    torch.optim.SGD([a, w], lr=0.1)
def whether_it_learns_is_a_switch():
    class Point:
        def __init__(self, learn=True):
            self.w = torch.ones(3, requires_grad=learn)

    one, two = Point(), Point(learn=False)
    optimizer = torch.optim.SGD([one.w, two.w], lr=0.1)
    (one.w * two.w).sum().backward()
    optimizer.step()


def number_that_is_its_own_transpose():
    scale = torch.ones((), requires_grad=True)
    torch.optim.SGD([scale.mT], lr=0.1)


def transposed_with_nobody_knows_how_many_dimensions():
    scale = torch.ones(eval("[]"), requires_grad=True)
    torch.optim.SGD([scale.mT], lr=0.1)
    torch.optim.SGD([scale.adjoint()], lr=0.1)
    row = torch.ones(eval("3"), requires_grad=True)
    torch.optim.SGD([row.flatten()], lr=0.1)


def leaf_written_in_an_unknown_mode():
    table = torch.eye(4, requires_grad=True)
    with torch.no_grad():
        with eval("torch.no_grad")():
            table[0].add_(1)
    torch.optim.Adam([table])
def over_what_a_gradient_with_a_graph_has_saved():
    """Raises: can't optimize a non-leaf Tensor"""
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    (gradient,) = torch.autograd.grad((y * y).sum(), y, create_graph=True)
    gradient.sum().backward()
    optimizer = torch.optim.SGD([y], lr=0.1)  # error: [TLN304]


def output_of_a_recurrent_layer():
    """Raises: can't optimize a non-leaf Tensor"""
    cell = nn.GRU(3, 3)
    out, hidden = cell(torch.ones(2, 1, 3))
    optimizer = torch.optim.SGD([out], lr=0.1)  # error: [TLN304]


def default_device_set_by_a_name_that_is_computed():
    getattr(torch, eval("'set_default_device'"))("meta")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_by_a_function_that_unknown_code_hands_back():
    eval("lambda function: function")(torch.set_default_device)("meta")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_inside_of_another_context():
    with torch.no_grad():
        torch.set_default_device("meta")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_that_is_chosen_inside_of_a_context():
    import contextlib

    with contextlib.suppress(ValueError):
        torch.set_default_device(eval("'meta'"))
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_that_may_be_chosen_inside_of_a_context():
    import contextlib

    with contextlib.suppress(ValueError):
        eval("lambda f: f")(torch.set_default_device)("meta")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_that_a_lambda_chooses():
    eval("lambda f: f()")(lambda: torch.set_default_device("meta"))
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_chosen_by_what_torch_keeps():
    vars(torch)["set_default_" + "device"]("meta")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def frozen_in_the_first_step_only():
    lin = nn.Linear(4, 1)

    def ascend(alphas, rounds):
        dual = torch.optim.SGD([{"params": alphas}], lr=0.1)
        for _ in range(rounds):
            loss = (lin(alphas) ** 2).sum()
            dual.zero_grad()
            loss.backward()
            dual.step()
            alphas.requires_grad = False
            alphas.clamp_(min=0.0)
            alphas.requires_grad = True
        return alphas

    before = torch.rand(4)
    assert ascend(before.clone(), 3).ne(before).any()
    ascend(torch.rand_like(before), 3)


def frozen_again_after_every_step():
    """Holds: not alphas.requires_grad"""
    lin = nn.Linear(4, 1)
    alphas = torch.rand(4)
    dual = torch.optim.SGD([{"params": alphas}], lr=0.1)  # error: [TLN304]
    for _ in range(3):
        loss = (lin(alphas) ** 2).sum()
        dual.zero_grad()
        loss.backward()
        dual.step()
        alphas.requires_grad = False
        alphas.clamp_(min=0.0)
def default_device_set_by_what_unknown_code_makes_of_torch():
    pair = eval("lambda pair: pair")
    getattr(*pair((torch, "set_default_device")))("meta")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def called_only_where_unknown_code_may_have_set_the_device():
    def made():
        weight = torch.ones(3, requires_grad=True).to("meta")
        return torch.optim.SGD([weight], lr=0.1)

    place = eval("torch.device")
    with place("meta"):
        made()


def called_where_nothing_has_set_the_device():
    """Raises: can't optimize a non-leaf Tensor"""

    def made():
        weight = torch.ones(3, requires_grad=True).to("meta")
        return torch.optim.SGD([weight], lr=0.1)  # error: [TLN304]

    with torch.enable_grad():
        made()


def default_dtype_that_unknown_code_may_set_back():
    """Raises: can't optimize a non-leaf Tensor"""
    import contextlib

    @contextlib.contextmanager
    def kept():
        yield

    with eval("kept")():
        torch.set_default_dtype(torch.float64)
    weight = torch.ones(3, requires_grad=True).to(torch.float32)
    torch.optim.SGD([weight], lr=0.1)  # warning: [TLN304]


def default_device_set_in_a_text():
    eval("torch.set_default_device('meta')")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_in_a_text_that_is_run():
    exec("torch.set_default_device('meta')")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_in_a_text_that_is_kept():
    nothing = eval("torch.set_default_device('meta')")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_in_a_text_that_nobody_knows():
    text = "-".join(["torch.set_default_device('meta')"])
    eval(text)
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_in_a_text_inside_of_a_context():
    import contextlib

    with contextlib.suppress(ValueError):
        eval("torch.set_default_device('meta')")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_in_a_text_that_is_compiled():
    exec(compile("torch.set_default_device('meta')", "text", "exec"))
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_by_a_function_in_a_text():
    eval("lambda: torch.set_default_device('meta')")()
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_by_a_function_that_a_text_gives():
    eval("torch.set_default_device")("meta")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_in_a_text_in_a_list():
    [eval("torch.set_default_device('meta')") for _ in range(1)]
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_under_map():
    list(map(torch.set_default_device, ["meta"]))
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_by_a_partial():
    functools = eval("__import__('functools')")
    functools.partial(torch.set_default_device, "meta")()
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_entered_in_a_text():
    eval("torch.device('meta').__enter__()")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_by_what_unknown_code_is_given():
    eval("lambda place: torch.set_default_device(place)")("meta")
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def default_device_set_by_what_unknown_code_is_told():
    eval("lambda place: torch.set_default_device(place)")(torch.device("meta"))
    start = torch.zeros(3, requires_grad=True).to("meta")
    torch.optim.Adam([start], lr=0.1)
    torch.set_default_device(None)


def written_by_its_own_method_that_unknown_code_has_called():
    w = getattr(torch.rand(1), eval("'requires_grad_'"))()
    torch.autograd.backward([w], [torch.ones_like(w)])
    with torch.no_grad():
        torch.optim.Adam([w.add_(w)], lr=0.1)


def written_after_unknown_code_has_handed_it_back():
    w = eval("lambda w: w")(torch.rand(1, requires_grad=True))
    w.backward()
    with torch.no_grad():
        torch.optim.Adam([w.zero_()], lr=0.1)


def deepcopied():
    w = eval("lambda w: w")(torch.rand(1, requires_grad=True))
    w.backward()
    w.requires_grad_()
    torch.optim.Adam([w.data.requires_grad_()], lr=0.1)
    torch.optim.Adam([w.requires_grad_()], lr=0.1)


def the_leaf_cast_to_the_dtype_that_it_has():
    x = torch.tensor(2.0, requires_grad=True)
    x = x.to(x.dtype)
    optimizer = torch.optim.AdamW([x])
    (x**2).backward()
    optimizer.step()


def the_leaf_cast_to_the_dtype_of_another():
    """Raises: can't optimize a non-leaf Tensor"""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(2.0, dtype=torch.float64)
    x = x.to(y.dtype)
    torch.optim.AdamW([x])  # error: [TLN304]


def view_without_an_edge_after_a_step_that_had_no_gradient():
    """No gradient comes to the leaf through a view that is made under `no_grad`."""
    w = torch.ones(3, 4, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    with eval("torch.no_grad()"):
        view = w[..., None]
    view.sum().backward()
    optimizer.step()
    torch.optim.SGD([view], lr=0.1)


def view_after_a_step():
    """Raises: can't optimize a non-leaf Tensor"""
    w = torch.ones(3, 4, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    view = w[..., None]
    view.sum().backward()
    optimizer.step()
    torch.optim.SGD([view], lr=0.1)  # error: [TLN304]
