# ruff: noqa
"""Programs for TLN506."""

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def sigmoid_that_is_not_returned():
    """Holds: abs(second[0] - hessian) > 0.01"""

    class Swish(Function):
        @staticmethod
        def forward(ctx, x):
            s = torch.sigmoid(x)
            ctx.save_for_backward(x, s)  # strict: [TLN506]
            return x * s

        @staticmethod
        def backward(ctx, grad):
            x, s = ctx.saved_tensors
            return grad * (s + x * s * (1 - s))

    x = torch.tensor(0.5, requires_grad=True)
    hessian = torch.autograd.functional.hessian(lambda t: t * torch.sigmoid(t), x.detach())
    (slope,) = torch.autograd.grad(Swish.apply(x), x, torch.ones((), requires_grad=True), create_graph=True)
    try:
        second = torch.autograd.grad(slope.sum(), x, allow_unused=True)
    except RuntimeError:  # with the fix torch refuses
        pass


def numpy_in_backward():
    """Holds: second[0] is None"""

    class Fft(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.from_numpy(np.sin(x.detach().numpy()))

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * torch.from_numpy(np.cos(x.detach().numpy()))  # strict: [TLN506]

    x = torch.ones(2, requires_grad=True)
    seed = torch.ones(2, requires_grad=True)
    (slope,) = torch.autograd.grad(Fft.apply(x), x, seed, create_graph=True)
    try:
        second = torch.autograd.grad(slope.sum(), x, allow_unused=True)
    except RuntimeError:  # with the fix torch refuses
        pass


def detached_in_backward():
    """Holds: second[0] is None"""

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x.detach() * grad  # strict: [TLN506]

    x = torch.ones(2, requires_grad=True)
    seed = torch.ones(2, requires_grad=True)
    (slope,) = torch.autograd.grad(Square.apply(x), x, seed, create_graph=True)
    try:
        second = torch.autograd.grad(slope.sum(), x, allow_unused=True)
    except RuntimeError:  # with the fix torch refuses
        pass


def exponential_saved_before_it_is_scaled():
    """Holds: second[0] is None"""

    class ScaledExp(Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.scale = scale
            e = x.exp()
            ctx.save_for_backward(e)  # strict: [TLN506]
            return scale * e

        @staticmethod
        def backward(ctx, grad):
            (e,) = ctx.saved_tensors
            return grad * ctx.scale * e, None

    x = torch.ones(2, requires_grad=True)
    seed = torch.ones(2, requires_grad=True)
    (slope,) = torch.autograd.grad(ScaledExp.apply(x, 2.0), x, seed, create_graph=True)
    try:
        second = torch.autograd.grad(slope.sum(), x, allow_unused=True)
    except RuntimeError:  # with the fix torch refuses
        pass


def declared():
    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            c = torch.cos(x)
            ctx.save_for_backward(c)
            return torch.sin(x)

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            (c,) = ctx.saved_tensors
            return grad * torch.from_numpy(c.detach().numpy())

    Sine.apply(torch.ones(2, requires_grad=True)).sum().backward()


def inputs_and_outputs():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = torch.exp(x)
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return grad * y

    Exp.apply(torch.ones(2, requires_grad=True)).sum().backward()


def masks_have_no_derivative():
    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            mask = torch.gt(x, 0)
            index = x.argmax()
            ctx.save_for_backward(mask, index)
            return x * mask

        @staticmethod
        def backward(ctx, grad):
            mask, index = ctx.saved_tensors
            return grad * mask

    Relu.apply(torch.ones(2, requires_grad=True)).sum().backward()


def checkpoint():
    class Checkpoint(Function):
        @staticmethod
        def forward(ctx, function, x):
            ctx.function = function
            ctx.save_for_backward(x)
            with torch.no_grad():
                return function(x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                again = x.detach().requires_grad_()
                y = ctx.function(again)
            torch.autograd.backward(y, grad)
            return None, again.grad

    Checkpoint.apply(torch.sin, torch.ones(2, requires_grad=True)).sum().backward()


def numpy_constants():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x):
            return x * np.pi

        @staticmethod
        def backward(ctx, grad):
            size = np.prod(grad.size())
            return grad * np.pi * np.sqrt(4.0) * int(size // 2)

    Scale.apply(torch.ones(2, requires_grad=True)).sum().backward()


def checkpoint_that_sets_the_mode():
    class Checkpoint(Function):
        @staticmethod
        def forward(ctx, function, x):
            ctx.function = function
            ctx.save_for_backward(x)
            with torch.no_grad():
                return function(x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with torch.set_grad_enabled(True):
                again = x.detach()
                again.requires_grad = True
                y = ctx.function(again)
            return None, torch.autograd.grad(y, again, grad)[0]

    Checkpoint.apply(torch.sin, torch.ones(2, requires_grad=True)).sum().backward()


def intermediate_by_an_operator():
    """Holds: not slope.requires_grad"""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            twice = x * 2
            ctx.save_for_backward(twice)  # strict: [TLN506]
            return x * x

        @staticmethod
        def backward(ctx, g):
            (twice,) = ctx.saved_tensors
            return g * twice

    x = torch.rand(3, requires_grad=True)
    (slope,) = torch.autograd.grad(Square.apply(x).sum(), x, create_graph=True)  # strict: [TLN108]


def intermediate_kept_by_setup_context():
    """Holds: not slope.requires_grad"""

    class Cosh(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return torch.cosh(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.slope = torch.sinh(inputs[0])  # strict: [TLN506]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.slope

    x = torch.rand(3, requires_grad=True)
    (slope,) = torch.autograd.grad(Cosh.apply(x).sum(), x, create_graph=True)  # strict: [TLN108]


def numbers_and_inputs_kept():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.factor = scale * 2
            half = scale / 2
            ctx.half = half
            ctx.save_for_backward(x)
            return x * scale

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.factor * ctx.half, None

    Scaled.apply(torch.rand(3, requires_grad=True), 2.0).sum().backward()
