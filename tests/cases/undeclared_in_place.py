# ruff: noqa
"""Programs for TLN504."""

import torch
from torch.autograd import Function


def relu_gradient_of_the_tutorials():
    """Holds: seed[0] == 0"""

    class MyReLU(Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output
            grad_input[input < 0] = 0  # warning: [TLN504]
            return grad_input

    seed = torch.ones(2)
    MyReLU.apply(torch.tensor([-1.0, 1.0], requires_grad=True)).backward(seed)


def clipping():
    """Holds: seed[0] == 0.5"""

    class Clip(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return grad.clamp_(-0.5, 0.5)  # warning: [TLN504]

    seed = torch.ones(2)
    Clip.apply(torch.ones(2, requires_grad=True)).backward(seed)


def input_normalised_in_place():
    """Holds: x.sum() == 1"""

    class Normalise(Function):
        @staticmethod
        def forward(ctx, x):
            x /= x.sum()  # warning: [TLN504]
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.ones(2)
    Normalise.apply(x)


def saved_tensor_reused_as_a_buffer():
    """Holds: out[0] > 4"""

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            y.mul_(grad)  # warning: [TLN504]
            return y.clone()

    x = torch.ones(2, requires_grad=True)
    out = Exp.apply(x)
    seed = torch.full((2,), 2.0)
    out.backward(seed)


def declared():
    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.clamp_(min=0)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * (x > 0)

    Relu.apply(torch.ones(2, requires_grad=True) * 1).sum().backward()


def copies():
    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            out = x.clone()
            out[out < 0] = 0
            out += 1
            return out

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[x < 0] = 0
            grad_input *= 2
            return grad_input

    Relu.apply(torch.ones(2, requires_grad=True)).sum().backward()


def rebound():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, count):
            x = x + 1
            x.mul_(2)
            count += 1
            return x

        @staticmethod
        def backward(ctx, grad):
            grad = grad.contiguous() * 2
            grad.mul_(2)
            return grad, None

    Scale.apply(torch.ones(2, requires_grad=True), 1).sum().backward()


def state_of_the_context():
    class Counted(Function):
        @staticmethod
        def forward(ctx, x, log):
            log.append(x.shape)
            ctx.calls = 0
            ctx.calls += 1
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            ctx.calls += 1
            grads = [None, None]
            grads[0] = grad
            return tuple(grads)

    Counted.apply(torch.ones(2, requires_grad=True), []).sum().backward()


def saved_tensors_updated_by_the_way():
    """Raises: modified by an inplace operation"""

    class Online(Function):
        @staticmethod
        def forward(ctx, x, b, c):
            ctx.save_for_backward(x, b, c)
            return x * b

        @staticmethod
        def backward(ctx, g):
            x, b, c = ctx.saved_tensors
            b.add_(g.mean())  # warning: [TLN504]
            c.add_(g.mean())
            c.mul_(0.3)
            return g * b, None, None

    x, b, c = torch.ones(2, requires_grad=True), torch.ones(2), torch.ones(2)
    (Online.apply(x, b, c) + Online.apply(x, b, c)).sum().backward()


def counts_that_the_caller_wants():
    class Clipped(Function):
        @staticmethod
        def forward(ctx, x, counts):
            inside = x.abs() < 1
            ctx.save_for_backward(inside)
            if counts is not None:
                counts.copy_(torch.stack([inside.sum(), (~inside).sum()]))
            return x.clamp(-1, 1)

        @staticmethod
        def backward(ctx, grad):
            (inside,) = ctx.saved_tensors
            return grad * inside, None

    x, counts = torch.ones(2, requires_grad=True), torch.zeros(2, dtype=torch.long)
    Clipped.apply(x, counts).sum().backward()
    assert counts.sum() == 2


def a_place_for_the_result():
    class Doubled(Function):
        @staticmethod
        def forward(ctx, x, out):
            out[:] = 2 * x
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad, None

    out = torch.zeros(2)
    Doubled.apply(torch.ones(2, requires_grad=True), out).sum().backward()
    assert out.sum() == 4


def read_after_it_was_written():
    """Holds: x[0] == 0.5"""

    class Halved(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(0.5)  # warning: [TLN504]
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return 0.5 * grad

    x = torch.ones(2)
    y = Halved.apply(x)


def returned_and_not_declared():
    """Holds: a.grad[0] == 8"""  # and not 12: the sum of x is of the written x, and its gradient of the old one

    class Tripled(Function):
        @staticmethod
        def forward(ctx, x):
            return x.mul_(3)  # warning: [TLN504]

        @staticmethod
        def backward(ctx, grad):
            return 3 * grad

    a = torch.ones(2, requires_grad=True)
    x = a * 2
    y = Tripled.apply(x)
    (y.sum() + x.sum()).backward()


def running_statistics_without_a_gradient():
    class Normalised(Function):
        @staticmethod
        def forward(ctx, x, running_mean, momentum):
            mean = x.mean(0)
            running_mean.copy_(running_mean * (1 - momentum) + mean * momentum)
            return x - running_mean

        @staticmethod
        def backward(ctx, grad):
            return grad, None, None

    x = torch.ones(2, 3, requires_grad=True)
    Normalised.apply(x, torch.zeros(3), 0.1).sum().backward()


def an_input_with_a_gradient_beside_one_without():
    """Holds: x[0] == 0.5"""

    class Halved(Function):
        @staticmethod
        def forward(ctx, x, scale):
            x.mul_(scale)  # warning: [TLN504]
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return 0.5 * grad, None

    x = torch.ones(2)
    y = Halved.apply(x, 0.5)


def copied_onto_itself():
    class Flat(Function):
        @staticmethod
        def forward(ctx, x):
            x.copy_(x)
            return x.contiguous().view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad.view(2, 1)

    x = torch.ones(2, 1)
    y = Flat.apply(x)
    assert x[0] == 1 and y[0] == 1


def placeholder_is_given_its_memory():
    class Placed(Function):
        @staticmethod
        def forward(ctx, tensor, placeholder):
            return placeholder.set_(tensor.detach())

        @staticmethod
        def backward(ctx, grad):
            return None, grad

    placeholder = torch.nn.Parameter(torch.empty(3))
    Placed.apply(torch.full((3,), 5.0), placeholder).sum().backward()
    assert placeholder.grad[0] == 1 and placeholder[0] == 5


def input_that_is_read_is_given_other_memory():
    """Holds: x[0] == 2"""

    class Doubled(Function):
        @staticmethod
        def forward(ctx, x):
            return x.set_(x * 2)  # warning: [TLN504]

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.ones(2)
    Doubled.apply(x)


def buffer_without_a_gradient_by_a_name_and_through_a_check():
    def checked(gradients, needed):
        return gradients

    class Staged(Function):
        @staticmethod
        def forward(ctx, x, staging: torch.Tensor):
            staging.copy_(x)
            return staging * 2

        @staticmethod
        def backward(ctx, grad):
            gradients = (grad * 2, None)
            return checked(gradients, ctx.needs_input_grad)

    class Directly(Staged):
        @staticmethod
        def forward(ctx, x, staging: torch.Tensor):
            staging.copy_(x)
            return staging * 2

        @staticmethod
        def backward(ctx, grad):
            return checked((grad * 2, None), ctx.needs_input_grad)

    x = torch.ones(2, requires_grad=True)
    (Staged.apply(x, torch.zeros(2)) + Directly.apply(x, torch.zeros(2))).sum().backward()
    assert x.grad[0] == 4


def input_with_a_gradient_by_a_name():
    """Holds: x[0] == 2"""

    class Doubled(Function):
        @staticmethod
        def forward(ctx, x, times):
            x.mul_(times)  # warning: [TLN504]
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            gradients = (grad * 2, None)
            return gradients

    x = torch.ones(2)
    Doubled.apply(x, 2)
