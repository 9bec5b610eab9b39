# ruff: noqa
"""Programs for TLN502."""

import torch
from torch.autograd import Function


def gradient_reversal_of_old():
    """Raises: Legacy autograd function with non-static forward method is deprecated"""

    class ReverseGrad(Function):
        def __init__(self, scale):
            self.scale = scale

        def forward(self, x):
            return x.view_as(x)

        def backward(self, grad):
            return -self.scale * grad

    features = torch.ones(2, requires_grad=True)
    reversed_features = ReverseGrad(0.5)(features)  # error: [TLN502]


def decorated_method_only():
    """Raises: Legacy autograd function with non-static forward method is deprecated"""
    from torch.autograd.function import once_differentiable

    class Step(Function):
        @staticmethod
        def forward(ctx, x):
            return (x > 0).float()

        @once_differentiable
        def backward(ctx, grad):
            return grad

    Step()(torch.ones(2))  # error: [TLN502]


def in_a_module():
    """Raises: Legacy autograd function with non-static forward method is deprecated"""

    class SignSTE(Function):
        @staticmethod
        def forward(ctx, x):
            return x.sign()

        @staticmethod
        def backward(ctx, grad):
            return grad

    class Binary(torch.nn.Module):
        def forward(self, x):
            return SignSTE()(x)  # error: [TLN502]

    Binary()(torch.rand(2, requires_grad=True))


def works_by_luck():
    """Holds: not isinstance(Double.__dict__['forward'], staticmethod)"""

    class Double(Function):
        def forward(ctx, x):  # strict: [TLN502]
            return 2 * x

        def backward(ctx, grad):
            return 2 * grad

    Double.apply(torch.ones(2, requires_grad=True)).sum().backward()


def static_methods():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    Double.apply(torch.ones(2, requires_grad=True)).sum().backward()


def class_methods():
    class Double(Function):
        @classmethod
        def forward(cls, ctx, x):
            return 2 * x

        @classmethod
        def backward(cls, ctx, grad):
            return 2 * grad

    Double.apply(torch.ones(2, requires_grad=True)).sum().backward()


def module_with_such_names():
    class Net(torch.nn.Module):
        def forward(self, x):
            return x

        def backward(self, grad):
            return grad

    Net()(torch.ones(2))


def handed_over():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    double = Double.apply
    functions = {"double": Double}
    double(torch.ones(2, requires_grad=True))
    functions["double"].apply(torch.ones(2))


def kept_from_long_ago():
    """Holds: not isinstance(Function.__subclasses__()[-1].__dict__['forward'], staticmethod)"""

    class Abandoned(Function):
        def forward(self, x):  # strict: [TLN502]
            return x.view_as(x)

        def backward(self, grad):
            return -grad


def what_the_constructor_kept():
    """Raises: object has no attribute 'sparse'"""

    class SparseMM(Function):
        def __init__(self, sparse):
            super().__init__()
            self.sparse = sparse

        def forward(self, dense):  # smell: [TLN502]
            return torch.mm(self.sparse, dense)

        def backward(self, grad):
            return torch.mm(self.sparse.t(), grad)

    SparseMM.apply(torch.ones(2, 2, requires_grad=True))


def what_the_constructor_kept_where_only_the_class_names_itself():
    """Holds: not isinstance(Function.__subclasses__()[-1].__dict__['forward'], staticmethod)"""

    # used to be Forgotten.apply(x)
    class Forgotten(Function):
        def __init__(self, sparse):
            super(Forgotten, self).__init__()
            self.sparse = sparse

        def forward(self, dense):  # strict: [TLN502]
            return torch.mm(self.sparse, dense)

        def backward(self, grad):
            return torch.mm(self.sparse.t(), grad)


def what_forward_kept():
    """Holds: not isinstance(Gated.__dict__['forward'], staticmethod)"""

    class Gated(Function):
        def forward(self, x, y):  # strict: [TLN502]
            self.save_for_backward(y)
            self.scale = 2
            return x * y * self.scale

        def backward(self, grad):
            (y,) = self.saved_tensors
            return grad * y * self.scale, None

    Gated.apply(torch.ones(2, requires_grad=True), torch.ones(2)).sum().backward()


def forward_without_a_context():
    """Raises: required positional argument"""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    Square.forward(torch.ones(3, requires_grad=True))  # error: [TLN502]


def forward_with_a_context_of_its_own():
    class Context:
        def save_for_backward(self, *tensors):
            self.saved_tensors = tensors

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    context = Context()
    Square.forward(context, torch.ones(3, requires_grad=True))


def more_than_the_object_is_given():
    """Raises: Legacy autograd function with non-static forward method is deprecated"""

    class Reverse(Function):
        @staticmethod
        def forward(ctx, x, alpha):
            ctx.alpha = alpha
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return grad.neg() * ctx.alpha, None

    Reverse()(torch.ones(2, requires_grad=True))  # error: [TLN502]
