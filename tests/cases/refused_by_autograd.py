# ruff: noqa
"""Programs for TLN118."""

import pytest
import torch
from torch import nn


def out_of_a_parameter():
    """Raises: arguments don't support automatic differentiation"""
    layer, buffer = nn.Linear(3, 3), torch.empty(3)
    torch.matmul(layer.weight, torch.ones(3), out=buffer)  # error: [TLN118]


def detached_in_place():
    """Raises: Can't detach views in-place"""
    hidden = torch.zeros(2, 3)
    part = hidden[:, 0]
    part.detach_()  # error: [TLN118]


def hook_on_data():
    """Raises: cannot register a hook on a tensor that doesn't require gradient"""
    x = torch.rand(2, 3)
    x.register_hook(print)  # error: [TLN118]


def gradient_of_the_input_kept():
    """Raises: can't retain_grad on Tensor that has requires_grad=False"""
    x = torch.rand(2, 3)
    x.retain_grad()  # error: [TLN118]
    nn.Linear(3, 1)(x).sum().backward()


def under_no_grad():
    """Raises: can't retain_grad on Tensor that has requires_grad=False"""
    layer = nn.Linear(3, 1)
    with torch.no_grad():
        y = layer(torch.ones(2, 3))
    y.retain_grad()  # error: [TLN118]


def integers():
    """Raises: can require gradients"""
    index = torch.arange(4)
    index.requires_grad_()  # error: [TLN118]


