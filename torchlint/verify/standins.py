"""
Inert stand-ins for packages that are not installed, so that a file can be loaded for its classes and functions.

Runs inside the child. A stand-in takes every call and has every attribute, and does nothing: as a decorator it leaves
what it decorates alone, as a base class it adds nothing. Only a package whose absence ends the loading is stood in for:
where the program handles that itself, it goes its own way. Which of them were touched is told.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.machinery
import linecache
import math
import pathlib
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar

import torch

from torchlint.verify import named_axes, resized
from torchlint.verify.anything import HELD, Anything, apart, parts_wanted, taken_apart, tensors
from torchlint.verify.outputs import Outputs

_SETTINGS = frozenset({"BaseModel", "BaseSettings"})
"""Classes whose fields are what their bodies annotate."""
_LAYERS = frozenset({"nn", "models", "layers", "modules"})
"""Parts of the names of modules whose classes are layers."""
_RESIZING = re.compile(r"(?i)conv|linear|dense|mlp|bottleneck|block|downsample|upsample|projection")
"""Names of classes of layers whose first two arguments are what they take and what they give."""
_TYPE_VARIABLE = re.compile(r"_?(T|[A-Z]T|T_\w+|\w+_co|\w+_contra)")


class Inert:
    """
    A value of a package that is not there.

    Parameters
    ----------
    name
        Its dotted name; the first part is the package.
    touched
        Collects the packages of which something was called or asked for.

    Attributes
    ----------
    modules
        Whether what functions make is a layer, too: a program has put it into a network.
    outputs
        Whether layers give back `Outputs`: a program has asked a tensor for a part of them by its name.
    """

    modules: ClassVar[bool] = False
    outputs: ClassVar[bool] = False

    def __init__(self, name: str, touched: set[str]) -> None:
        self.__dict__.update(_name=name, _touched=touched, __name__=name.rpartition(".")[2], __qualname__=name)

    def _touch(self) -> None:
        self._touched.add(self._name.partition(".")[0])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._touch()
        return Inert(f"{self._name}.{name}", self._touched)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._touch()
        if self._name.endswith(".store_attr"):
            return _keep_arguments(sys._getframe(1))
        if self._name.endswith(".Field"):  # of settings: what it is unless it is given
            made = kwargs.get("default_factory")
            return made() if made is not None else kwargs.get("default", next(iter(args), Anything()))
        if self._name == "triton.jit" or self._name.startswith("triton.jit()"):  # a kernel: it is launched by `[grid]`
            return Inert("triton.jit()", self._touched)
        if len(args) == 1 and not kwargs and isinstance(args[0], (type, types.FunctionType, classmethod, staticmethod)):
            return args[0]
        if (given := _first_tensor((*args, *kwargs.values()))) is not None:
            if isinstance(given, torch.Tensor):
                return apart(given, parts_wanted(), tensors(args))
            return (given, *(Anything(HELD) for _ in range(parts - 1))) if (parts := parts_wanted()) > 1 else given
        last = self._name.rpartition(".")[2]
        if Inert.modules or last[:1].isupper() or last.startswith(("from_pretrained", "from_config")):
            named = _RESIZING.search(last) is not None
            return Layer(self._name, self._touched, resized.sizes(args, kwargs, by_place=named))
        return Inert(f"{self._name}()", self._touched)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        last = self._name.rpartition(".")[2]
        if last == "LightningModule":
            return (Lightning,)
        if last in _SETTINGS:
            return (self._base(_StoodSettings),)
        if (
            last.endswith(("Module", "PreTrainedModel", "Model")) or _LAYERS & {*self._name.split(".")[1:-1]}
        ) and not any(isinstance(base, type) and issubclass(base, torch.nn.Module) for base in bases):
            return (self._base(_StoodModule),)
        return (self._base(_Stood),)

    def _base(self, kind: type) -> type:
        """A class of its own: two of them may be bases of one class."""
        base = types.new_class(f"Stood{self._name.rpartition('.')[2]}", (kind,))
        base.__module__, _bases[base] = __name__, self._name.partition(".")[0]
        return base

    def __instancecheck__(self, value: object) -> bool:
        return False

    def __subclasscheck__(self, kind: type) -> bool:
        return False

    def __getitem__(self, key: object) -> Any:
        return Inert(f"{self._name}[]", self._touched)

    def __setitem__(self, key: object, value: object) -> None:
        self._touch()

    def __iter__(self) -> Iterator[Any]:
        return iter([Inert(f"{self._name}[]", self._touched) for _ in range(taken_apart())])

    def __len__(self) -> int:
        return 0

    def __index__(self) -> int:
        self._touch()
        return 8

    __int__ = __index__

    def __float__(self) -> float:
        self._touch()
        return 1.0

    def __fspath__(self) -> str:
        self._touch()
        return "file"

    def __array__(self, *asked: Any, **how: Any) -> Any:
        self._touch()
        return sys.modules["numpy"].ones(HELD)

    def __bool__(self) -> bool:
        return False

    def __contains__(self, value: object) -> bool:
        return False

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __or__(self, other: object) -> Any:
        return self

    __ror__ = __or__

    def _combined(self, other: object = None) -> Any:
        self._touch()
        return Inert(self._name, self._touched)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _combined
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = __invert__ = _combined
    __matmul__ = __rmatmul__ = __and__ = __rand__ = __xor__ = __rxor__ = _combined

    def _false(self, other: object) -> bool:
        self._touch()
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _false

    def __hash__(self) -> int:
        return hash(self._name)

    def __eq__(self, other: object) -> bool:
        return self is other


def _keep_arguments(frame: types.FrameType) -> None:
    """As fastcore does in a constructor: what it is given is kept under the same names."""
    code, local = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in names[1:]:
        setattr(local[names[0]], name, local[name])


def supplied(error: Exception, touched: set[str]) -> bool:
    """
    Whether a name now has a stand-in that is missing only because a program handles that a package is not there:
    `try: import it`, and nothing, or None, is its value; or because nothing of its file sets it to more than None.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    names = trace.tb_frame.f_globals
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        wanted = {str(error.name)}
    elif isinstance(error, (TypeError, AttributeError)) and "'NoneType' object" in str(error):
        wanted = {name for name in trace.tb_frame.f_code.co_names if names.get(name, "") is None}
    else:
        return False
    file = trace.tb_frame.f_code.co_filename
    found = {name: path for name, path in (*_never_set(file), *_handled(file)) if name in wanted}
    names.update({name: Inert(path, touched) for name, path in found.items()})
    return bool(found)


