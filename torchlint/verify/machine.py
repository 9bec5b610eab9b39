"""
Lets a Module that asks for another device run on the CPU, as the only one that is there.

Runs inside the child, while something is driven. Values are the same; what a kernel of that device would do otherwise
is not seen.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

from torchlint.verify.anything import Anything
from torchlint.verify.standins import Inert, Layer
from torchlint.verify.values import AnyModule

_OURS = os.path.dirname(__file__) + os.sep
_ELSEWHERE = ("cuda", "mps", "xpu", "npu", "hpu")
_OF_VALUES = (torch.tensor, torch.as_tensor, torch.asarray)
_MOVES = frozenset({"cuda", "xpu", "pin_memory"})


_IDLE = {
    **dict.fromkeys(("synchronize", "set_device", "empty_cache", "reset_peak_memory_stats", "manual_seed_all")),
    **dict.fromkeys(("memory_allocated", "max_memory_allocated", "memory_reserved", "current_device"), 0),
}
"""What `torch.cuda` says of a device that does nothing."""


def _answering(answer: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: answer


_load = torch.nn.Module.load_state_dict


def _loaded(module: torch.nn.Module, state: Any, *args: Any, **kwargs: Any) -> Any:
    """As of a Module; what a stand-in has loaded, or fetched, holds nothing, and weights stay as they were made."""
    held = list(state.values()) if isinstance(state, dict) else []
    made_up = held and all(isinstance(each, torch.Tensor) and each.ndim == 0 for each in held)
    if isinstance(state, (Inert, Layer, Anything)) or (made_up and {*state} <= {*AnyModule().state_dict()}):
        return torch.nn.modules.module._IncompatibleKeys([], [])
    return _load(module, state, *args, **kwargs)


_load_optimizer = torch.optim.Optimizer.load_state_dict


def _loaded_optimizer(optimizer: torch.optim.Optimizer, state: Any) -> None:
    """The same of an optimizer."""
    if not isinstance(state, (Inert, Layer, Anything)):
        _load_optimizer(optimizer, state)


def _of_number(repeated: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Sizes of a kernel, of one number; what is made up is one, though it can also be gone through."""
    return lambda size: repeated(int(size) if isinstance(size, (Anything, Inert)) else size)


_KERNELS = [
    (owner, name, _of_number(getattr(owner, name)))
    for owner in (torch.nn.modules.conv, torch.nn.modules.pooling)
    for name in ("_single", "_pair", "_triple")
]
_load_file = torch.load


def _loaded_file(file: Any, *args: Any, **kwargs: Any) -> Any:
    """As of torch; what lies in no file is a stand-in for it: a tensor is loaded, as was asked, and dropped."""
    if isinstance(file, (str, os.PathLike)) and not os.path.exists(file):
        OnThisMachine.absent.add("a file")
        if kwargs.get("weights_only") is False:
            torch.save(torch.zeros(1), some := io.BytesIO())
            some.seek(0)
            _load_file(some, weights_only=False)
        return Inert("a file.contents", OnThisMachine.absent)
    return _load_file(file, *args, **kwargs)


_load_network = torch.jit.load


def _loaded_network(file: Any, *args: Any, **kwargs: Any) -> Any:
    """As of TorchScript; what lies in no file is a stand-in for it, and what lies beside it says nothing."""
    if isinstance(file, (str, os.PathLike)) and not os.path.exists(file):
        OnThisMachine.absent.add("a file")
        beside = kwargs.get("_extra_files") or {}
        beside.update(dict.fromkeys(beside, "{}"))
        return Layer("a file.network", OnThisMachine.absent)
    return _load_network(file, *args, **kwargs)


_from_numpy = torch.from_numpy


def _of_array(array: Any) -> Any:
    """As of torch; of what a package that is not there would have given, what that is as an array."""
    return _from_numpy(array.__array__() if isinstance(array, (Inert, Layer)) else array)


def _arrays_of_file(load: Callable[..., Any]) -> Callable[..., Any]:
    """As of NumPy; what lies in no file is a stand-in for it."""

    def loaded(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, (str, os.PathLike)) and not os.path.exists(file):
            OnThisMachine.absent.add("a file")
            return Inert("a file.contents", OnThisMachine.absent)
        return load(file, *args, **kwargs)

    return loaded


class OnThisMachine(TorchFunctionMode):  # type: ignore[misc]
    """
    Every device that a call into torch names is the CPU.

    Attributes
    ----------
    calls
        So many calls into torch came back.
    absent
        Where a stand-in says that it was used.
    """

    calls = 0
    absent: ClassVar[set[str]] = set()

    def __enter__(self) -> OnThisMachine:
        """What asks a device how it is finds one that is idle."""
        self.patches = contextlib.ExitStack()
        for name, answer in _IDLE.items():
            self.patches.enter_context(mock.patch.object(torch.cuda, name, _answering(answer)))
        self.patches.enter_context(mock.patch.object(torch.nn.Module, "load_state_dict", _loaded))
        self.patches.enter_context(mock.patch.object(torch.optim.Optimizer, "load_state_dict", _loaded_optimizer))
        for owner, name, one in _KERNELS:
            self.patches.enter_context(mock.patch.object(owner, name, one))
        self.patches.enter_context(mock.patch.object(torch, "load", _loaded_file))
        self.patches.enter_context(mock.patch.object(torch.jit, "load", _loaded_network))
        self.patches.enter_context(mock.patch.object(torch, "from_numpy", _of_array))
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None:
            self.patches.enter_context(mock.patch.object(numpy, "load", _arrays_of_file(numpy.load)))
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """As that of other modes."""
        super().__exit__(*error)
        self.patches.close()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called by torch in place of `func`."""
        if getattr(func, "__name__", "") in _MOVES and args and isinstance(args[0], torch.Tensor):
            return args[0]
        if func in _OF_VALUES and args:
            args = (_plain(args[0]), *args[1:])
        if func is torch.Tensor.__getitem__ and any(isinstance(each, _HOLDERS) for each in _indices(args[1])):
            raise TypeError(f"'{type(args[1]).__name__}' object is no index of a Tensor")  # torch would go through it
        keywords = {name: _here(value) for name, value in (kwargs or {}).items()}
        result = func(*(_here(value) for value in args), **keywords)
        if not sys._getframe(1).f_code.co_filename.startswith(_OURS):  # a stand-in's own
            self.calls += 1
        return result


_HOLDERS = (AnyModule, Inert, Layer)


def _indices(index: Any) -> Sequence[Any]:
    return index if isinstance(index, (list, tuple)) else (index,)


def _plain(value: Any) -> Any:
    """Numbers, where anything is one."""
    if isinstance(value, Anything):
        return int(value)
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _here(value: Any) -> Any:
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type in _ELSEWHERE else value
    if isinstance(value, str):
        return "cpu" if value.partition(":")[0] in _ELSEWHERE else value
    return value