def a_parameter_of_integers():
    """Raises: can require gradients"""

    class Offsets(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = nn.Parameter(torch.arange(4))  # error: [TLN118]

    Offsets()


def flag_of_a_mask():
    """Raises: can require gradients"""
    mask = torch.rand(3) > 0.5
    mask.requires_grad = True  # error: [TLN118]


def allowed():
    w = torch.ones(3, requires_grad=True)
    found = torch.empty((), dtype=torch.long)
    torch.argmax(w, out=found)
    same = torch.empty(3, dtype=torch.bool)
    torch.eq(w, w, out=same)
    with torch.no_grad():
        torch.add(w, w, out=torch.empty(3))
    torch.add(w.detach(), 1, out=torch.empty(3))
    (w * 2).detach_()
    w.detach()[:2]
    w.data.detach_()
    w.retain_grad()
    w.register_hook(lambda grad: grad)


def integers_without_grad():
    steps = nn.Parameter(torch.arange(4), requires_grad=False)
    mask = torch.zeros(3, dtype=torch.bool).requires_grad_(False)
    whole = torch.arange(3.0, requires_grad=True)
    floats = torch.tensor([1, 2], dtype=torch.float32, requires_grad=True)
    converted = nn.Parameter(torch.arange(4).float())
    complex_ = torch.zeros(2, dtype=torch.complex64, requires_grad=True)


def asked_first():
    x = torch.rand(2, 3)
    if x.requires_grad:
        x.register_hook(print)
        x.retain_grad()
    if x.is_floating_point():
        x.requires_grad_()


def expected():
    x = torch.rand(2, 3)
    with pytest.raises(RuntimeError):
        x.register_hook(print)
    try:
        x.retain_grad()
    except RuntimeError:
        pass


def told_by_the_caller():
    def watch(x, layer):
        y = layer(x)
        y.retain_grad()
        y.register_hook(lambda grad: grad)
        torch.mul(x, 2, out=torch.empty(2, 3))
        return y

    watch(torch.ones(2, 3), nn.Linear(3, 1))


def a_share_for_a_parameter():
    class Block(nn.Module):
        def __init__(self, features, scale=None):
            super().__init__()
            self.scale = nn.Parameter(torch.full((features,), fill_value=scale))
            self.shift = nn.Parameter(torch.full((features,), 2**-features))

    def blocks(features, count: int = 8):
        return nn.ModuleList([Block(features, scale=1 / count) for _ in range(count)])

    def shares(features, count: int = 8, rate: float = 0.5):
        whole = nn.Parameter(torch.full((features,), count * rate))
        return whole, nn.Parameter(torch.full((features,), count - 0.5)), nn.Parameter(torch.full((features,), 1.0 * count))

    blocks(4)
    shares(3)


def filled_with_a_number_that_is_no_integer():
    value = max([0.5, 1.5], key=eval("abs"))
    torch.full((1,), value, requires_grad=True)
    torch.full((1,), fill_value=value, requires_grad=True)


def filled_with_an_integer():
    """Raises: floating point"""
    torch.full((1,), max([1, 2], key=eval("abs")), requires_grad=True)  # error: [TLN118]


def written_out_of_what_is_cast_to_an_unknown_dtype():
    w = torch.ones(3, requires_grad=True)
    whole = (w * 2).to(eval("torch.int64"))
    torch.sigmoid(whole, out=torch.ones(3))


def written_out_of_what_is_recorded():
    """Raises: arguments don't support automatic differentiation"""
    w = torch.ones(3, requires_grad=True)
    torch.sigmoid((w * 2).to(torch.float64), out=torch.ones(3, dtype=torch.float64))  # error: [TLN118]


def gradient_of_another_shape():
    """Raises: Mismatch in shape"""
    x = torch.rand(4, requires_grad=True)
    y = x * 2
    y.backward(torch.ones(3))  # error: [TLN118]


def one_number_for_a_vector():
    """Raises: Mismatch in shape"""
    y = torch.rand(4, requires_grad=True).exp()
    torch.autograd.backward([y], [torch.tensor(1.0)])  # error: [TLN118]


def outputs_of_another_shape():
    """Raises: Mismatch in shape"""
    x = torch.rand(4, requires_grad=True)
    torch.autograd.grad(x * 2, x, grad_outputs=torch.ones(5))  # error: [TLN118]


def a_grad_of_another_size():
    """Raises: attempting to assign a gradient of size"""
    w = torch.rand(4, requires_grad=True)
    w.grad = torch.ones(3)  # error: [TLN118]


def a_grad_of_integers():
    """Raises: attempting to assign a gradient with dtype"""
    w = torch.rand(4, requires_grad=True)
    w.grad = torch.ones(4, dtype=torch.long)  # error: [TLN118]


def after_accumulation_of_what_is_computed():
    """Raises: cannot be registered on non-leaf tensors"""
    w = torch.rand(4, requires_grad=True)
    h = w * 2
    h.register_post_accumulate_grad_hook(print)  # error: [TLN118]


def a_step_function():
    """Raises: is not implemented"""
    w = torch.rand(3, requires_grad=True)
    gate = torch.heaviside(w, torch.tensor([0.5]))
    gate.sum().backward()  # error: [TLN118]


def counts_of_weights():
    """Raises: is not implemented"""
    w = torch.rand(3, requires_grad=True)
    torch.bincount(torch.tensor([0, 1, 1]), weights=w).sum().backward()  # error: [TLN118]


def distinct_values():
    """Raises: is not implemented"""
    w = torch.rand(3, requires_grad=True)
    w.unique().sum().backward()  # error: [TLN118]


def gradients_that_fit():
    x = torch.rand(4, requires_grad=True)
    (x * 2).backward(torch.ones(4))
    (x * 2).sum().backward(torch.tensor(1.0))
    torch.autograd.grad((x * 2, x.sum()), x, grad_outputs=(torch.ones(4), None))
    torch.autograd.grad(x * 2, x, torch.eye(4), is_grads_batched=True)
    y = torch.rand(4, requires_grad=True)
    y.grad = torch.ones(4)
    y.grad = torch.full_like(y, 2.0)
    x.register_post_accumulate_grad_hook(lambda p: None)
    counts = torch.bincount(torch.tensor([0, 1, 1]), weights=x.detach()[:3])
    whole = (x // 0.3).detach()
    (x - x % 0.3).sum().backward()
    half = torch.rand(4).half().requires_grad_()
    half.grad = torch.zeros(4).half()


def sizes_of_the_caller():
    def weighted(loss, weights):
        loss.backward(weights)

    y = torch.rand(4, requires_grad=True) * 2
    weighted(y, torch.ones(4))
    weighted(y.sum(), torch.tensor(2.0)) if False else None


def a_weight_in_two_groups():
    """Raises: some parameters appear in more than one parameter group"""
    layer = nn.Linear(2, 1)
    torch.optim.SGD([{"params": layer.parameters()}, {"params": [layer.weight], "lr": 0.1}], lr=0.01)  # error: [TLN118]


def a_group_added_again():
    """Raises: some parameters appear in more than one parameter group"""
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    optimizer.add_param_group({"params": layer.bias})  # error: [TLN118]


def groups_apart():
    layer, head = nn.Linear(2, 1), nn.Linear(1, 1)
    optimizer = torch.optim.SGD([{"params": layer.weight}, {"params": [layer.bias], "lr": 0.1}], lr=0.01)
    optimizer.add_param_group({"params": head.parameters()})
    other = torch.optim.SGD(layer.parameters(), lr=0.01)


def features_of_inference_mode():
    """Raises: Inference tensors cannot be saved for backward"""
    enc, head = nn.Linear(3, 3), nn.Linear(3, 1)
    with torch.inference_mode():
        features = enc(torch.rand(2, 3))
    head(features).sum().backward()  # error: [TLN118]


def part_of_what_inference_mode_made():
    """Raises: Inference tensors cannot be saved for backward"""
    w = torch.rand(3, requires_grad=True)
    with torch.inference_mode():
        f = torch.rand(2, 3) * 2
    first = f[0]
    (w * first).sum().backward()  # error: [TLN118]


def told_to_require_grad():
    """Raises: on inference tensor"""
    with torch.inference_mode():
        f = torch.rand(3) * 2
    f.requires_grad_()  # error: [TLN118]


def cloned_or_added():
    w = torch.rand(3, requires_grad=True)
    given = torch.rand(3)
    with torch.inference_mode():
        f = torch.rand(3) * 2
        same = given[:]
        inside = (w * f).sum()
    (w * f.clone()).sum().backward()
    (w + f).sum().backward()
    (w * same).sum().backward()
    (f * 2).sum()
    with torch.no_grad():
        (w * f).sum()


def written_outside_of_inference_mode():
    """Raises: Inplace update to inference tensor outside InferenceMode"""
    with torch.inference_mode():
        scores = torch.rand(3) * 2
    scores.view(-1)[0] = 1  # error: [TLN118]


def written_inside_of_inference_mode_or_cut():
    with torch.inference_mode():
        scores = torch.rand(3) * 2
        scores[0] = 1
        with torch.inference_mode(False):
            own = torch.rand(3)
    own.add_(1)
    scores.detach().add_(1)
    with torch.inference_mode(len(own) > 2):
        scores.add_(1)
    scores = scores.clone()
    scores.add_(1)


def inference_that_may_be_off(fast=False):
    w = torch.rand(3, requires_grad=True)
    with torch.inference_mode(fast if (fast := len(w) > 5) else False):
        f = torch.rand(3) * 2
    (w * f).sum().backward()


def custom_function_saves_nothing():
    """Raises: not enough values to unpack"""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors  # error: [TLN118]
            return 2 * x * grad

    Square.apply(torch.ones(3, requires_grad=True)).sum().backward()


def custom_function_saves_in_setup_context():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,) = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    Square.apply(torch.ones(3, requires_grad=True)).sum().backward()


def custom_function_saves_in_a_helper():
    def keep(ctx, x):
        ctx.save_for_backward(x)

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            keep(ctx, x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    Square.apply(torch.ones(3, requires_grad=True)).sum().backward()


def custom_gradient_of_another_shape():
    """Raises: returned an invalid gradient"""

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, grad):
            return grad

    Sum.apply(torch.ones(3, requires_grad=True)).backward()  # error: [TLN118]


def custom_gradient_that_is_summed():
    class Spread(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + torch.zeros(4, 3)

        @staticmethod
        def backward(ctx, grad):
            return grad

    Spread.apply(torch.ones(3, requires_grad=True)).sum().backward()


def saved_through_a_name():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            save = ctx.save_for_backward
            save(a, b)
            return a * b

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return grad * b, grad * a

    Product.apply(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)).sum().backward()


def saved_by_a_function_that_is_given_it():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            kept = map(ctx.save_for_backward, (a,), (b,))
            assert list(kept) == [None]
            return a * b

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return grad * b, grad * a

    Product.apply(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)).sum().backward()


