# ruff: noqa
"""Programs for TLN203."""

import torch
import torch.nn.functional as F
from torch import nn


def gradient_descent_by_hand():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    w = torch.randn(3, requires_grad=True)
    for _ in range(2):
        loss = (w - 1).pow(2).sum()
        loss.backward()
        w -= 0.1 * w.grad  # error: [TLN203]  # warning: [TLN112]


def weights_scaled_after_construction():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    layer = nn.Linear(2, 2)
    layer.weight.mul_(0.1)  # error: [TLN203]


def initialised_in_init():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.empty(3))
            self.scale.uniform_(-1, 1)  # error: [TLN203]

    Net()


def row_of_an_embedding():
    """Raises: a view of a leaf Variable that requires grad is being used in an in-place operation"""
    embedding = nn.Embedding(4, 2)
    embedding.weight[0] = torch.zeros(2)  # error: [TLN203]


def clamped_image():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    image = torch.rand(1, 3, 4, 4, requires_grad=True)
    optimizer = torch.optim.Adam([image])
    for _ in range(2):
        optimizer.zero_grad()
        image.pow(2).sum().backward()
        optimizer.step()
        image.clamp_(0, 1)  # error: [TLN203]


def updated_under_no_grad():
    w = torch.randn(3, requires_grad=True)
    for _ in range(2):
        (loss,) = torch.autograd.grad((w - 1).pow(2).sum(), w)
        with torch.no_grad():
            w -= 0.1 * loss


def init_functions():
    layer = nn.Linear(2, 2)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.constant_(layer.bias, 0.0)


def through_data():
    layer = nn.Linear(2, 2)
    layer.weight.data.normal_(0, 0.02)


def before_it_requires_grad():
    w = torch.empty(3)
    w.uniform_(-1, 1)
    w.requires_grad_()
    w.sum().backward()


def buffer_updated():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.zeros(1))

        def forward(self, x):
            self.steps += 1
            return x * self.steps

    Counter()(torch.rand(3))


def decorated_update():
    w = torch.randn(3, requires_grad=True)

    @torch.no_grad()
    def shrink():
        w.mul_(0.5)

    shrink()


def frozen_parameter():
    layer = nn.Linear(2, 2)
    layer.requires_grad_(False)
    layer.weight.fill_(1.0)


def rebound_not_modified():
    w = torch.randn(3, requires_grad=True)
    w = w - 0.1
    w.sum().backward()


def returned_by_code_that_froze_it():
    w = torch.ones(3, requires_grad=True)
    prepared = eval("lambda t: t.requires_grad_(False)")
    scale = prepared(w).sum()
    w.mul_(scale)


def unfrozen_leaves_of_a_list_that_code_returned():
    w = torch.ones(3, requires_grad=True)
    prepared = eval("lambda ts: [t.requires_grad_(False) for t in ts]")
    for t in prepared([w]):
        w.add_(t)


def dropout_at_a_rate_that_is_read():
    w = torch.ones(3, requires_grad=True)
    rate = eval("0.0")
    F.dropout(w, rate, inplace=True)


def dropout_at_its_own_rate():
    """Raises: a leaf Variable that requires grad"""
    w = torch.ones(3, requires_grad=True)
    F.dropout(w, inplace=True)  # error: [TLN203]


def into_a_leaf():
    """Raises: arguments don't support automatic differentiation"""
    w = torch.zeros(3, requires_grad=True)
    torch.add(torch.ones(3), 1, out=w)  # error: [TLN203]


def index_that_may_be_a_plain_false():
    limit = eval("0.5")
    w = torch.ones(3, requires_grad=True)
    w[limit < 0] = 2.0
    w[None][limit < 0] *= 2.0


def index_that_is_a_mask():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    limit = eval("0.5")
    w = torch.ones(3, requires_grad=True)
    w[w < limit] = 2.0  # error: [TLN203]


def init_that_is_applied():
    """Raises: a leaf Variable that requires grad"""

    def init(m):
        if isinstance(m, nn.Linear):
            m.weight.normal_(0, 0.02)  # error: [TLN203]

    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    net.apply(init)


