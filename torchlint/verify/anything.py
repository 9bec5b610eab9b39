"""
A made-up value of which nothing is known: a number that also has, holds, does and is what is asked of it.

Runs inside the child. It is an integer, because sizes must be; what torch takes for a tensor is a kind of its own.
Where it was asked for more than a number, the program was driven with something that no caller may ever give it: that
is remembered, for nothing is refuted then.
"""

from __future__ import annotations

import dis
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from torchlint.verify.evidence import MODULE_ATTRIBUTES, TENSOR_ATTRIBUTES
from torchlint.verify.instrument import VALUE
from torchlint.verify.scalars import scalar
from torchlint.verify.usage import says

HELD, MOST = 2, 16
"""It holds so many others, and where one further back is asked for as many as that takes, but never more."""
_TEXT = frozenset({"lower", "upper", "strip", "split", "startswith", "endswith", "replace", "join", "encode", "format"})
_DONE = frozenset(
    {"step", "append", "extend", "add", "update", "remove", "close", "log", "info", "debug", "warning", "log_dict"}
)
"""What is called for its effect."""


_OF_DISTRIBUTIONS = frozenset({"log_prob", "entropy", "cdf", "icdf"})
"""What is called of distributions."""
_FRACTIONS = ("dropout", "drop", "prob", "eps", "momentum")
"""Words of names of what has to lie between 0 and 1."""


def taken_apart(depth: int = 2) -> int:
    """Into how many names a caller takes something apart that it goes through now: `a, b, c = ...`; 0: it does not."""
    frame = sys._getframe(depth)
    code, place = frame.f_code.co_code, frame.f_lasti
    known = 0 <= place < len(code) - 1 and code[place] == _UNPACK
    return code[place + 1] if known else 0


def parts_wanted() -> int:
    """Into how many names the program takes apart what the call gives back that it makes now; 0: it does not."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    code, place = frame.f_code.co_code, frame.f_lasti + 2
    passed_over = _CALLS if VALUE in frame.f_code.co_names else _NO_CODE
    while 0 < place < len(code) - 1 and code[place] in passed_over:
        place += 2
    return code[place + 1] if 0 < place < len(code) - 1 and code[place] == _UNPACK else 0


def apart(value: torch.Tensor, parts: int, given: Iterator[torch.Tensor]) -> Any:
    """
    A tensor; so many, where a program takes apart what it gets: copies of those that were given, as far as they go.

    Parameters
    ----------
    given
        What was given, the first of which the tensor was made of.
    """
    if parts < 2:
        return value
    others = itertools.chain(itertools.islice(given, 1, None), itertools.repeat(value))
    return (value, *(each.clone() for each in itertools.islice(others, parts - 1)))


_UNPACK = dis.opmap["UNPACK_SEQUENCE"]
_NO_CODE = frozenset({dis.opmap["CACHE"]} if "CACHE" in dis.opmap else ())
"""What stands between operations."""
_CALLS = _NO_CODE | {dis.opmap[name] for name in ("PRECALL", "CALL", "CALL_FUNCTION") if name in dis.opmap}
"""The same where a probe is called with the value."""
_INSIDE = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(__file__) + os.sep)


class Anything(int):
    """
    An integer, and all else.

    Parameters
    ----------
    size
        Its value, and the last size of the tensor that it is where one is wanted.

    Attributes
    ----------
    asked
        Whether one of them was asked for more than a number since this was last set.
    """

    asked: ClassVar[bool] = False

    def __new__(cls, size: int = 8) -> Anything:
        """As that of integers."""
        return int.__new__(cls, size)

    def _another(self) -> Any:
        Anything.asked = True
        return type(self)(int(self))

    def _as_tensor(self) -> torch.Tensor:
        Anything.asked = True
        known: torch.Tensor | None = self.__dict__.get("_tensor")
        if known is None:
            leaf = torch.rand((2, max(1, int(self))), generator=torch.Generator().manual_seed(1)) + 0.1
            known = self.__dict__["_tensor"] = leaf.requires_grad_().clone()
        return known

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._attribute(name)
        self.__dict__[name] = value
        return value

    def _attribute(self, name: str) -> Any:
        if name in ("device",):
            return torch.device("cpu")
        if says(name, "=dtype"):
            return torch.float32
        Anything.asked = True
        if any(says(name, word) for word in _FRACTIONS) and name not in _OF_DISTRIBUTIONS:
            return 0.1
        if name in _TEXT:
            return getattr("relu", name)
        if name in ("keys", "values", "items"):
            return getattr({"first": self._another(), "second": self._another()}, name)
        if name == "get":
            return lambda key, default=None: self[key] if default is None else default
        if name in _DONE:
            return _nothing
        if name in TENSOR_ATTRIBUTES and callable(getattr(torch.Tensor, name, None)):
            return self._method(name)  # or a setting that is called like one: `cfg.type`
        if name in TENSOR_ATTRIBUTES:
            return getattr(self._as_tensor(), name)
        if name in MODULE_ATTRIBUTES:
            return getattr(nn.Linear(2, 2), name)
        known = scalar(name, int(self), computes=False)
        return type(self)(known) if type(known) is int else self._another()

    def _method(self, name: str) -> Any:
        made = self._another()
        made.__dict__["_method_of"] = (self, name)
        return made

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return getattr(self, key) if key.isidentifier() and not key.startswith("__") else self._another()
        if isinstance(key, int) and not -MOST <= key < MOST:
            raise IndexError(key)
        if isinstance(key, int):
            self.__dict__["_held"] = max(len(self), key + 1, -key)
            return self._another()
        if isinstance(key, slice):
            return [self._another() for _ in range(len(self))][key]
        return self._as_tensor()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter([self._another() for _ in range(taken_apart() or len(self))])

    def __setitem__(self, key: Any, value: Any) -> None:
        """It is kept where a name can be."""
        if isinstance(key, str):
            self.__dict__[key] = value

    def __len__(self) -> int:
        return int(self.__dict__.get("_held", HELD))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As a layer that keeps shapes; of no tensor, more of the same. What is called like a method is that, too."""
        if "_method_of" in self.__dict__:
            owner, name = self.__dict__["_method_of"]
            return getattr(owner._as_tensor(), name)(*args, **kwargs)
        given = next(tensors((*args, *kwargs.values())), None)
        return self._another() if given is None else apart(given.clone(), parts_wanted(), tensors(args))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __matmul__(self, other: Any) -> Any:
        return self._as_tensor() @ other

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self._as_tensor()

    def __deepcopy__(self, memo: Any = None) -> Any:
        return self

    def __copy__(self) -> Any:
        """One of its own: a part of it may be changed."""
        copied = type(self)(int(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __fspath__(self) -> str:
        Anything.asked = True
        return "file"

    def __repr__(self) -> str:
        return f"anything({int(self)})"


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


class AnyTensor(Anything):
    """The same for what torch takes as a tensor: a call that takes no number of it gets one."""

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called by torch in place of `func`."""
        keywords = dict(kwargs or {})
        with torch._C.DisableTorchFunctionSubclass():
            try:
                return func(*args, **keywords)
            except (TypeError, AttributeError):
                return func(*map(_tensor, args), **{name: _tensor(value) for name, value in keywords.items()})


def _tensor(value: Any) -> Any:
    if isinstance(value, Anything):
        return value._as_tensor()
    return type(value)(map(_tensor, value)) if type(value) in (list, tuple) else value


def tensors(values: Any) -> Iterator[torch.Tensor]:
    """The tensors among values, and in what they hold."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors(value)
        elif isinstance(value, Mapping):
            yield from tensors(value.values())
