"""A base of custom Functions that puts methods of its own in the place of theirs."""

import torch


class EncodedFunction(torch.autograd.Function):
    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.of_inputs, cls.of_gradient = cls.forward, cls.backward
        cls.forward, cls.backward = staticmethod(_forward), staticmethod(_backward)

    @classmethod
    def apply(cls, x):
        return super().apply((cls, x.dtype), x)


def _forward(ctx, call, x):
    ctx.cls, dtype = call
    return ctx.cls.of_inputs(ctx, dtype, x)


def _backward(ctx, grad):
    return None, ctx.cls.of_gradient(ctx, grad)