def inits_that_are_applied():
    def init(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, 0, 0.02)
            m.bias.data.zero_()

    @torch.no_grad()
    def quietly(m):
        if isinstance(m, nn.Linear):
            m.weight.normal_(0, 0.02)

    def norms(m):
        if isinstance(m, nn.BatchNorm1d):
            m.running_mean.zero_()

    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    net.apply(init)
    net.apply(quietly)
    net.apply(norms)


def diagonals_taken_before_the_first_is_filled():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    values = torch.ones(3, requires_grad=True)
    matrix = torch.zeros(3, 3)
    diagonal = matrix.diagonal()
    upper = matrix.diagonal(offset=1)
    diagonal[..., :] = values
    upper[..., :] = values[1:]  # error: [TLN203]


def row_taken_before_the_rest_is_filled():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    values = torch.ones(3, requires_grad=True)
    matrix = torch.zeros(3, 3)
    row = matrix[1]
    matrix.copy_(values.expand(3, 3))
    row.mul_(2)  # error: [TLN203]


def diagonals_taken_when_they_are_filled():
    values = torch.ones(3, requires_grad=True)
    matrix = torch.zeros(3, 3)
    matrix.diagonal().copy_(values)
    matrix.diagonal(offset=1).copy_(values[1:])
    matrix.sum().backward()


def parts_of_a_view_and_one_that_was_asked():
    values = torch.ones(3, requires_grad=True)
    matrix = torch.zeros(3, 3)
    row, other, last = matrix[0], matrix[1], matrix[2]
    matrix.copy_(values.expand(3, 3))
    row[:2] = values[:2]
    print(other, f"{last}")
    other.mul_(2)
    last.mul_(2)
    matrix.sum().backward()


def row_written_where_nothing_is_recorded():
    values = torch.ones(3, requires_grad=True)
    matrix = torch.zeros(3, 3)
    row = matrix[1]
    matrix.copy_(values.expand(3, 3))
    with torch.no_grad():
        row.mul_(2)


def a_method_that_nobody_calls():
    """Raises: a leaf Variable that requires grad"""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x * self.scale

        def clip(self):
            self.scale.clamp_(0, 1)  # warning: [TLN203]

    eval("Layer")().clip()


def a_method_called_without_recording_alone():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x * self.scale

        def clip(self):
            self.scale.clamp_(0, 1)

        @torch.no_grad()
        def prepare(self):
            self.clip()

    layer = Layer()
    layer.prepare()
    with torch.inference_mode():
        layer.clip()
    layer(torch.ones(2, 3)).sum().backward()


def a_method_called_by_training():
    """Raises: a leaf Variable that requires grad"""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x * self.scale

        def clip(self):
            self.scale.clamp_(0, 1)  # error: [TLN203]

    def fit(data):
        layer = Layer()
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for x in data:
            optimizer.zero_grad()
            layer(x).sum().backward()
            optimizer.step()
            layer.clip()

    eval("fit")([torch.ones(3)])


def built_without_recording_alone():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))
            self.scale.uniform_(0, 1)

        def forward(self, x):
            return x * self.scale

    with torch.no_grad():
        layer = Layer()
    layer(torch.ones(2, 3)).sum().backward()


def table_filled_in_two_lines():
    """Raises: a leaf Variable that requires grad"""

    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(4, 6)
            self.table.weight[:, 0::2] = 0.5  # error: [TLN203]
            self.table.weight[:, 1::2] = 1.0

        def forward(self, x):
            return self.table(x)

    Positions()


def input_of_a_checkpoint_that_runs_again():
    """Raises: a leaf Variable that requires grad"""
    from torch.utils.checkpoint import checkpoint

    def double(t):
        t.mul_(2)  # error: [TLN203]
        return t

    w = torch.ones(3, requires_grad=True)
    checkpoint(double, w * 1, use_reentrant=True).sum().backward()


def input_of_a_checkpoint_that_does_not_run_again():
    from torch.utils.checkpoint import checkpoint

    def double(t):
        t.mul_(2)
        return t

    w = torch.ones(3, requires_grad=True)
    doubled = checkpoint(double, w * 1, use_reentrant=True)
    kept = checkpoint(double, w * 1, use_reentrant=False)
    kept.sum().backward()


