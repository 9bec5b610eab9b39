"""
Operations for which torch has several kernels, and what the fused ones save.

Which of them runs depends on the device, on sizes and on strides (`sdp_utils_cpp.cpp` and `cuda/sdp_utils.cpp`), so it
is a condition of whoever rests on it. The composed one is what the operation table has; four dimensions are what every
fused one asks for. Their nodes keep the result (derivatives.yaml, `_scaled_dot_product_flash_attention_for_cpu` and its
kin).
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.ops.description import Op, Saved

FUSED: Final = {"scaled_dot_product_attention": ("query", "key", "value", "result")}
_DIMENSIONS: Final = 4
HEADS_INSIDE: Final = (0, 2, 1, 3)
"""
The order in memory of a query that is one transposed view of what a projection gives, (batch, place, head, feature).
Every fused kernel lays its result in that order then, without a gap: the memory-efficient one whatever the query is,
that of the CPU, flash attention and cuDNN's after the query (`at::empty_like`, `alloc_with_matching_layout`). What is
computed element by element from such a query is a matter of the CPU's; of another one, a `cat`, nothing is known.
"""


def of_cpu(operation: str) -> str:
    """How the fused kernel of the CPU is called, among those of an operation."""
    return f"{operation}{_OF_CPU}"


def operation_of(kernel: str) -> str:
    """The operation that a fused kernel computes: any, or that of the CPU."""
    return kernel.removesuffix(_OF_CPU)


_OF_CPU: Final = " on the CPU"


def saves(op: Op, rank: int | None) -> tuple[Saved, ...]:
    """What an operation saves, given how many dimensions its tensors have, if that is known."""
    fused = FUSED.get(op.name)
    if fused is None or (rank is not None and rank != _DIMENSIONS):
        return op.saves
    kept = [each for each in op.saves if each.certain or each.what not in fused]
    sure = {each.what for each in kept if not each.guard}
    return (*kept, *(Saved(name, (), False, op.name) for name in fused if name not in sure))
