"""
What an unknown name may turn out to be: bodies for a function, values, contexts, decorators, base classes.

Knows torch, nothing of the model. Left out is that after which nothing could be said of any program: a function that
changes the grad mode for good or frees a graph, a context that swallows what torch raises or takes over what is saved.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn

Body = Callable[..., Any]


def _tensors(value: Any, depth: int = 3) -> Iterator[torch.Tensor]:
    """Tensors within reach: in containers, Modules, optimizers, objects of the program."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, nn.Module):
        yield from value.parameters()
        yield from value.buffers()
    elif depth and isinstance(value, dict):
        for each in list(value.values()):
            yield from _tensors(each, depth - 1)
    elif depth and isinstance(value, list | tuple | set):
        for each in list(value):
            yield from _tensors(each, depth - 1)
    elif isinstance(value, torch.optim.Optimizer):
        yield from _tensors(value.param_groups)
    elif depth and getattr(type(value), "__module__", "") == "__main__" and hasattr(value, "__dict__"):
        yield from _tensors(vars(value), depth - 1)


def _mapped(function: Body, value: Any) -> Any:
    """A value with a function applied to its tensors; what has none stays as it is."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        return type(value)((key, _mapped(function, each)) for key, each in value.items())
    if type(value) in (list, tuple):
        return type(value)(_mapped(function, each) for each in value)
    if callable(value) and not isinstance(value, nn.Module | type):

        @functools.wraps(value)
        def called(*args: Any, **kwargs: Any) -> Any:
            return _mapped(function, value(*args, **kwargs))

        return called
    return value


def _returns(function: Body) -> Body:
    """A function of anything that gives its last argument back, changed."""

    def body(*args: Any, **kwargs: Any) -> Any:
        return _mapped(function, args[-1]) if args else None

    return body


def _does(function: Callable[[torch.Tensor], object]) -> Body:
    """A function of anything that does something to all tensors it can reach, and gives its last argument back."""

    def body(*args: Any, **kwargs: Any) -> Any:
        for each in _tensors(args):
            with contextlib.suppress(RuntimeError):
                function(each)
        return args[-1] if args else None

    return body


def _written(tensor: torch.Tensor) -> None:
    with torch.no_grad():
        tensor.mul_(2)


def _unfrozen(tensor: torch.Tensor) -> None:
    if tensor.is_floating_point():
        tensor.requires_grad_(True)


def _accumulated(tensor: torch.Tensor) -> None:
    if tensor.is_leaf and tensor.requires_grad:
        tensor.grad = torch.ones_like(tensor)


def _forgotten(tensor: torch.Tensor) -> None:
    if tensor.is_leaf:
        tensor.grad = None


def _layer(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    return torch.tanh(tensor * nn.Parameter(torch.ones(tensor.shape)))


def _numbers(value: Any) -> Any:
    return value.detach().sum().item() if isinstance(value, torch.Tensor) else value


def _emptied(*args: Any, **kwargs: Any) -> Any:
    for each in args:
        if isinstance(each, list | dict | set):
            each.clear()
    return args[-1] if args else None


def _longer(value: Any) -> Any:
    """Sizes of one dimension more; nothing else is changed."""
    sizes = type(value) in (list, tuple) and value and all(type(each) is int for each in value)
    return type(value)((value[0], *value)) if sizes else value


def _kept(*args: Any, **kwargs: Any) -> Any:
    """Its last argument; of a function one that never calls it: whoever is given one need not."""
    if args and callable(args[-1]) and not isinstance(args[-1], nn.Module | type):
        return lambda *given, **named: None
    return args[-1] if args else None


FUNCTIONS: dict[str, Body] = {
    "identity": lambda *args, **kwargs: args[-1] if args else None,
    "detach": _returns(torch.Tensor.detach),
    "clone": _returns(torch.Tensor.clone),
    "data": _returns(lambda t: t.data),
    "leaf": _returns(lambda t: t.detach().clone().requires_grad_() if t.is_floating_point() else t),
    "zeros": _returns(lambda t: torch.zeros_like(t)),
    "layer": _returns(_layer),
    "double": _returns(lambda t: t.double() if t.is_floating_point() else t),
    "number": _returns(_numbers),
    "sum": _returns(lambda t: t.sum()),
    "longer": lambda *args, **kwargs: _longer(args[-1]) if args else None,
    "doubled": _returns(lambda t: t * 2),
    "freeze": _does(lambda t: t.requires_grad_(False)),
    "unfreeze": _does(_unfrozen),
    "detach_": _does(lambda t: t.detach_()),
    "write": _does(_written),
    "write recorded": _does(lambda t: t.mul_(2)),
    "accumulate": _does(_accumulated),
    "forget": _does(_forgotten),
    "retain": _does(lambda t: t.retain_grad()),
    "clear": _emptied,
    "None": lambda *args, **kwargs: None,
    "list": lambda *args, **kwargs: [args[-1]] if args else [],
    "empty": lambda *args, **kwargs: [],
    "not called": _kept,
    "0.5": lambda *args, **kwargs: 0.5,
    "True": lambda *args, **kwargs: True,
    "False": lambda *args, **kwargs: False,
    "recorded": lambda *args, **kwargs: torch.ones((), requires_grad=True) * 2,
    "another function": lambda *args, **kwargs: lambda *inner, **named: inner[-1] if inner else None,
}


def _scalar(*, recorded: bool) -> torch.Tensor:
    return torch.tensor(0.5, requires_grad=recorded)


VALUES: dict[str, Callable[[], Any]] = {
    "0.5": lambda: 0.5,
    "1": lambda: 1,
    "tensor": lambda: _scalar(recorded=False),
    "leaf": lambda: _scalar(recorded=True),
    "recorded": lambda: _scalar(recorded=True) * 2,
    "vector": lambda: torch.rand(3, requires_grad=True),
    "matrix": lambda: torch.rand(2, 3, requires_grad=True),
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "list": list,
    "dict": dict,
    "-1": lambda: -1,
    "0": lambda: 0,
    "identity": lambda: FUNCTIONS["identity"],
}
NUMBERS = {name: VALUES[name] for name in ("0.5", "1", "tensor", "leaf", "recorded", "vector", "True")}


class _Config:
    def __init__(self, value: Any) -> None:
        self.value = value


def _config(make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: _Config(make())


CONTEXTS: dict[str, Callable[[], Any]] = {
    "nothing": lambda: contextlib.nullcontext,
    "no_grad": lambda: torch.no_grad,
    "enable_grad": lambda: torch.enable_grad,
    "autocast": lambda: lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}


def _around(change: Body) -> Body:
    """A decorator: of a function, changes what it returns; of a class, what its call or its Module's call returns."""

    def decorator(decorated: Any) -> Any:
        if not isinstance(decorated, type):
            function = decorated.__func__ if isinstance(decorated, staticmethod) else decorated

            @functools.wraps(function)
            def called(*args: Any, **kwargs: Any) -> Any:
                return change(function(*args, **kwargs))

            return staticmethod(called) if isinstance(decorated, staticmethod) else called
        if issubclass(decorated, torch.autograd.Function):
            return decorated

        class Derived(decorated):  # type: ignore[misc]
            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                return change(super().__call__(*args, **kwargs))

        return Derived

    return decorator