def completed_base(error: Exception, touched: set[str]) -> bool:
    """
    Whether a class that derives from what is not there now has what it was asked for, and nobody of the program gives
    it: that would come from there.
    """
    asked, name = getattr(error, "obj", None), getattr(error, "name", None)
    if not isinstance(error, AttributeError) or not name or name.startswith("__"):
        return False
    kind = asked if isinstance(asked, type) else type(asked)
    base = next((each for each in reversed(kind.__mro__) if each.__module__ == __name__ and each in _bases), None)
    if base is None or hasattr(kind, name):
        return False
    setattr(base, name, Inert(f"{_bases[base]}.{base.__name__.removeprefix('Stood')}.{name}", touched))
    touched.add(_bases[base])
    return True


_bases: dict[type, str] = {}
"""Of the classes that stand in for base classes, the package of each."""


def _never_set(filename: str) -> Iterator[tuple[str, str]]:
    """The names of a file that are None for good: `extension = None`, where what would be built is left out."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name(name)], ast.Constant(None)) if stored.count(name) == 1:
                yield name, name


def _handled(filename: str) -> Iterator[tuple[str, str]]:
    """The names that a file imports where it handles that they are not there, and what they stand for."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return
    for block in ast.walk(tree):
        if isinstance(block, (ast.Try, ast.If)):
            for node in (each for statement in block.body for each in ast.walk(statement)):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    package = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
                    yield from ((a.asname or a.name.partition(".")[0], f"{package}{a.name}") for a in node.names)


def old_name(name: str) -> bool:
    """Whether NumPy has a name again that it had for a type of Python's own, and has not any more."""
    numpy, kind = sys.modules.get("numpy"), _OF_NUMPY.get(name)
    if numpy is None or kind is None:
        return False
    setattr(numpy, name, kind)
    return True


_OF_NUMPY: dict[str, type] = {each.__name__: each for each in (float, int, bool, complex, object, str)}


class _Stood:
    """The base of classes that derive from what is not there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__()


class _StoodSettings(_Stood):
    """The same for settings: they are what they are given, else what their class says, else anything."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.__dict__.update(kwargs)

    def __getattr__(self, name: str) -> Any:
        if any(name in vars(kind).get("__annotations__", {}) for kind in type(self).__mro__):
            return self.__dict__.setdefault(name, Anything())
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class Layer(torch.nn.Module):  # type: ignore[misc]
    """An instance of a class that is not there: a layer that keeps shapes where one is wanted, inert elsewhere."""

    def __init__(self, name: str, touched: set[str], sizes: resized.Sizes | None = None) -> None:
        super().__init__()
        self.__dict__["_sizes"] = sizes
        self.__dict__["_inert"] = Inert(f"{name}()", touched)
        # A program asks for a parameter, to know of a device or a type.
        self._parameters["stood_for"] = torch.nn.Parameter(torch.ones(()))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """As the stand-in of a function; of tensors, the outputs of a network where they are asked for by name."""
        given = _first_tensor((*args, *kwargs.values()))
        if not isinstance(given, torch.Tensor):
            return self._inert(*args, **kwargs)
        self._inert._touch()
        given = resized.resized(given, self.__dict__["_sizes"])
        if Inert.outputs:
            return Outputs(given.float(), of_words=not given.is_floating_point())
        return apart(given, parts_wanted(), tensors(args))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            found = getattr(self.__dict__["_inert"], name)
        sized = any(word in name for word in ("_features", "channels", "size", "dim", "num_", "length"))
        if sized and not name.startswith("get_"):
            return int(found)
        part = Layer(f"{found._name}", found._touched)  # of a network, a part of it
        self.__dict__[name] = part
        return part

    def __getitem__(self, key: object) -> Any:
        return self.__dict__.setdefault(f"[{key!r}]", Layer(f"{self._inert._name}[]", self._inert._touched))

    def __len__(self) -> int:
        return HELD

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter([Layer(f"{self._inert._name}[]", self._inert._touched) for _ in range(taken_apart())])

    def __fspath__(self) -> str:
        return "file"

    def __array__(self, *asked: Any, **how: Any) -> Any:
        return self._inert.__array__(*asked, **how)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def _first_tensor(given: Iterable[object]) -> Any:
    """A copy of the first tensor or array, recorded as one: nothing is shared with what was given."""
    array = getattr(sys.modules.get("numpy"), "ndarray", None)
    for each in given:
        if isinstance(each, torch.Tensor):
            return each.clone()
        if array is not None and isinstance(each, array):
            return each.copy()
        if isinstance(each, (list, tuple)) and (inner := _first_tensor(each)) is not None:
            return inner
    return None