def grad_mode_by_its_other_names():
    layer = torch.nn.Linear(2, 1)
    with torch.autograd.grad_mode.set_grad_enabled(mode=False):
        layer.weight.mul_(2)
    torch._C._set_grad_enabled(False)
    layer.weight.mul_(2)
    torch._C._set_grad_enabled(True)


def the_mode_that_was_before():
    layer = torch.nn.Linear(2, 1)

    def update():
        before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)
        layer.weight.mul_(2)
        torch.set_grad_enabled(before)
        if not torch.is_grad_enabled():
            layer.weight.mul_(2)

    def again():
        with torch.set_grad_enabled(torch.is_grad_enabled()):
            layer.weight.mul_(2)

    update()
    with torch.no_grad():
        again()


def FN_gradient_that_is_still_none():
    """Raises: 'NoneType' object has no attribute 'sign'

    No rule says so; what stands behind it is not reached, and torch refuses none of it.
    """
    x = torch.rand(3, requires_grad=True)
    step = x.grad.sign()
    x += 1


def gradient_that_is_still_none_and_errors_suppressed():
    """Raises: a leaf Variable that requires grad"""
    import contextlib

    x = torch.rand(3, requires_grad=True)
    with contextlib.suppress(AttributeError):
        x.grad.sign()
    try:
        x.grad.sign()
    except AttributeError:
        pass
    if x.grad is not None:
        x.grad.sign()
    x += 1  # error: [TLN203]


def constructor_without_gradients():
    class Positions(nn.Module):
        @torch.no_grad()
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(4, 6)
            self.table.weight[:, 0::2] = 0.5

    class Others(nn.Module):
        @eval("torch.no_grad()")
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(4, 6)
            self.table.weight[:, 0::2] = 0.5

    Positions()
    Others()


def parameter_that_may_have_been_frozen():
    class Scaled:
        def __init__(self):
            self.scale = torch.ones(3, requires_grad=True)

        def __getattribute__(self, name):
            return eval("lambda value: value.detach()")(super().__getattribute__(name))

    Scaled().scale.add_(1)


def written_after_a_getter_that_may_freeze_what_it_likes():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""

    class Cell:
        def __getattribute__(self, name):
            return eval("lambda name: name")(name)

    w = torch.ones(3, requires_grad=True)
    print(Cell().held)
    w.add_(1)  # warning: [TLN203]


def written_under_a_setter_of_an_unknown_name():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""

    class Cell:
        def __init__(self, w):
            self.w = w

    setattr(Cell, eval("'__setattr__'"), eval("object.__setattr__"))
    cell = Cell(torch.ones(3, requires_grad=True))
    cell.w.mul_(2)  # warning: [TLN203]


def added_to_from_the_second_iteration_on():
    total = w = torch.ones(2, requires_grad=True)
    for number, x in enumerate(eval("torch.rand(3, 2)")):
        if number > 0:
            total.add_(1)
        total = w * x


def written_from_the_second_iteration_on():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    w = torch.ones(2, requires_grad=True)
    for number, x in enumerate(eval("torch.rand(3, 2)")):
        if number > 0:
            w.add_(1)  # warning: [TLN203]


def converted_to_what_a_parameter_gave():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    scale = nn.Parameter(torch.ones(3))
    offset = torch.zeros(3, requires_grad=True)
    same = offset.type_as(scale * 2)
    same[0] = 1.0  # error: [TLN203]


def converted_to_a_parameter_that_goes_with_its_module():
    class Net(nn.Module):
        pass

    net = Net()
    weight = nn.Parameter(torch.ones(3))
    net.weight = weight
    eval("net.double()")
    offset = torch.zeros(3, requires_grad=True)
    converted = offset.type_as(weight)
    converted[0] = 1.0
def kept_otherwise_by_a_base_class_elsewhere():
    Base = eval("type('Base', (), {'__setattr__': lambda s, n, v: object.__setattr__(s, n, v.detach())})")

    class Cell(Base):
        def __init__(self, w):
            super().__init__()
            self.w = w

    cell = Cell(torch.ones(3, requires_grad=True))
    cell.w.mul_(2)


def kept_otherwise_by_a_setter_that_was_replaced():
    class Cell:
        def __init__(self, w):
            self.w = w

        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

    Cell.__setattr__ = eval("lambda self, name, value: object.__setattr__(self, name, value.detach())")
    cell = Cell(torch.ones(3, requires_grad=True))
    cell.w.mul_(2)


