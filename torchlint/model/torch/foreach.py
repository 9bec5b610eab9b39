"""
`torch._foreach_add_(tensors, …)` and its kin: one operation on each tensor of a list.

What optimizers written by hand use. A list whose tensors are not all known is left to unknown code.
"""

from __future__ import annotations

from torchlint.knowledge.ops import find as ops
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.values import NONE, Sequence, Tensor, Value
from torchlint.model.torch.arguments import cst_of
from torchlint.model.torch.operations import apply
from torchlint.model.torch.torch import Torch

_PREFIX = "torch._foreach_"


def foreach(torch: Torch, qualified: str, site: CallSite) -> Value | None:
    """A call of a function for lists; None if it is none, or the list is not known."""
    if not qualified.startswith(_PREFIX) or not site.positional or not site.complete or 0 not in site.arguments:
        return None
    name, tensors = qualified.removeprefix(_PREFIX), site.positional[0]
    spelling = f"torch.Tensor.{name}"
    if not isinstance(tensors, Sequence) or tensors.items is None or not ops.find(spelling):
        return None
    others = [each.items if isinstance(each, Sequence) else None for each in site.positional[1:]]
    if any(items is not None and len(items) != len(tensors.items) for items in others):
        return None
    results: list[Value] = []
    for place, tensor in enumerate(tensors.items):
        if not isinstance(tensor, Tensor):
            return None
        given = [
            value if items is None else items[place] for value, items in zip(site.positional[1:], others, strict=True)
        ]
        display, written = qualified.removeprefix("torch."), cst_of(site.arguments[0].value)
        result = apply(torch, spelling, [tensor, *given], site.keywords, site.node, display, target=written)
        if result is None:
            return None
        results.append(result)
    return NONE if name.endswith("_") else Sequence("tuple", tuple(results))
