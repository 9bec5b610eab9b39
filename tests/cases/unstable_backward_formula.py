# ruff: noqa
"""Programs for TLN505."""

import torch
from torch.autograd import Function


def product_rebuilt():
    """Holds: a.grad.isnan().any()"""

    class Product(Function):
        @staticmethod
        def forward(ctx, a, b):
            out = a * b
            ctx.save_for_backward(a, b, out)
            return out

        @staticmethod
        def backward(ctx, grad):
            a, b, out = ctx.saved_tensors
            return grad * (out / a), grad * a  # smell: [TLN505]

    a, b = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
    Product.apply(a, b).sum().backward()


def cosine_without_a_sign():
    """Holds: x.grad > 0 and x.cos() < 0"""

    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.sin()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * torch.sqrt(1 - y**2)  # smell: [TLN505]

    x = torch.tensor(3.0, requires_grad=True)
    Sine.apply(x).backward()


def root_as_a_method():
    """Holds: x.grad > 0 and x.cos() < 0"""

    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            y = torch.sin(x)
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            slope = (1.0 - y.pow(2)).sqrt()  # smell: [TLN505]
            return grad * slope

    x = torch.tensor(3.0, requires_grad=True)
    Sine.apply(x).backward()


def normalised_by_the_input():
    """Holds: x.grad.isnan().any()"""

    class Gate(Function):
        @staticmethod
        def forward(ctx, x, scale):
            y = x * torch.sigmoid(x) * scale
            ctx.save_for_backward(x, y, scale)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, y, scale = ctx.saved_tensors
            s = y / x  # smell: [TLN505]
            return grad * (s + y * (1 - s / scale)), None

    x = torch.zeros(2, requires_grad=True)
    Gate.apply(x, torch.ones(2)).sum().backward()


def inputs_saved():
    class Sine(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * torch.sin(b)

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return grad * b.sin(), grad * a * b.cos()

    Sine.apply(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)).sum().backward()


def derivative_of_a_quotient():
    class Divide(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a / b

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return grad / b, -grad * a / (b * b)

    Divide.apply(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)).sum().backward()


def derivative_of_a_root():
    class Sqrt(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.sqrt()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad / (2 * y)

    Sqrt.apply(torch.ones(2, requires_grad=True)).sum().backward()


def derivative_of_an_arcsine():
    class Asin(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.asin(x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad / torch.sqrt(1 - x * x)

    Asin.apply(torch.zeros(2, requires_grad=True)).sum().backward()


def derivative_of_a_tanh():
    class Tanh(Function):
        @staticmethod
        def forward(ctx, x):
            y = torch.tanh(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * (1 - y * y)

    Tanh.apply(torch.zeros(2, requires_grad=True)).sum().backward()


def sample_whitened_again():
    class Sample(Function):
        @staticmethod
        def forward(ctx, loc, scale):
            white = torch.randn_like(loc)
            z = loc + scale * white
            ctx.save_for_backward(z, scale, loc)
            return z

        @staticmethod
        def backward(ctx, grad):
            z, scale, loc = ctx.saved_tensors
            distance = z / scale - loc / scale
            return grad, grad * distance

    Sample.apply(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)).sum().backward()