def frozen_by_what_a_wrapped_function_calls():
    same = eval("lambda each: each")
    look = eval("lambda each: each.requires_grad_(False)")

    @same
    def both(*tensors):
        return sum(look(each).sum() for each in tensors)

    w = torch.ones(3, requires_grad=True)
    total = both(w)
    w[0] = w[0] * 2
    print(total)


def frozen_by_what_a_generator_calls():
    look = eval("lambda each: each.requires_grad_(False)")

    def seen(tensor):
        yield look(tensor)

    w = torch.ones(3, requires_grad=True)
    found = list(seen(w))
    w[0] = w[0] * 2
    print(found)


def shown_by_a_getter_of_the_class():
    """Whoever asks a Module for an attribute is given it through this."""
    freeze = eval("lambda held: held['w'].requires_grad_(False) if isinstance(held, dict) and 'w' in held else held")

    class Cell(nn.Module):
        def __init__(self, w):
            self.__dict__["w"] = w

        def __getattribute__(self, name):
            return freeze(super().__getattribute__(name))

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.__dict__
    w.add_(1)


def update_that_is_called_under_no_grad():
    class Trainer:
        def __init__(self):
            self.w = torch.ones(3, requires_grad=True)

        def update(self):
            self.w -= 0.1 * self.w.grad

        def run(self):
            (self.w * 2).sum().backward()
            with torch.no_grad():
                self.update()

    Trainer().run()


def update_that_nobody_is_seen_to_call():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""

    class Trainer:
        def __init__(self):
            self.w = torch.ones(3, requires_grad=True)

        def update(self):
            self.w -= 0.1 * self.w.grad  # warning: [TLN203]

    trainer = Trainer()
    (trainer.w * 2).sum().backward()
    eval("trainer.update")()


def update_after_a_backward_of_its_own():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""

    class Trainer:
        def __init__(self):
            self.w = torch.ones(3, requires_grad=True)

        def update(self):
            (self.w * 2).sum().backward()
            self.w -= 0.1 * self.w.grad  # warning: [TLN203]

    eval("Trainer().update")()
def all_of_a_weight_is_written():
    """Raises: a view of a leaf Variable that requires grad is being used in an in-place operation"""

    class Elastic(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.linear = nn.Linear(inputs, outputs)
            self.active = outputs

        def forward(self, x):
            weight = self.linear.weight[: self.active, : x.size(1)].contiguous()
            weight.relu_()  # warning: [TLN203]
            return F.linear(x, weight)

    eval("Elastic")(3, 2)(torch.rand(4, 3))


def part_of_a_weight_is_copied():
    class Elastic(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.linear = nn.Linear(inputs, outputs)

        def forward(self, x):
            weight = self.linear.weight[:, :2].contiguous()
            weight.relu_()
            turned = self.linear.weight.t().contiguous()
            turned.mul_(2)
            first, _ = self.linear.weight.chunk(2, dim=1)
            first = first.contiguous()
            first.mul_(2)
            return F.linear(x[:, :2], weight) + turned.sum() + first.sum()

    Elastic(4, 2)(torch.rand(4, 4)).sum().backward()


def part_of_a_weight_is_written_with_grad_mode_off():
    class Elastic(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.linear = nn.Linear(inputs, outputs)
            self.active = outputs

        def forward(self, x):
            with torch.no_grad():
                weight = self.linear.weight[: self.active, : x.size(1)].contiguous()
                weight.relu_()
            return F.linear(x, self.linear.weight)

    Elastic(3, 2)(torch.rand(4, 3)).sum().backward()


def weight_or_a_copy_of_it():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x, shared=True):
            weight = self.weight if shared else self.weight.clone()
            weight.mul_(2)  # warning: [TLN203]
            return x * weight

    eval("Scaled")()(torch.rand(3))


def weight_of_which_the_trained_is_a_copy():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x):
            weight = self.weight.clone() if self.training else self.weight
            weight.mul_(2)
            return x * weight

    Scaled()(torch.rand(3)).sum().backward()


def kept_where_a_getter_of_the_class_says():
    """`self.__dict__` is asked for like any other attribute: it may give another dictionary."""
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell(nn.Module):
        def __init__(self, w):
            self.__dict__["w"] = w

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.__dict__
    w.add_(1)


def put_by_a_method_where_a_getter_of_the_class_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            self.__dict__.setdefault("w", w)

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_into_what_a_getter_of_the_class_gives():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            self.held.update({"w": w})

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_into_what_is_asked_for_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            getattr(self, "__dict__")["w"] = w

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_under_a_name_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            self.held["w"] = w

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def a_parameter_moved_to_where_it_is():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(4))

        def forward(self, x):
            scale = self.scale.to(device=x.device, dtype=torch.float32)
            scale *= 2  # warning: [TLN203]
            return x * scale

    Scaled()(torch.rand(3, 4))


