"""
Operations that torch refuses under `use_deterministic_algorithms(True)`, and when.

From the documentation of that function
(https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html); a test holds the names against
the list of the installed torch, and those that raise on the CPU against torch itself. Knows nothing of programs.
"""

from __future__ import annotations

from typing import Literal

When = Literal["always", "on a GPU", "differentiated on a GPU"]

LAYERS: dict[str, When] = {
    "MaxUnpool1d": "always",
    "MaxUnpool2d": "always",
    "MaxUnpool3d": "always",
    "AvgPool3d": "differentiated on a GPU",
    "AdaptiveAvgPool2d": "differentiated on a GPU",
    "AdaptiveAvgPool3d": "differentiated on a GPU",
    "AdaptiveMaxPool2d": "differentiated on a GPU",
    "FractionalMaxPool2d": "differentiated on a GPU",
    "FractionalMaxPool3d": "differentiated on a GPU",
    "ReflectionPad1d": "differentiated on a GPU",
    "ReflectionPad2d": "differentiated on a GPU",
    "ReflectionPad3d": "differentiated on a GPU",
    "CTCLoss": "differentiated on a GPU",
}
"""Layers of `torch.nn`, whatever they are called with."""

FUNCTIONS: dict[str, When] = {
    "torch.nn.functional.max_unpool1d": "always",
    "torch.nn.functional.max_unpool2d": "always",
    "torch.nn.functional.max_unpool3d": "always",
    "torch.nn.functional.avg_pool3d": "differentiated on a GPU",
    "torch.nn.functional.adaptive_avg_pool2d": "differentiated on a GPU",
    "torch.nn.functional.adaptive_avg_pool3d": "differentiated on a GPU",
    "torch.nn.functional.adaptive_max_pool2d": "differentiated on a GPU",
    "torch.nn.functional.fractional_max_pool2d": "differentiated on a GPU",
    "torch.nn.functional.fractional_max_pool3d": "differentiated on a GPU",
    "torch.nn.functional.ctc_loss": "differentiated on a GPU",
    "torch.nn.functional.grid_sample": "differentiated on a GPU",
    "torch.histc": "on a GPU",
}
"""Functions, whatever their other arguments are."""

MEANS: dict[str, str] = {
    "AdaptiveAvgPool2d": "output_size",
    "AdaptiveAvgPool3d": "output_size",
    "torch.nn.functional.adaptive_avg_pool2d": "output_size",
    "torch.nn.functional.adaptive_avg_pool3d": "output_size",
}
"""Layers and functions that are a mean over the last dimensions, which is deterministic, where this argument is 1."""

METHODS: dict[str, When] = {"histc": "on a GPU"}
"""Methods of tensors, whatever their other arguments are."""


def is_mean(size: object) -> bool:
    """Whether an output size is 1 in all dimensions, or may be: None is that of the input."""
    if isinstance(size, (tuple, list)):
        return all(map(is_mean, size))
    return not isinstance(size, int) or size == 1


PUT = "put_"
"""A method that is refused unless it is told to accumulate: then on a GPU."""
INTERPOLATE = "torch.nn.functional.interpolate"
"""Refused where it is differentiated on a GPU, in one of the modes below."""
MODES = frozenset({"linear", "bilinear", "bicubic", "trilinear"})
