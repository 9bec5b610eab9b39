# ruff: noqa
"""Programs for TLN507."""

import torch
from torch.autograd import Function


def sine():
    """Holds: torch.allclose(x.grad, x.cos())"""

    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.sin(x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            slope = torch.cos(x)
            return slope  # warning: [TLN507]

    x = torch.ones(3, requires_grad=True)
    (5 * Sine.apply(x)).sum().backward()


def gradient_computed_in_forward():
    """Holds: (x.grad == 2).all()"""

    class Loss(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.slope = 2.0
            ctx.save_for_backward(2 * x)
            return (x * x).sum()

        @staticmethod
        def backward(ctx, grad_output):
            (slope,) = ctx.saved_tensors
            return slope  # warning: [TLN507]

    x = torch.ones(3, requires_grad=True)
    (Loss.apply(x) / 4).backward()


def a_number_kept():
    """Holds: (x.grad == 3).all()"""

    class Scale(Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.by = by
            ctx.shape = x.shape
            return x * by

        @staticmethod
        def backward(ctx, grad_output):
            return torch.full(ctx.shape, ctx.by), None  # warning: [TLN507]

    x = torch.ones(3, requires_grad=True)
    (Scale.apply(x, 3.0) * 10).sum().backward()


def two_results():
    """Holds: (x.grad == 1).all()"""

    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin(), x.cos()

        @staticmethod
        def backward(ctx, grad_sine, grad_cosine):
            (x,) = ctx.saved_tensors
            slope = x.cos()
            minus = x.sin()
            return slope - minus  # warning: [TLN507]

    x = torch.zeros(3, requires_grad=True)
    sine, cosine = Both.apply(x)
    (3 * sine + cosine).sum().backward()


def used_through_a_name():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.by = by
            return x * by

        @staticmethod
        def backward(ctx, *grads):
            (g,) = grads
            return g * ctx.by, None

    Scale.apply(torch.ones(2, requires_grad=True), 3.0).sum().backward()


def used_in_place():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.by = by
            return x * by

        @staticmethod
        def backward(ctx, grad):
            result = torch.empty_like(grad)
            torch.mul(grad, ctx.by, out=result)
            return result, None

    Scale.apply(torch.ones(2, requires_grad=True), 3.0).sum().backward()


def no_gradient_at_all():
    class Stop(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return torch.zeros(ctx.shape)

    class Round(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, grad):
            return None

    x = torch.ones(2, requires_grad=True)
    (Stop.apply(x) + Round.apply(x) + x).sum().backward()


def refused():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("not differentiable")

    Once.apply(torch.ones(2, requires_grad=True))


def one_of_two_is_used():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp(), x.detach()

        @staticmethod
        def backward(ctx, grad, unused):
            (x,) = ctx.saved_tensors
            return grad * x.exp()

    Both.apply(torch.ones(2, requires_grad=True))[0].sum().backward()


def from_elsewhere():
    received = []

    class Receive(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            received.append(torch.ones_like(x))
            return x.sum() * 0

        @staticmethod
        def backward(ctx, dummy):
            (x,) = ctx.saved_tensors
            gradient = received.pop()
            return x * gradient

    Receive.apply(torch.ones(2, requires_grad=True)).backward()


def an_auxiliary_loss():
    class WithAuxiliary(Function):
        @staticmethod
        def forward(ctx, x, auxiliary):
            ctx.shape = auxiliary.shape
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad, torch.ones(ctx.shape)

    x = torch.ones(2, requires_grad=True)
    WithAuxiliary.apply(x, (x * x).sum()).sum().backward()


def ones_whatever_comes():
    """Holds: (x.grad == 1).all()"""

    class Snap(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.round(x)

        @staticmethod
        def backward(ctx, g):
            return torch.ones_like(g)  # warning: [TLN507]

    x = torch.rand(3, requires_grad=True)
    (10 * Snap.apply(x)).sum().backward()


def zeros_of_its_shape():
    class Blocked(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return torch.zeros_like(g)

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return torch.ones_like(g) * g

    x = torch.rand(3, requires_grad=True)
    (Blocked.apply(x) + Scaled.apply(x)).sum().backward()


def gradient_of_a_second_output():
    """Holds: (x.grad == 2).all()"""

    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x, 3 * x

        @staticmethod
        def backward(ctx, first, second):
            return 2 * first  # warning: [TLN507]

    x = torch.ones(3, requires_grad=True)
    a, b = Pair.apply(x)
    (a + b).sum().backward()


def gradient_of_an_output_that_nobody_uses():
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x, 3 * x

        @staticmethod
        def backward(ctx, first, second):
            return 2 * first

    x = torch.ones(3, requires_grad=True)
    a, b = Pair.apply(x)
    a.sum().backward()
    print(b.mean())


def gradient_of_an_output_that_is_flat():
    class Quantized(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x.round()

        @staticmethod
        def backward(ctx, first, second):
            return 1 * first

    x = torch.ones(3, requires_grad=True)
    a, b = Quantized.apply(x)
    (a + b).sum().backward()


def targets_in_the_place_of_gradients():
    """`forward` does nothing: the Function is there to hand on something else than a gradient."""

    class Projected(torch.autograd.Function):
        @staticmethod
        def forward(ctx, logits, labels):
            ctx.save_for_backward(logits, labels)
            return logits

        @staticmethod
        def backward(ctx, target):
            logits, labels = ctx.saved_tensors
            return torch.where(labels > 0, torch.max(logits, labels), torch.zeros_like(logits)), None

    logits = torch.rand(3, requires_grad=True)
    Projected.apply(logits, torch.tensor([0.0, 2.0, 3.0])).sum().backward()
    assert logits.grad[1] == 2


def zeros_for_each_input():
    """What gives a constant has zeros for gradients, whatever comes in."""

    class Zero(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.shapes = [each.shape for each in tensors]
            return torch.zeros(())

        @staticmethod
        def backward(ctx, grad):
            return tuple(torch.zeros(each, device=grad.device) for each in ctx.shapes)

    x, y = torch.rand(3, requires_grad=True), torch.rand(2, requires_grad=True)
    (5 * Zero.apply(x, y)).backward()
    assert not x.grad.any() and not y.grad.any()


def filled_with_what_stands_for_zero():
    """Logarithms of numbers: the one for zero is no zero, and the derivative is zero whatever comes in."""
    ZERO = float("-inf")

    class Sign(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.where(x > ZERO, torch.zeros_like(x), x)

        @staticmethod
        def backward(ctx, grad):
            return torch.full_like(grad, ZERO)

    x = torch.rand(3, requires_grad=True)
    Sign.apply(x).sum().backward()
    assert torch.exp(x.grad).sum() == 0


def filled_with_zero():
    class Sign(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.sign(x)

        @staticmethod
        def backward(ctx, grad):
            return torch.full_like(grad, fill_value=-0.0)

    x = torch.rand(3, requires_grad=True)
    Sign.apply(x).sum().backward()
    assert not x.grad.any()


def filled_with_a_number():
    """Holds: torch.equal(x.grad, torch.full((3,), 2.0))"""

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return torch.full_like(grad, 2.0)  # warning: [TLN507]

    x = torch.rand(3, requires_grad=True)
    (0.1 * Doubled.apply(x)).sum().backward()


def filled_with_what_the_context_holds():
    """Holds: torch.equal(x.grad, torch.full((3,), 2.0))"""

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return factor * x

        @staticmethod
        def backward(ctx, grad):
            return torch.full_like(grad, ctx.factor), None  # warning: [TLN507]

    x = torch.rand(3, requires_grad=True)
    (0.1 * Scaled.apply(x, 2.0)).sum().backward()
