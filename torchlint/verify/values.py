"""
Values for arguments that are no plain tensors: Modules, configurations, batches, loaders, optimizers, and numbers.

Runs inside the child. Each is made anew for each call, the same for the same name and size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import nn

from torchlint.verify import resized
from torchlint.verify.anything import AnyTensor, Anything, apart, parts_wanted, tensors
from torchlint.verify.evidence import MODULE_ATTRIBUTES
from torchlint.verify.outputs import Outputs
from torchlint.verify.scalars import Place as Place
from torchlint.verify.scalars import scalar as scalar
from torchlint.verify.usage import CONFIGURATIONS, Use, of_edges, says


class Config:
    """A configuration that has what is asked for, by name; the same each time."""

    def __init__(self, size: int, reads: tuple[tuple[str, str], ...] = ()) -> None:
        self.__dict__.update(_size=size, _reads=dict(reads))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("device",):
            return torch.device("cpu")
        if says(name, "=dtype"):
            return torch.float32
        lower = name.lower()
        inner = lower in ("model", "data", "training", "optim") or lower.endswith(("config", "cfg", "args"))
        value: Any = Config(self._size, self._inside(name)) if inner else scalar(name, self._size, computes=False)
        known = self._reads.get(name, "")
        if known.startswith("="):  # what it is compared with
            value = known[1:]
        elif (known in ("list", "mapping") and inner) or (known and not inner and value == self._size):
            value = self._read(known, name)
        elif type(value) is int and value == self._size:
            value = Anything(value)
        self.__dict__[name] = value
        return value

    def _read(self, held: str, name: str) -> Any:
        match held:
            case "called":
                return AnyModule()
            case "list":
                return [Anything(self._size)] * 2
            case "mapping":
                return {}
            case "tensor":
                return torch.rand(2, self._size, generator=torch.Generator().manual_seed(1)) + 0.1
        return Config(self._size, self._inside(name))

    def _inside(self, name: str) -> tuple[tuple[str, str], ...]:
        """What is read of what it has under a name."""
        begin = f"{name}."
        return tuple((key.removeprefix(begin), held) for key, held in self._reads.items() if key.startswith(begin))

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, str(name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As a layer that keeps shapes; of no tensor, more settings."""
        for value in tensors((*args, *kwargs.values())):
            return apart(value.clone(), parts_wanted(), tensors((*args, *kwargs.values())))
        return Config(self._size)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    __iter__ = None  # it has all that is asked for: going through it would never end

    def get(self, name: str, default: Any = None) -> Any:
        """As that of a dictionary: what has a default keeps it."""
        return getattr(self, name) if default is None else default


class Space(Config):
    """What an environment has observations or actions of: as many numbers, or images, or one of several."""

    def __init__(self, shape: tuple[int, ...] = (8,)) -> None:
        super().__init__(shape[0])
        zeros = torch.zeros(shape).numpy()
        self.__dict__.update(shape=shape, n=VALUES, nvec=[VALUES] * 2, low=zeros, high=zeros + 1, dtype=zeros.dtype)

    def sample(self) -> Any:
        """One of what it has."""
        return self.low.copy()


VALUES = 4
"""So many there are of what is counted."""
WORDS = ("first", "second")
"""What a list of words holds."""


class Vocabulary(Config):
    """What has settings and is counted, too: a tokenizer, a vocabulary."""

    def __len__(self) -> int:
        return VOCABULARY


VOCABULARY = 32
"""So many words."""


class _AskedFor(dict[str, Any]):
    """A dictionary that has the keys which are asked for; gone through before, it has `_entries`."""

    _entries: ClassVar[tuple[str, ...]]

    def _filled(self) -> dict[str, Any]:
        for key in self._entries if not dict.__len__(self) else ():
            self[key]
        return self

    def values(self) -> Any:
        """As those of a dictionary."""
        return dict.values(self._filled())

    def items(self) -> Any:
        """As those of a dictionary."""
        return dict.items(self._filled())

    def keys(self) -> Any:
        """As those of a dictionary."""
        return dict.keys(self._filled())


