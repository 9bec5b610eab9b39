# ruff: noqa
"""Programs for TLN501."""

import torch
from torch.autograd import Function


def annotated_input():
    """Holds: w.grad.sum() == 0"""

    class Square(Function):
        @staticmethod
        def forward(ctx, x: torch.Tensor):
            ctx.x = x  # warning: [TLN501]
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.x * grad

    w = torch.ones(2, requires_grad=True)
    h = w * 3
    y = Square.apply(h)
    with torch.no_grad():
        h.zero_()
    try:
        y.sum().backward()
    except RuntimeError:  # with the fix torch sees the write
        pass


def output_kept():
    """Holds: kept() is not None"""
    import gc, weakref

    class Exp(Function):
        @staticmethod
        def forward(ctx, i):
            result = i.exp()
            ctx.result = result  # warning: [TLN501]
            return result

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.result

    gc.collect()
    gc.disable()
    y = Exp.apply(torch.ones(2, requires_grad=True))
    kept = weakref.ref(y)
    del y


def two_inputs_of_a_loss():
    """Holds: a.grad.abs().sum() == 0"""

    class Dot(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.a = a
            ctx.b = b  # warning: [TLN501]
            return torch.dot(a, b)

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.b.clone(), grad * ctx.a

    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = Dot.apply(a, b)
    with torch.no_grad():
        b.zero_()
    y.backward()


def kept_beside_saved_ones():
    """Holds: x.grad.sum() == 0"""

    class Weighted(Function):
        @staticmethod
        def forward(ctx, x, weight):
            ctx.save_for_backward(x)
            ctx.weight = weight  # warning: [TLN501]
            return (x * weight.view(-1)).sum()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * ctx.weight.view(-1), None

    x, weight = torch.ones(2, requires_grad=True), torch.ones(2)
    y = Weighted.apply(x, weight)
    weight.zero_()
    y.backward()


def numbers_shapes_and_flags():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, alpha, inplace):
            ctx.alpha = alpha
            ctx.inplace = inplace
            ctx.shape = x.shape
            ctx.device = x.device
            ctx.n = x.size(0)
            ctx.needs = ctx.needs_input_grad
            return x * alpha

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.alpha, None, None

    Scale.apply(torch.ones(2, requires_grad=True), 2.0, False).sum().backward()


def saved():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    Exp.apply(torch.ones(2, requires_grad=True)).sum().backward()


def tree_or_callable():
    class Run(Function):
        @staticmethod
        def forward(ctx, function, module, *args):
            ctx.function = function
            ctx.module = module
            with torch.no_grad():
                return function(*args)

        @staticmethod
        def backward(ctx, grad):
            return None, None, grad

    Run.apply(torch.sin, None, torch.ones(2, requires_grad=True)).sum().backward()


def context_of_something_else():
    class Cache:
        def forward(self, ctx, x: torch.Tensor):
            ctx.x = x
            return x

    class Context:
        pass

    Cache().forward(Context(), torch.ones(2))


def mask_made_in_forward():
    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mask = x > 0
            return x * ctx.mask

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.mask

    Relu.apply(torch.ones(2, requires_grad=True)).sum().backward()


def saved_as_well():
    """Unpacking the saved tensors checks the version of the one that is also an attribute."""

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight):
            ctx.weight = weight
            ctx.save_for_backward(x, weight)
            return x * weight

        @staticmethod
        def backward(ctx, grad):
            x, _ = ctx.saved_tensors
            return grad * ctx.weight, grad * x

    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    h = w * 1
    y = Scaled.apply(x, h)
    with torch.no_grad():
        h.zero_()
    try:
        y.sum().backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
    else:
        raise AssertionError


def input_that_nobody_writes():
    class Square(Function):
        @staticmethod
        def forward(ctx, x: torch.Tensor):
            ctx.x = x
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.x * grad

    x = torch.ones(2, requires_grad=True)
    Square.apply(x * 1).sum().backward()
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.step()


def operator_of_another_kind_kept():
    class Diagonal:
        def __init__(self, values):
            self.values, self.shape, self.dtype = values, values.shape, values.dtype

        def matmul(self, x):
            return self.values * x

    class Apply(torch.autograd.Function):
        @staticmethod
        def forward(ctx, operator, x):
            ctx.operator = operator
            return operator.matmul(x)

        @staticmethod
        def backward(ctx, grad):
            return None, ctx.operator.matmul(grad).to(ctx.operator.dtype)

    Apply.apply(Diagonal(torch.ones(3)), torch.ones(3, requires_grad=True)).sum().backward()


def number_given_to_functions():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.scale = scale
            return torch.mul(scale, x)

        @staticmethod
        def backward(ctx, grad):
            return torch.mul(ctx.scale, grad), None

    Scale.apply(torch.ones(3, requires_grad=True), 2.0).sum().backward()


def count_returned_beside_the_result():
    class Total(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            count = len(x)
            ctx.count = count
            return x.sum(), count

        @staticmethod
        def backward(ctx, grad, _):
            return grad.expand(ctx.count)

    Total.apply(torch.ones(3, requires_grad=True))[0].backward()


def returned_by_another_branch():
    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx, start, known):
            best = start.clone()
            if known:
                return best

            ctx.best = best
            best_of_all = start * 2
            return best_of_all

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * torch.ones_like(ctx.best), None

    Step.apply(torch.ones(3, requires_grad=True), False).sum().backward()


def returned_by_the_other_arm():
    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx, start, known):
            best = start.clone()
            if known:
                result = start * 2
                ctx.best = best
                return result
            elif start.dim() > 4:
                raise ValueError
            else:
                return best

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad * torch.ones_like(ctx.best), None

    Step.apply(torch.ones(3, requires_grad=True), True).sum().backward()


def kept_before_the_branch_that_returns_it():
    """Holds: kept() is not None"""
    import gc, weakref

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, i, twice):
            result = i.exp()
            with torch.no_grad():
                ctx.result = result  # warning: [TLN501]
            if twice:
                doubled = 2 * result
                return doubled
            for _ in range(1):
                if not twice:
                    return result

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.result, None

    gc.collect()
    gc.disable()
    y = Exp.apply(torch.ones(2, requires_grad=True), False)
    kept = weakref.ref(y)
    del y


def output_that_is_no_part_of_the_graph():
    import gc, weakref

    class Sorted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            places = x.argsort()
            counts = x.clone()
            ctx.places = places
            ctx.counts = counts
            ctx.mark_non_differentiable(counts)
            return x[places], places, counts

        @staticmethod
        def backward(ctx, grad, places, counts):
            return torch.zeros_like(grad).index_add(0, ctx.places, grad) + 0 * ctx.counts

    gc.collect()
    gc.disable()
    x = torch.rand(3, requires_grad=True)
    y, places, counts = Sorted.apply(x)
    y.sum().backward()
    kept = weakref.ref(places)
    assert places.grad_fn is None and counts.grad_fn is None
    del y, places, counts
    assert kept() is None


def output_beside_one_that_is_marked():
    """Holds: kept() is not None"""
    import gc, weakref

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            count = x.clone()
            value = x.exp()
            ctx.value = value  # warning: [TLN501]
            ctx.mark_non_differentiable(count)
            return value, count

        @staticmethod
        def backward(ctx, grad, of_count):
            return grad * ctx.value

    gc.collect()
    gc.disable()
    y, count = Exp.apply(torch.ones(2, requires_grad=True))
    kept = weakref.ref(y)
    del y, count
