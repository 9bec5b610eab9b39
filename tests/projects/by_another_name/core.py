"""Names of torch under the project's own roof, and a function with some of its arguments given."""

from functools import partial

import torch
from torch import einsum

sigmoid = torch.sigmoid


def scale(factor, tensor):
    return tensor.mul(factor)


DOUBLE = partial(scale, 2)
SCALES = {"double": partial(scale, 2)}
__all__ = ["DOUBLE", "SCALES", "einsum", "scale", "sigmoid"]