def _swallowing(decorated: Any) -> Any:
    if isinstance(decorated, type | staticmethod):
        return decorated

    @functools.wraps(decorated)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return decorated(*args, **kwargs)
        except RuntimeError:
            return args[-1] if args else None

    return called


def _in_context(context: Callable[[], Any]) -> Body:
    def decorator(decorated: Any) -> Any:
        return decorated if isinstance(decorated, type | staticmethod) else context()(decorated)

    return decorator


def _property(decorated: Any) -> Any:
    return property(lambda self: lambda *args, **kwargs: decorated(self, *args, **kwargs))


DECORATORS: dict[str, Body] = {
    "identity": lambda decorated: decorated,
    "detach": _around(lambda value: _mapped(torch.Tensor.detach, value)),
    "clone": _around(lambda value: _mapped(torch.Tensor.clone, value)),
    "leaf": _around(FUNCTIONS["leaf"]),
    "no_grad": _in_context(torch.no_grad),
    "enable_grad": _in_context(torch.enable_grad),
    "swallow": _swallowing,
    "property": _property,
    "nothing": lambda decorated: decorated if isinstance(decorated, type) else lambda *args, **kwargs: None,
}


class _Anything(nn.Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()


class _WithWeight(_Anything):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.extra = nn.Parameter(torch.ones(1))


class _Detached(_Anything):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _mapped(torch.Tensor.detach, super().__call__(*args, **kwargs))


class _DetachedAttributes(_Anything):
    def __setattr__(self, name: str, value: Any) -> None:
        plain = isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter)
        super().__setattr__(name, value.detach() if plain else value)


