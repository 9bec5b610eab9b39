"""
The backward of a program's own autograd Functions, held against finite differences at several inputs.

Runs inside the child, after the program: inputs are those of the program's own calls, in double precision, and what is
made of them; other arguments stay as they were at the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any

import torch
from torch.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

from torchlint.verify.protocol import TWICE, Derivative

CALLS = 3
"""At most so many calls of one Function are looked at."""
ELEMENTS = 64
"""Larger inputs are not differentiated numerically."""
_VARIANTS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda x: x,
    lambda x: 0.1 * x,
    lambda x: -x,
    lambda x: 1.1 * x + 0.5,
    lambda x: 1.4 * x,
    torch.zeros_like,
)


class Calls:
    """
    Keeps what Functions of these names are called with.

    Parameters
    ----------
    names
        Names of classes; "*" for all. Any of them may have `TWICE` behind it.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = frozenset(name.removesuffix(TWICE) for name in names)
        self.twice = any(name.endswith(TWICE) for name in names)
        self.kept: dict[str, list[tuple[Any, tuple[Any, ...]]]] = {}
        original = torch.autograd.Function.apply.__func__

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            known = self.kept.setdefault(cls.__name__, [])
            if (cls.__name__ in self.names or "*" in self.names) and len(known) < CALLS and not kwargs:
                known.append((cls, tuple(_copied(each) for each in args)))
            return original(cls, *args, **kwargs)

        torch.autograd.Function.apply = classmethod(apply)
        self.original = original

    def checked(self) -> tuple[Derivative, ...]:
        """Each Function at each of its inputs since the last time."""
        keeping = torch.autograd.Function.__dict__["apply"]
        torch.autograd.Function.apply = classmethod(self.original)
        calls = [call for known in self.kept.values() for call in known]
        for known in self.kept.values():
            known.clear()
        try:
            found = [
                each for cls, args in calls for vary in _VARIANTS for each in _checked(cls, args, vary, self.twice)
            ]
            return tuple(found)
        finally:
            torch.autograd.Function.apply = keeping


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _checked(
    cls: Any, args: tuple[Any, ...], vary: Callable[[torch.Tensor], torch.Tensor], twice: bool
) -> list[Derivative]:
    inputs = [_varied(each, vary) for each in args]
    tensors = [each for each in inputs if isinstance(each, torch.Tensor) and each.requires_grad]
    if not tensors or sum(each.numel() for each in tensors) > ELEMENTS:
        return []
    words = ", ".join(_shown(each) for each in inputs)
    try:
        result = cls.apply(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        if not all(bool(each.isfinite().all()) for each in outputs if isinstance(each, torch.Tensor)):
            return []
    except Exception:  # it does not take these inputs
        return []
    inputs = _differentiated(inputs, outputs)
    found = list(_scaled(cls, inputs, words))
    try:
        gradcheck(cls.apply, inputs)
    except GradcheckError as error:
        return [*found, Derivative(cls.__name__, words, False, " ".join(str(error).split())[:300])]
    except Exception:
        return found
    found.append(Derivative(cls.__name__, words, True, ""))
    return [*found, *_checked_twice(cls, inputs, words)] if twice else found


def _differentiated(inputs: list[Any], outputs: tuple[Any, ...]) -> list[Any]:
    """The inputs, of which those that its backward gives no gradient, but others one, are taken for constants."""
    wanted = [each for each in inputs if isinstance(each, torch.Tensor) and each.requires_grad]
    recorded = [each for each in outputs if isinstance(each, torch.Tensor) and each.requires_grad]
    try:
        slopes = torch.autograd.grad(recorded, wanted, [torch.ones_like(each) for each in recorded], allow_unused=True)
    except Exception:  # it cannot be differentiated here
        return inputs
    given = [each for each, slope in zip(wanted, slopes, strict=True) if slope is not None]
    if not given:
        return inputs
    asked = {id(each) for each in given}
    constant = {id(each) for each in wanted} - asked
    return [each.detach() if id(each) in constant else each for each in inputs]


def _scaled(cls: Any, inputs: list[Any], words: str) -> Iterator[Derivative]:
    """Whether what its backward returns changes with the gradient that it is given."""
    wanted = [each for each in inputs if isinstance(each, torch.Tensor) and each.requires_grad]
    returned: list[list[torch.Tensor]] = []
    try:
        for factors in ((1.0, 0.5), (2.0, 3.0), (-1.5, -4.0)):
            result = cls.apply(*inputs)
            outputs = [each for each in (result if isinstance(result, tuple) else (result,)) if each.requires_grad]
            given = [torch.full_like(each, by) for each, by in zip(outputs, cycle(factors), strict=False)]
            slopes = torch.autograd.grad(outputs, wanted, given, allow_unused=True)
            returned.append([torch.zeros_like(x) if s is None else s for x, s in zip(wanted, slopes, strict=True)])
    except Exception:  # it cannot be differentiated here
        return
    first = [bool(each.any()) for each in returned[0]]
    same = all(torch.equal(one, other) for each in returned[1:] for one, other in zip(returned[0], each, strict=True))
    if not same or any(first):  # always zero tells nothing
        yield Derivative(cls.__name__, words, not same, "", ignored=True)


def _checked_twice(cls: Any, inputs: list[Any], words: str) -> list[Derivative]:
    """The derivative of a backward that is right itself."""
    try:
        if _refuses(cls, inputs):
            return []
        gradgradcheck(cls.apply, inputs)
    except GradcheckError as error:
        return [Derivative(cls.__name__, words, False, " ".join(str(error).split())[:300], twice=True)]
    except Exception:  # it says itself that it cannot be differentiated
        return []
    return [Derivative(cls.__name__, words, True, "", twice=True)]


def _refuses(cls: Any, inputs: list[Any]) -> bool:
    """Whether a second derivative raises: then nothing is wrong in silence (gradgradcheck itself sees a zero there)."""
    result = cls.apply(*inputs)
    outputs = [each for each in (result if isinstance(result, tuple) else (result,)) if each.requires_grad]
    wanted = [each for each in inputs if isinstance(each, torch.Tensor) and each.requires_grad]
    slopes = torch.autograd.grad([each.sum() for each in outputs], wanted, create_graph=True, allow_unused=True)
    recorded = [each.sum() for each in slopes if each is not None and each.requires_grad]
    try:
        torch.autograd.grad(recorded, wanted, allow_unused=True)
    except RuntimeError:
        return bool(recorded)
    return False


def _varied(value: Any, vary: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return vary(value.double()).clone().requires_grad_()
    return value


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        numbers = value.detach().reshape(-1)[:4].tolist()
        words = ", ".join(f"{number:.4g}" for number in numbers)
        return words if value.ndim == 0 else f"[{words}]"
    return repr(value)[:40]
