# ruff: noqa
"""Programs for TLN503."""

import torch
from torch.autograd import Function


def scale_forgotten():
    """Raises: returned an incorrect number of gradients (expected 2, got 1)"""

    class GradientReversal(Function):
        @staticmethod
        def forward(ctx, x, alpha):
            ctx.alpha = alpha
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.neg() * ctx.alpha  # error: [TLN503]

    GradientReversal.apply(torch.ones(2, requires_grad=True), 0.5).sum().backward()


def one_tensor_too_many():
    """Raises: returned an incorrect number of gradients (expected 1, got 2)"""

    class Identity(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad, grad  # error: [TLN503]

    Identity.apply(torch.ones(2, requires_grad=True)).sum().backward()


def bias_forgotten():
    """Raises: returned an incorrect number of gradients (expected 3, got 2)"""

    class Linear(Function):
        @staticmethod
        def forward(ctx, x, weight, bias):
            ctx.save_for_backward(x, weight)
            return x @ weight.t() + bias

        @staticmethod
        def backward(ctx, grad):
            x, weight = ctx.saved_tensors
            return grad @ weight, grad.t() @ x  # error: [TLN503]

    x = torch.rand(2, 3, requires_grad=True)
    Linear.apply(x, torch.rand(4, 3), torch.rand(4)).sum().backward()


def early_return():
    """Raises: returned an incorrect number of gradients (expected 2, got 1)"""

    class Clip(Function):
        @staticmethod
        def forward(ctx, x, limit):
            return x.clamp(max=limit)

        @staticmethod
        def backward(ctx, grad):
            if not ctx.needs_input_grad[1]:
                return None  # error: [TLN503]
            return grad, None

    Clip.apply(torch.ones(2, requires_grad=True), 0.5).sum().backward()


def separate_context():
    """Raises: returned an incorrect number of gradients (expected 2, got 1)"""

    class Multiply(Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return grad * y  # error: [TLN503]

    Multiply.apply(torch.ones(2, requires_grad=True), torch.ones(2)).sum().backward()


def none_for_the_rest():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor, offset=0.0, name=None):
            ctx.factor = factor
            return x * factor + offset

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None, None, None

    Scale.apply(torch.ones(2, requires_grad=True), 2.0).sum().backward()


def defaults_not_given():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor=2.0):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor

    Scale.apply(torch.ones(2, requires_grad=True)).sum().backward()


def any_number():
    class Sum(Function):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.n = len(tensors)
            return torch.stack(tensors).sum(0)

        @staticmethod
        def backward(ctx, grad):
            return (grad,) * ctx.n

    Sum.apply(torch.ones(2, requires_grad=True), torch.ones(2)).sum().backward()


def tuple_in_a_variable():
    class Add(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            grads = [None, None]
            for i in range(2):
                if ctx.needs_input_grad[i]:
                    grads[i] = grad
            return tuple(grads)

    Add.apply(torch.ones(2, requires_grad=True), torch.ones(2)).sum().backward()


def helper_computes_them():
    def gradients(grad):
        return grad, grad

    class Add(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            return gradients(grad)

    Add.apply(torch.ones(2, requires_grad=True), torch.ones(2)).sum().backward()


def surplus_of_none():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad, None, None

    Double.apply(torch.ones(2, requires_grad=True)).sum().backward()


def a_decorator_adds_one():
    def with_none(function):
        def wrapped(ctx, *grads):
            return (*function(ctx, *grads), None)

        return wrapped

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k

        @staticmethod
        @with_none
        def backward(ctx, g):
            return (g,)

    Scale.apply(torch.ones(2, requires_grad=True), 2).sum().backward()


def setup_context_is_inherited():
    class Strategy(torch.autograd.Function):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Tripled(Strategy):
        @staticmethod
        def forward(x):
            return x * 3

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = torch.ones(2, requires_grad=True)
    Tripled.apply(x).sum().backward()


def inherited_setup_context_and_a_missing_gradient():
    """Raises: incorrect number of gradients"""

    class Strategy(torch.autograd.Function):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

    class Scaled(Strategy):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            x, factor = ctx.saved_tensors
            return grad * factor  # error: [TLN503]

    x = torch.ones(2, requires_grad=True)
    Scaled.apply(x, torch.ones(2)).sum().backward()