def loss_built_and_not_called():
    """Raises: object has no attribute 'backward'"""
    net = nn.Linear(2, 1)
    loss = nn.MSELoss(net(torch.rand(1, 2)), torch.rand(1, 1))  # warning: [TLN903]
    loss.backward()  # error: [TLN118]


def loss_called():
    net = nn.Linear(2, 1)
    loss = nn.MSELoss()(net(torch.rand(3, 2)), torch.rand(3, 1))
    loss.backward()


def loss_with_a_backward_of_its_own():
    class OwnLoss(nn.MSELoss):
        def backward(self):
            return None

    OwnLoss().backward()


def recorded_or_not_after_a_context_from_elsewhere_is_left():
    w = torch.rand(3, requires_grad=True)
    with torch.inference_mode():
        entered = eval("__import__('contextlib').nullcontext")()
        entered.__enter__()
        f = torch.rand(3) * 2
        entered.__exit__(None, None, None)
        inside = (w * f).sum()


def result_written_into_what_may_be_none():
    kept = eval("lambda tensor: None")(nn.Parameter(torch.randn(3)))
    torch.sigmoid(torch.tensor(2.0, requires_grad=True), out=kept)


def gradients_on_again_in_inference_mode():
    """Inference mode outdoes `enable_grad`: what is made there requires no grad, and nothing of it is saved."""
    w = torch.rand(3, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            y = w * 2
    z = y.square().sum()


def result_of_a_function_in_inference_mode():
    """Raises: Inference tensors cannot be saved for backward"""
    net, head = nn.Linear(4, 3), nn.Linear(3, 2)

    @torch.inference_mode()
    def features(x):
        return net(x)

    h = features(torch.rand(2, 4))
    head(h).sum().backward()  # error: [TLN118]


def result_of_a_method_in_inference_mode_with_gradients_on_inside():
    """Raises: Inference tensors cannot be saved for backward"""

    class Body(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(2, 2)

        @torch.inference_mode
        def features(self, x):
            with torch.enable_grad():
                return self.body(x) * 2

    w = torch.rand(2, requires_grad=True)
    (Body().features(torch.rand(1, 2)) * w).sum().backward()  # error: [TLN118]


def result_of_a_function_in_inference_mode_that_is_cloned_or_added():
    @torch.inference_mode()
    def twice(x):
        return x * 2

    w = torch.rand(2, requires_grad=True)
    ((twice(torch.rand(2)).clone() * w).sum() + (twice(torch.rand(2)) + w).sum()).backward()


def result_of_a_function_that_leaves_inference_mode():
    @torch.inference_mode(False)
    def twice(x):
        return x * 2

    w = torch.rand(2, requires_grad=True)
    (twice(torch.rand(2)) * w).sum().backward()


def result_of_a_function_after_one_in_inference_mode():
    @torch.inference_mode()
    def looks(x):
        return (x * 2).max().item()

    looks(torch.rand(2))
    w = torch.rand(2, requires_grad=True)
    ((torch.rand(2) * 2) * w).sum().backward()


def not_saved_where_nothing_is_recorded():
    with torch.inference_mode():
        scores = torch.rand(3) * 2
    powers = scores ** eval("0.5")
    weighted = eval("2.0") * scores


def group_of_a_layer_set_by_name():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    name = eval("'head'")
    setattr(net, name, nn.Linear(2, 3))
    optimizer.add_param_group({"params": net.head.parameters()})
    net.add_module(name, nn.Linear(2, 3))
    optimizer.add_param_group({"params": net.head.parameters()})
    net._modules[name] = nn.Linear(2, 3)
    optimizer.add_param_group({"params": net.head.parameters()})


def group_of_a_layer_with_a_composed_name():
    """Raises: some parameters appear in more than one parameter group"""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(2, 1)
            for number in range(int("2")):
                setattr(self, f"layer{number}", nn.Linear(2, 2))

    net = Net()
    optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
    optimizer.add_param_group({"params": net.head.parameters()})  # error: [TLN118]


def written_outside_of_inference_mode_with_grad_mode_off():
    """Raises: Inplace update to inference tensor outside InferenceMode is not allowed"""
    w = torch.rand(3, requires_grad=True)
    with torch.inference_mode():
        y = w.sigmoid()
        y += 1
    torch.set_grad_enabled(False)
    y.add_(w)  # error: [TLN118]


def written_by_a_function_with_a_mode_of_its_own_under_what_nobody_knows():
    kept = torch.inference_mode()(lambda: torch.rand(3).sigmoid())()

    @torch.no_grad()
    def shifted():
        return kept.add_(1)

    with eval("torch.inference_mode()"):
        shifted()
        with torch.enable_grad():
            kept.mul_(2)


def written_in_a_function_that_may_run_in_inference_mode():
    kept = torch.inference_mode()(lambda: torch.rand(3).sigmoid())()

    @torch.no_grad()
    def shifted():
        return kept.add_(1)

    with torch.inference_mode():
        shifted()


def written_behind_what_nobody_knows_and_has_left():
    """Raises: Inplace update to inference tensor outside InferenceMode is not allowed"""
    kept = torch.inference_mode()(lambda: torch.rand(3).sigmoid())()
    with eval("torch.inference_mode()"):
        kept.add_(1)
    kept.add_(1)  # warning: [TLN118]


def result_into_what_may_be_none():
    x = torch.tensor(2.0, requires_grad=True)
    kept = x * 2 if eval("False") else eval("None")
    torch.add(x, 1, out=kept)


def a_base_whose_forward_is_given_more_by_its_subclasses():
    class Base(torch.autograd.Function):
        @staticmethod
        def forward(cls, ctx, x):
            ctx.save_for_backward(x)
            return cls.scale * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    class Doubled(Base):
        scale = 2

        @classmethod
        def forward(cls, ctx, x):
            return super().forward(cls, ctx, x)

        @staticmethod
        def backward(ctx, grad):
            return 2 * Base.backward(ctx, grad)

    Doubled.apply(torch.ones(2, requires_grad=True)).sum().backward()


def a_base_whose_context_is_used_by_a_name_that_nobody_knows():
    class Base(torch.autograd.Function):
        @staticmethod
        def forward(cls, ctx, x):
            getattr(ctx, eval("'save_for_backward'"))(x)
            return cls.scale * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    class Doubled(Base):
        scale = 2

        @classmethod
        def forward(cls, ctx, x):
            return super().forward(cls, ctx, x)

        @staticmethod
        def backward(ctx, grad):
            return 2 * Base.backward(ctx, grad)

    Doubled.apply(torch.ones(2, requires_grad=True)).sum().backward()


class ScansIntoBuffers(nn.Module):
    """Nobody has run this with grad mode on: its author may call it for inference alone."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(3))

    def forward(self, x):
        result = torch.empty(3, 3)
        torch.matmul(self.weight, self.weight, out=result)  # warning: [TLN118]
        return result + x


def scans_into_buffers_in_a_script():
    """Raises: don't support automatic differentiation"""
    layer = nn.Linear(3, 3)
    result = torch.empty(3, 3)
    torch.matmul(layer.weight, layer.weight, out=result)  # error: [TLN118]


def an_annotation_that_the_default_belies():
    class Power(nn.Module):
        def __init__(self, size: int = 1, p: int = 0.1):
            super().__init__()
            self.p = nn.Parameter(torch.tensor(p))

    Power()


def an_integer_by_its_annotation():
    """Raises: Only Tensors of floating point and complex dtype can require gradients"""

    class Power(nn.Module):
        def __init__(self, p: int):
            super().__init__()
            self.p = nn.Parameter(torch.tensor(p * 2).clone())  # warning: [TLN118]

    eval("Power")(3)


def an_integer_by_its_annotation_that_is_a_size():
    """Raises: Only Tensors of floating point and complex dtype can require gradients"""

    class Power(nn.Module):
        def __init__(self, n: int):
            super().__init__()
            self.p = nn.Parameter(torch.full((n,), 1))  # error: [TLN118]

    eval("Power")(3)


def group_of_an_unknown_layer_set_by_name():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    setattr(net, eval("'head'"), getattr(nn, eval("'Linear'"))(2, 3))
    optimizer.add_param_group({"params": net.head.parameters()})
    net._modules[eval("'head'")] = eval("nn.Linear(2, 3)")
    optimizer.add_param_group({"params": net.head.parameters()})


def group_of_a_layer_set_out_of_a_list():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    setattr(net, *eval("('head', nn.Linear(2, 3))"))
    optimizer.add_param_group({"params": net.head.parameters()})
    net.add_module(*eval("('head', nn.Linear(2, 3))"))
    optimizer.add_param_group({"params": net.head.parameters()})
    net.register_module(eval("'head'"), eval("nn.Linear(2, 3)"))
    optimizer.add_param_group({"params": net.head.parameters()})
    net.set_submodule(eval("'head'"), eval("nn.Linear(2, 3)"))
    optimizer.add_param_group({"params": net.head.parameters()})
    net._modules.update(eval("dict(head=nn.Linear(2, 3))"))
    optimizer.add_param_group({"params": net.head.parameters()})
    net._modules |= eval("dict(head=nn.Linear(2, 3))")
    optimizer.add_param_group({"params": net.head.parameters()})
    net._modules.setdefault(eval("'head'"), eval("nn.Linear(2, 3)"))
    net.head = nn.Linear(2, 3)
    optimizer.add_param_group({"params": net.head.parameters()})


def detached_itself_and_no_view():
    """`flatten` of one dimension gives the tensor itself."""
    layer = nn.Linear(4, 3)
    nn.Flatten()(layer(torch.ones(2, 4))).detach_()
    layer(torch.ones(2, 4)).flatten(-2, 0).detach_()
    torch.flatten(layer.bias * 2).detach_()
    torch.flatten(layer(torch.ones(2, 4)), int(eval("0")), 0).detach_()
    (eval("layer(torch.ones(4))") * 2).flatten().detach_()


def detached_flat_view():
    """Raises: Can't detach views in-place"""
    flat = nn.Linear(4, 3)(torch.ones(2, 5, 4)).flatten(1)
    flat.detach_()  # error: [TLN118]


def detached_view_of_one_number():
    """Raises: Can't detach views in-place"""
    flat = nn.Linear(4, 3)(torch.ones(2, 4)).sum().flatten()
    flat.detach_()  # error: [TLN118]