def context_under_a_branch_of_a_generator():
    import contextlib

    chosen = eval("torch.no_grad")

    @contextlib.contextmanager
    def manager():
        if chosen:
            with chosen():
                yield

    @contextlib.contextmanager
    def caught():
        try:
            with chosen():
                yield
        except ValueError:
            pass

    w = torch.ones(3, requires_grad=True)
    with manager():
        w.mul_(2)
    with caught():
        w.mul_(2)


def put_by_an_item_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            dict.__setitem__(self.__dict__, "w", w)

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_by_the_method_of_its_class_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            dict.update(self.__dict__, w=w)

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_by_a_default_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            dict.setdefault(self.__dict__, "w", w)

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_by_a_union_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            self.held |= {"w": w}

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_by_an_operator_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            __import__("operator").setitem(self.held, "w", w)

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_by_a_method_that_is_kept_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            put = self.held.__setitem__
            put("w", w)

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_under_another_name_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            held = self.held
            held["w"] = w

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def put_into_its_variables_where_a_getter_says():
    kept = {}
    freeze = eval("lambda held: held['w'].requires_grad_(False) if 'w' in held else held")

    class Cell:
        def __init__(self, w):
            held = self.__dict__
            held.update({"w": w})

        def __getattribute__(self, name):
            return freeze(kept)

    w = torch.ones(3, requires_grad=True)
    cell = Cell(w)
    cell.held
    w.add_(1)


def written_after_a_method_caller_was_given_torch_whose_value_is_kept():
    import operator

    w = torch.rand(3, requires_grad=True)
    before = operator.methodcaller("set_grad_enabled", False)(torch)
    w.add_(1)
    torch.set_grad_enabled(True)


def written_after_a_method_caller_was_given_torch_within_a_call():
    import operator

    w = torch.rand(3, requires_grad=True)
    print(operator.methodcaller("set_grad_enabled", False)(torch))
    w.add_(1)
    torch.set_grad_enabled(True)


def written_after_a_method_caller_was_given_torch():
    import operator

    w = torch.rand(3, requires_grad=True)
    operator.methodcaller("set_grad_enabled", False)(torch)
    w.add_(1)
    torch.set_grad_enabled(True)


def written_between_what_a_generator_yields_under_no_grad():
    w = torch.rand(3, requires_grad=True)
    def gen():
        with torch.no_grad():
            yield 1
    for _ in gen():
        w.add_(1)
    torch.set_grad_enabled(True)


def written_between_what_a_generator_yields_under_a_context_without_a_name():
    modes = [torch.no_grad]
    w = torch.rand(3, requires_grad=True)
    def gen():
        with next(iter(modes))():
            yield 1
    for _ in gen():
        w.add_(1)
    torch.set_grad_enabled(True)


def written_between_what_a_generator_yields_under_an_open_file():
    """Raises: a leaf Variable that requires grad is being used in an in-place operation"""
    import os
    w = torch.rand(3, requires_grad=True)
    def gen():
        with open(os.devnull) as file:
            yield file.read()
    for _ in gen():
        w.add_(1)  # error: [TLN203]


def written_by_a_method_that_is_set_in_its_class():
    kept = torch.Tensor.add_
    w = torch.rand(3, requires_grad=True)
    setattr(type(w), "add_", lambda self, x: self)
    w.add_(1)
    torch.Tensor.add_ = kept


def written_by_a_method_that_its_class_is_given():
    kept = torch.Tensor.add_
    w = torch.rand(3, requires_grad=True)
    w.__class__.add_ = lambda self, x: self
    w.add_(1)
    torch.Tensor.add_ = kept