class Settings(_AskedFor):
    """The same as a dictionary: it holds the keys that are asked for, and those that a function is known to read."""

    _entries = ("first", "second")

    def __init__(self, size: int, reads: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__()
        self._made = Config(size, reads)

    def __getattr__(self, name: str) -> Any:
        """As a configuration whose keys are attributes, too."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __missing__(self, key: str) -> Any:
        self[key] = value = self._made[key]
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """What has a default keeps it."""
        return dict.get(self, key, default) if default is not None else self[key]

    def pop(self, key: str, default: Any = None) -> Any:
        """As `get`."""
        return dict.pop(self, key, self._made[key] if default is None else default)

    def __copy__(self) -> Settings:
        copied = Settings(0)
        copied.__dict__.update(self.__dict__)
        dict.update(copied, self)
        return copied


SEVERAL = 8
"""So many edges a graph has."""
PARTS = 3
"""So many tensors a dictionary holds of which no key is known."""


class Batch(_AskedFor):
    """A dictionary of tensors that has the keys which are asked for."""

    _entries = tuple(map(str, range(PARTS)))

    def __init__(
        self,
        shape: tuple[int, ...],
        requires_grad: bool,
        kind: str = "",
        own: tuple[tuple[str, tuple[int, ...], str], ...] = (),
    ) -> None:
        super().__init__()
        self._made = (shape, requires_grad, kind)
        self._own = {key: (size, requires_grad, held) for key, size, held in own}

    def __missing__(self, key: str) -> Any:
        self[key] = value = tensor(str(key), *self._own.get(key, self._made))
        return value

    def __iter__(self) -> Any:
        """As that of a dictionary."""
        return dict.__iter__(self._filled())

    def get(self, key: str, default: Any = None) -> Any:
        return dict.get(self, key, default)

    def __getattr__(self, name: str) -> Any:
        """As a batch whose keys are attributes, too."""
        if name.startswith("_"):
            raise AttributeError(name)
        return torch.device("cpu") if name == "device" else self[name]


class AnyModule(nn.Module):  # type: ignore[misc]
    """
    A Module that takes any tensors and returns the first, scaled: it has parameters, and keeps shapes, unless it was
    built with two sizes.

    Attributes
    ----------
    building
        Whether something is being built: what is called there, but on no tensors, is a class of layers.
    called
        Whether one of them was given a tensor.
    gives_outputs
        Whether what they give back has parts by name: a program has asked a tensor for one.
    expansion
        As blocks of residual networks have it.
    """

    building: ClassVar[bool] = False
    called: ClassVar[bool] = False
    gives_outputs: ClassVar[bool] = False

    expansion: ClassVar[int] = 1

    def __init__(
        self, reads: tuple[tuple[str, str], ...] = (), *, outputs: bool = False, sizes: resized.Sizes | None = None
    ) -> None:
        super().__init__()
        self.reads, self.outputs, self._sizes = reads, outputs, sizes
        self.in_features = self.out_features = self.dim = self.embed_dim = self.hidden_size = 8
        self.weight = nn.Parameter(torch.ones(()))
        self.bias = nn.Parameter(torch.zeros(()))
        self.activation, self.dropout = nn.ReLU(), nn.Dropout(0.1)  # as a program may look for among its parts
        for name, held in reversed(reads):
            if held in _HELD and "." not in name and (name in vars(self) or not hasattr(self, name)):
                setattr(self, name, _HELD[held]())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The first tensor among the arguments; of what is no tensor, as a class of layers would."""
        for value in tensors((*args, *kwargs.values())):
            given_back = (value if value.is_floating_point() else value.float()) * self.weight + self.bias
            given_back = resized.resized(given_back, self._sizes)
            AnyModule.called = True
            parts = self.outputs or AnyModule.gives_outputs
            if parts:
                return Outputs(given_back, of_words=not value.is_floating_point())
            return apart(given_back, parts_wanted(), tensors((*args, *kwargs.values())))
        given = (*args, *kwargs.values())
        sizes = given and all(isinstance(each, (int, float, str, type, nn.Module)) for each in given)
        if sizes or AnyModule.building:
            return AnyModule(sizes=resized.sizes(args, kwargs))
        return self.weight + self.bias

    def __repr__(self) -> str:
        return "AnyModule()"

    def __getattr__(self, name: str) -> Any:
        """What it was not known to have."""
        if name.startswith("_") or name in MODULE_ATTRIBUTES or "_set" in self.__dict__:
            return super().__getattr__(name)
        try:
            return super().__getattr__(name)
        except AttributeError:
            return self.__dict__.setdefault(name, Anything())

    def __setattr__(self, name: str, value: Any) -> None:
        """While something is set, it is asked whether it is there already."""
        self.__dict__["_set"] = True
        try:
            super().__setattr__(name, value)
        finally:
            self.__dict__.pop("_set", None)

    def __getitem__(self, key: Any) -> Any:
        """Parts of it are Modules, two where they are counted."""
        if isinstance(key, slice):
            return [AnyModule(), AnyModule()][key]
        if isinstance(key, int) and not -2 <= key < 2:
            raise IndexError(key)
        return self.__dict__.setdefault("_held", {}).setdefault(key, AnyModule())

    def __len__(self) -> int:
        return 2


_HELD: Mapping[str, Callable[[], Any]] = {
    "list": lambda: [torch.ones(8), torch.ones(8)],
    "tensor": lambda: torch.ones(8),
    "called": lambda: AnyModule(),
    "object": lambda: Config(8),
}
"""What a made-up Module has under a name that is read of it."""


class _Scheduler:
    def step(self, *args: Any) -> None:
        """Nothing is scheduled."""

    def get_last_lr(self) -> list[float]:
        """As torch's schedulers."""
        return [0.01]


def criterion(*args: Any, **kwargs: Any) -> torch.Tensor:
    """A loss of any tensors: their mean square."""
    found = [value.float().pow(2).mean() for value in tensors((*args, *kwargs.values()))]
    return sum(found[1:], found[0]) if found else torch.zeros(())


def tensor(name: str, shape: tuple[int, ...], requires_grad: bool, kind: str = "") -> torch.Tensor:
    """A tensor for a name: integers for ids and labels, truth values for masks, floats otherwise."""
    generator = torch.Generator().manual_seed(1)
    last = name.lower().rpartition("_")[2]
    if not kind and of_edges(name):
        return torch.randint(0, max(1, shape[0]) if shape else 1, (2, SEVERAL), generator=generator)
    if not kind and last == "batch":  # which graph each node is of
        return torch.zeros(shape[:1], dtype=torch.int64)
    if kind == "mask" or (not kind and last in ("mask", "masks")):
        return torch.ones(shape[:2] if len(shape) > 2 else shape, dtype=torch.bool)
    if kind == "complex":
        return torch.complex(torch.rand(shape, generator=generator) + 0.1, torch.rand(shape, generator=generator))
    if kind == "all integers":
        return torch.randint(0, 2, shape, generator=generator)
    if kind == "integers" or (not kind and last in ("ids", "label", "labels", "target", "targets", "index", "y")):
        return torch.randint(0, 2, shape[:1], generator=generator)
    leaf = torch.rand(shape, generator=generator) * 0.8 + 0.1
    return leaf.requires_grad_().clone() if requires_grad else leaf


_SCALED: Mapping[str, Callable[[int, int], int]] = {
    "smaller": lambda index, count: 2 ** (count - 1 - index),
    "larger": lambda index, count: 2**index,
}
"""Of the tensors of a list, how many times as large each is as the smallest."""


def _scaled(shape: tuple[int, ...], factor: int) -> tuple[int, ...]:
    """Behind the batch and the channels."""
    return (*shape[:2], *(size * factor for size in shape[2:]))


def make(name: str, use: Use, shape: tuple[int, ...], size: int, requires_grad: bool, *, computes: bool) -> Any:
    """
    A value for an argument.

    Parameters
    ----------
    use
        What is known of it.
    shape, requires_grad
        Of tensors.
    size
        Of what says nothing of itself.
    computes
        As in `scalar`.
    """
    match use.kind:
        case "tensor" | "integers" | "mask" | "complex":
            return tensor(name, shape, requires_grad, use.kind)
        case "tensors" if use.held in _SCALED:
            shapes = [_scaled(shape, _SCALED[use.held](index, use.rank or 2)) for index in range(use.rank or 2)]
            return [tensor(name, each, requires_grad, "tensor") for each in shapes]
        case "tensors":
            return [tensor(name, shape, requires_grad, use.held) for _ in range(use.rank or 2)]
        case "batch":
            first = [tensor("x", shape, requires_grad, use.held) for _ in range(max(1, use.rank - 1))]
            return (*first, tensor("labels", shape, False, use.held))
        case "module":
            return AnyModule(use.reads, outputs=use.held == "outputs")
        case "modules":
            return [AnyModule() for _ in range(use.rank or 2)]
        case "array":
            return tensor(name, shape, False, "tensor").numpy()
        case "parameters":
            return list(AnyModule().parameters())
        case "criterion":
            return criterion
        case "callable":
            return AnyModule(use.reads, outputs=use.held == "outputs")
        case "optimizer":
            return torch.optim.SGD(AnyModule().parameters(), lr=0.01)
        case "scheduler":
            return _Scheduler()
        case "loader" if use.held == "dict":
            return [Batch(shape, False), Batch(shape, False)]
        case "loader":
            pair = (tensor("x", shape, False), tensor("labels", shape, False))
            return [pair, pair]
        case "config" if says(name, "=space"):
            return Space()
        case "config":
            return Config(size, use.reads)
        case "value":
            return use.value
        case "anything":
            return (AnyTensor if use.rank else Anything)(size)
        case "dict":
            settings = not computes or name.lower() in CONFIGURATIONS
            return Settings(size, use.reads) if settings else Batch(shape, requires_grad, use.held, use.value or ())
        case "list" if use.choices:
            return [use.choices[index % len(use.choices)] for index in range(use.rank or 2)]
        case "list":
            part = scalar(name, size, computes=False)
            part = Anything(size) if use.held == "anything" else part if type(part) in (int, float) and part else size
            return [part for _ in range(use.rank or 2)]
        case "indices":
            return [0, 1]
        case "integer" if use.held == "axis":
            return -1
        case "integer":
            return int(value) if isinstance(value := scalar(name, size, computes=computes), (int, float)) else size
        case "number":
            return float(value) if isinstance(value := scalar(name, size, computes=computes), (int, float)) else 0.1
        case "flag":
            return False
        case "string" if use.choices:
            return use.choices[0]
        case "string":
            return value if isinstance(value := scalar(name, size, computes=computes), str) and value else "relu"
        case "device":
            return torch.device("cpu")
        case "dtype":
            return torch.float32
        case "path":
            return Place("." if any(word in name.lower() for word in ("dir", "folder", "root")) else "file")
        case "mapping":
            return {}
    return scalar(name, size, computes=computes)