class _StoodModule(torch.nn.Module):  # type: ignore[misc]
    """The same, for what is a Module by its name: `transformers.PreTrainedModel`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        if args:
            self.config = args[0]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__()

    def post_init(self) -> None:
        """As transformers calls it."""


class _Hyperparameters(dict[str, Any]):
    """What `save_hyperparameters` keeps: by key and by name, from what it is given too, and else anything."""

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["given"] = []

    def __missing__(self, key: str) -> Any:
        for each in self.given:
            if (found := getattr(each, str(key), None)) is not None:
                return found
        Anything.asked = True
        self[key] = made = Anything()
        return made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "given":
            self.__dict__[name] = value
        else:
            self[name] = value


class Lightning(torch.nn.Module):  # type: ignore[misc]
    """A `LightningModule` without a trainer: logs nothing, and knows its hyperparameters."""

    current_epoch = global_step = local_rank = global_rank = 0
    automatic_optimization = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.trainer, self.logger = Inert("trainer", set()), Inert("logger", set())

    @property
    def device(self) -> torch.device:
        """There is only this one."""
        return torch.device("cpu")

    @property
    def hparams(self) -> Any:
        """What `save_hyperparameters` kept."""
        return self.__dict__.setdefault("_hparams", _Hyperparameters())

    def save_hyperparameters(self, *names: Any, **kwargs: Any) -> None:
        """Keeps the arguments of the constructor that calls it."""
        local = sys._getframe(1).f_locals
        kept = {name: value for name, value in local.items() if name not in ("self", "__class__")}
        self.hparams.update(
            {**kept, **kwargs, **{n: v for held in kept.values() if type(held) is dict for n, v in held.items()}}
        )
        self.hparams.given += [each for each in names if not isinstance(each, str)]

    def log(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing."""

    log_dict = log

    def manual_backward(self, loss: torch.Tensor) -> None:
        """As Lightning does without a strategy."""
        loss.backward()

    def optimizers(self) -> Any:
        """One for all parameters."""
        return torch.optim.SGD(self.parameters(), lr=0.01)


_bases[Lightning] = "pytorch_lightning"


def _told(function: Callable[..., Any], package: str, touched: set[str]) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        touched.add(package)
        return function(*args, **kwargs)

    return called


_EVERYWHERE: dict[str, Any] = {
    "torch": torch,
    "nn": torch.nn,
    "F": torch.nn.functional,
    "Tensor": torch.Tensor,
    "tensor": torch.tensor,
    "partial": functools.partial,
    "Path": pathlib.Path,
    "math": math,
}
"""What packages around torch hand on to whoever imports all of their names."""


class _Module(types.ModuleType):
    def __init__(self, name: str, touched: set[str]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__all__ = list(_EVERYWHERE)  # what is imported by a star
        self.__dict__.update(_EVERYWHERE)
        self.__dict__["_touched_here"] = touched

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return "999.0"
        if name.startswith("__"):
            raise AttributeError(name)
        if _TYPE_VARIABLE.fullmatch(name):
            return TypeVar(name)
        value: Any = Lightning if name == "LightningModule" else Inert(f"{self.__name__}.{name}", self._touched_here)
        if self.__name__.partition(".")[0] == named_axes.PACKAGE and name in named_axes.KNOWN:
            value = _told(named_axes.KNOWN[name], named_axes.PACKAGE, self._touched_here)
        self.__dict__[name] = value
        return value


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """
    Finds what nobody else has found, where it may.

    Attributes
    ----------
    names
        Packages and modules, by dotted name, that are stood in for.
    touched
        Those of which something was used since it was last cleared.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.touched: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """As `importlib.abc.MetaPathFinder.find_spec`."""
        if any(name == each or name.startswith(f"{each}.") for each in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """A stand-in."""
        return _Module(spec.name, self.touched)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to execute."""