class _Wrapped(_Anything):
    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "forward" in cls.__dict__:
            inner = cls.__dict__["forward"]
            cls.forward = torch.no_grad()(inner)  # type: ignore[method-assign]


class _Plain:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


BASES: dict[str, type] = {
    "Module": nn.Module,
    "anything": _Anything,
    "weight": _WithWeight,
    "detached": _Detached,
    "detached attributes": _DetachedAttributes,
    "no_grad forward": _Wrapped,
    "object": _Plain,
    "Function": torch.autograd.Function,
}


def _early(cls: Any, *args: Any, **kwargs: Any) -> Any:
    made = cls.__new__(cls)
    if isinstance(made, nn.Module):
        nn.Module.__init__(made)
    cls.__init__(made, *args, **kwargs)
    return made


def _metaclass(base: type, *, early: bool) -> type:
    return type("Meta", (base,), {"__call__": _early} if early else {})


class _Descriptor:
    """A descriptor that changes what is stored."""

    change: Body = staticmethod(lambda value: value)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance.__dict__[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = type(self).change(value)


class _DetachingDescriptor(_Descriptor):
    change = staticmethod(lambda value: _mapped(torch.Tensor.detach, value))


TEXTS = ("pass", "for _v in list(globals().values()):\n    if isinstance(_v, torch.Tensor): _v.requires_grad_(False)")


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


BODIES: dict[str, dict[str, Callable[[], Any]]] = {
    "call": {name: _constant(body) for name, body in FUNCTIONS.items()},
    "value": VALUES,
    "number": NUMBERS,
    "flag": {"True": _constant(True), "False": _constant(False)},
    "config": {name: _config(make) for name, make in VALUES.items()},
    "device": {
        "cpu": _constant("cpu"),
        "double": _constant(torch.float64),
        "half": _constant(torch.float16),
        "long": _constant(torch.int64),
        "float": _constant(torch.float32),
    },
    "context": CONTEXTS,
    "decorator": {name: _constant(body) for name, body in DECORATORS.items()},
    "factory": {name: _constant(functools.partial(lambda body: body, body)) for name, body in DECORATORS.items()},
    "method": {name: _constant(body) for name, body in DECORATORS.items()},
    "base": {name: _constant(body) for name, body in BASES.items()},
    "metaclass": {
        "type": _constant(_metaclass(type, early=False)),
        "early": _constant(_metaclass(type, early=True)),
    },
    "descriptor": {"identity": _constant(_Descriptor), "detach": _constant(_DetachingDescriptor)},
    "text": {str(number): _constant(text) for number, text in enumerate(TEXTS)},
}
"""For each role: makers of what the name is, by their names. The first changes nothing, where that is possible."""


def assignments(roles: dict[str, str], choose: Callable[[list[str]], str], mixed: int) -> Iterable[dict[str, str]]:
    """
    Which bodies the unknowns of a program get, run by run: each body of each unknown with the first of the others, and
    some mixtures.
    """
    first = {name: next(iter(BODIES[role])) for name, role in roles.items()}
    yield first
    for name, role in roles.items():
        for body in list(BODIES[role])[1:]:
            yield {**first, name: body}
    yield from mixtures(roles, choose, mixed)


def mixtures(roles: dict[str, str], choose: Callable[[list[str]], str], number: int) -> Iterable[dict[str, str]]:
    """So many runs in which each unknown gets any of its bodies; none where there is one unknown alone."""
    for _ in range(number if len(roles) > 1 else 0):
        yield {name: choose(list(BODIES[role])) for name, role in roles.items()}