def written_by_what_its_class_is_given_by_another_name():
    kept = torch.Tensor.add_
    w = torch.rand(3, requires_grad=True)
    kind = w.__class__
    kind.add_ = eval("lambda self, x: self")
    w.add_(1)
    torch.Tensor.add_ = kept


def written_by_what_somebody_gives_its_class():
    kept = torch.Tensor.add_
    w = torch.rand(3, requires_grad=True)
    eval("setattr")(w.__class__, "add_", lambda self, x: self)
    w.add_(1)
    torch.Tensor.add_ = kept


def written_by_what_is_mapped_to_its_class():
    kept = torch.Tensor.add_
    w = torch.rand(3, requires_grad=True)
    list(map(setattr, [torch.Tensor], ["add_"], [lambda self, x: self]))
    w.add_(1)
    torch.Tensor.add_ = kept


def written_by_a_method_of_its_own():
    w = torch.rand(3, requires_grad=True)
    w.add_ = lambda x: None
    w.add_(1)


def written_by_a_method_in_its_dictionary():
    w = torch.rand(3, requires_grad=True)
    w.__dict__["add_"] = lambda x: None
    w.add_(1)


def written_by_a_method_among_its_variables():
    w = torch.rand(3, requires_grad=True)
    vars(w)["add_"] = lambda x: None
    w.add_(1)


def written_by_a_method_that_its_dictionary_is_updated_with():
    w = torch.rand(3, requires_grad=True)
    w.__dict__.update(add_=lambda x: None)
    w.add_(1)


def written_as_of_another_class():
    w = torch.rand(3, requires_grad=True)
    w.__class__ = eval("type('T', (torch.Tensor,), {'add_': lambda s, x: s})")
    w.add_(1)


def filled_by_a_factory():
    """Raises: functions with out=... arguments don't support automatic differentiation"""
    freq = nn.Parameter(torch.empty(3))
    torch.arange(1, freq.numel() + 1, out=freq).mul_(torch.pi)  # error: [TLN203]


def filled_by_a_factory_with_grad_mode_off():
    """It requires no grad any more."""
    freq = nn.Parameter(torch.empty(3))
    with torch.no_grad():
        torch.arange(1, freq.numel() + 1, out=freq).mul_(torch.pi)
    freq.mul_(2.0)


def a_tensor_filled_by_a_factory():
    steps = torch.empty(3)
    torch.arange(3, out=steps).mul_(torch.pi)
    steps.add_(1)


def weight_initialised_by_its_number_of_dimensions():
    """Raises: a view of a leaf Variable that requires grad is being used in an in-place operation"""

    class Net(nn.Module):
        def __init__(self, width: int, embeds: bool = True):
            super().__init__()
            if embeds:
                self.embed = nn.Embedding(width, width)
            self.mix = nn.Linear(width, width)
            for parameter in self.parameters():
                if parameter.dim() > 1 and parameter.is_contiguous() and parameter.is_floating_point():
                    nn.init.xavier_uniform_(parameter)

        def forward(self, x):
            weight = self.mix.weight.t()
            weight[..., :1] = 0  # error: [TLN203]
            return x @ weight

    Net(3)(torch.rand(2, 3))


def weight_of_a_class_that_is_a_layer():
    """Raises: a leaf Variable that requires grad"""

    class StandardisedConv2d(nn.Conv2d):
        def forward(self, x):
            weight = self.weight
            weight -= weight.mean(dim=(1, 2, 3), keepdim=True)  # error: [TLN203]
            return nn.functional.conv2d(x, weight, self.bias)

    StandardisedConv2d(2, 3, 1)(torch.rand(1, 2, 4, 4))


def weight_of_a_class_that_hands_its_arguments_on():
    """Raises: a leaf Variable that requires grad"""

    class Masked(nn.Linear):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

        def forward(self, x):
            self.weight.mul_(2)  # error: [TLN203]
            return super().forward(x)

    Masked(2, 3)(torch.rand(1, 2))


def statistics_of_a_class_that_is_a_layer():
    class Norm(nn.BatchNorm1d):
        def forward(self, x):
            self.running_mean.mul_(0.9)
            return x - self.running_mean

    Norm(2)(torch.rand(3, 2, requires_grad=True)).sum().backward()
