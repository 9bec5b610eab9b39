"""
What a network of another library gives back, as far as a program reads it: hidden states, logits and the like by name.

Runs inside the child. The stand-in of a network gives it where a tensor was refused because it has no such part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from torchlint.verify.anything import Anything, taken_apart
from torchlint.verify.evidence import TENSOR_ATTRIBUTES

OF_OUTPUTS = r"'Tensor' object has no attribute '\w+'|invalid data type 'str'|only integers, slices .* are valid ind"
"""Refusals of a tensor that is asked for something by its name."""
WIDTH = 8
"""Of hidden states that are made up: that of made-up configurations."""
_OF_LAYERS = frozenset({"hidden_states", "attentions", "encoder_hidden_states", "feature_maps"})
_POOLED = ("pool", "embeds", "cls", "global")
_NONE = frozenset({"past_key_values", "cross_attentions", "mems"})


class Outputs(dict[Any, Any]):
    """
    Outputs by name, by key and by number.

    Parameters
    ----------
    given_back
        What they are computed of.
    of_words
        Whether it was computed of integers: each of them gets a vector.
    """

    def __init__(self, given_back: torch.Tensor, *, of_words: bool) -> None:
        super().__init__()
        states = given_back
        if of_words:
            states = given_back.unsqueeze(-1).expand(*given_back.shape, WIDTH) * 1.0
        elif given_back.dim() > 3:  # of images
            states = given_back.flatten(2).transpose(1, 2)[:, :, :1].expand(-1, -1, WIDTH) * 1.0
        self._states = states

    def __iter__(self) -> Iterator[Any]:
        """As a tuple."""
        return iter([self[index] for index in range(taken_apart() or 2)])

    def __missing__(self, key: Any) -> Any:
        Anything.asked = True
        if isinstance(key, int) and not 0 <= key < 4:
            raise IndexError(key)
        self[key] = value = self._made(str(key))
        return value

    def _made(self, name: str) -> Any:
        states = self._states
        if name in _NONE:
            return None
        if name in _OF_LAYERS or name == "2":
            return (states, states, states, states)
        if name == "loss":
            return states.mean()
        if name == "1" or any(word in name for word in _POOLED):
            return states.mean(1) if states.dim() > 2 else states
        return states

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._states, name) if name in TENSOR_ATTRIBUTES else self[name]

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called by torch in place of `func`: where a tensor is wanted, it is one."""
        return func(*map(_plain, args), **{name: _plain(value) for name, value in (kwargs or {}).items()})

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return (self[0], self[1])[key]
        return self._states[key] if isinstance(key, (tuple, torch.Tensor)) else super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """It has all that is asked for."""
        return self[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str)


def _plain(value: Any) -> Any:
    if isinstance(value, Outputs):
        return value._states
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _delegating(name: str) -> Callable[..., Any]:
    def combined(self: Outputs, *others: Any) -> Any:
        return getattr(self._states, name)(*map(_plain, others))

    return combined


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "matmul", "neg"):
    setattr(Outputs, f"__{_name}__", _delegating(f"__{_name}__"))
