"""
What the functions that create tensors give: shape, dtype class, `requires_grad`, and whose memory.

The dtype classes themselves are described in `dtypes`, and can be had from here too. Never imports torch, never
guesses.

References
----------
https://docs.pytorch.org/docs/stable/torch.html#creation-ops; `torch/csrc/utils/tensor_new.cpp`; checked against running
torch in `tests/knowledge/test_factories.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from torchlint.knowledge.dtypes import (
    DtypeClass,
    conversion,
    data_class,
    data_shape,
    dtype_class,
    holds_tensor,
    is_dtype,
    value_class,
    widest,
)
from torchlint.knowledge.shapes_domain import (
    INTEGER,
    UNKNOWN,
    Shape,
    ShapeUnknownError,
    Sized,
    Unknown,
    size_of,
    sizes_of,
)

__all__ = ["Created", "DtypeClass", "Factory", "conversion", "dtype_class", "find", "is_dtype", "spellings"]

Graph: TypeAlias = Literal["none", "cut", "kept"]

_LEGACY_TYPES: Final[dict[str, DtypeClass | None]] = {
    "Tensor": "float",
    **dict.fromkeys(("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor"), "float"),
    **dict.fromkeys(("IntTensor", "LongTensor", "ShortTensor", "CharTensor"), "int"),
    "BoolTensor": "bool",
    "ByteTensor": None,
}


@dataclass(frozen=True, slots=True)
class Created:
    """
    A tensor as a creation function returns it.

    Attributes
    ----------
    shape
        None where unknown.
    dtype
        Its dtype class; None if unknown. `set_default_dtype` takes only floating point dtypes: the default is "float".
    requires_grad
        Its own flag; None if unknown, or if it is that of the argument on whose graph it is (`graph` is "kept").
    shares_memory_with
        The index of the parameter (`Factory.parameters`; a keyword counts by its place there) whose argument's memory
        and version counter it shares; an array or buffer has no counter. None if it has memory of its own.
    returns_argument
        The index of the parameter whose argument it is itself, as the same object: `torch.as_tensor(t)`.
    returns_out
        It is the tensor given as `out=`.
    certain
        False: it may also be a copy, so `shares_memory_with` and `returns_argument` only say what is possible.
    dtype_of
        The index of the parameter whose argument's dtype it takes, when `dtype` is None because that is not known here.
    graph
        "none": no tensor went in. "cut": a tensor's values go in, its graph does not (`torch.tensor(t)`, `Variable`,
        `Parameter`). "kept": the result is on the argument's graph (`torch.as_tensor(t)`).
    """

    shape: Shape = None
    dtype: DtypeClass | None = None
    requires_grad: bool | None = False
    shares_memory_with: int | None = None
    returns_argument: int | None = None
    returns_out: bool = False
    certain: bool = True
    dtype_of: int | None = None
    graph: Graph = "none"


class _Call:
    """A factory call with its arguments bound: values by name, and where each was given."""

    def __init__(self, names: Sequence[str], variadic: str, positional: Sequence[object],
                 keywords: Mapping[str, object]) -> None:  # fmt: skip
        self.positional = tuple(positional)
        self.keywords = frozenset(keywords)
        self.values: dict[str, object] = dict(keywords)
        self.place: dict[str, int] = {name: names.index(name) for name in keywords if name in names}
        for index, value in enumerate(positional):
            if index < len(names) and names[index] == variadic:
                rest = tuple(positional[index:])
                alone = len(rest) == 1 and not isinstance(rest[0], (int, Unknown))
                self.values[variadic] = rest[0] if alone else rest
                self.place[variadic] = index
                break
            if index < len(names):
                self.values[names[index]] = value
                self.place[names[index]] = index

    def get(self, name: str, default: object = None) -> object:
        return self.values.get(name, default)

    def sizes(self, name: str) -> Shape:
        try:
            return sizes_of(self.values.get(name))
        except ShapeUnknownError:
            return None

    def dtype(self, default: DtypeClass | None) -> DtypeClass | None:
        given = self.values.get("dtype")
        if given is None:
            return default
        return dtype_class(given) if isinstance(given, str) else None

    def requires_grad(self, default: bool = False) -> bool | None:
        given = self.values.get("requires_grad", default)
        return given if isinstance(given, bool) else None


@dataclass(frozen=True, slots=True)
class Factory:
    """
    A creation function.

    Attributes
    ----------
    spelling
        "torch.zeros"; for a method "torch.Tensor.new_zeros", whose first positional argument is the receiver.
    parameters
        Its parameters in order.
    variadic
        The one that all further positional arguments belong to (`torch.rand(2, 3)`), or "".
    """

    spelling: str
    parameters: tuple[str, ...]
    variadic: str
    _create: Callable[[_Call], Created] = field(repr=False)

    def create(self, positional: Sequence[object], keywords: Mapping[str, object]) -> Created:
        """
        What a call with these arguments gives.

        Parameters
        ----------
        positional, keywords
            The arguments: `Sized` for a tensor, Python values, lists and tuples of them, a dtype as a string such as
            "torch.float32", `INTEGER` for an unknown int, `UNKNOWN` for anything else.
        """
        call = _Call(self.parameters, self.variadic, positional, keywords)
        created = self._create(call)
        if call.get("out") is not None:
            return replace(created, returns_out=True, requires_grad=None)
        return created


def find(spelling: str) -> Factory | None:
    """The creation function of this qualified name, or None."""
    return _FACTORIES.get(spelling)


def spellings() -> frozenset[str]:
    """Every spelling that `find` knows."""
    return frozenset(_FACTORIES)


def _sized(default: DtypeClass) -> Callable[[_Call], Created]:
    def create(call: _Call) -> Created:
        return Created(call.sizes("size"), call.dtype(default), call.requires_grad())

    return create


def _full(call: _Call) -> Created:
    default = value_class(call.get("fill_value", UNKNOWN))
    return Created(call.sizes("size"), call.dtype(default), call.requires_grad())


def _like(call: _Call) -> Created:
    given = call.get("self", call.get("input"))
    place = call.place.get("self", call.place.get("input"))
    own = value_class(given)
    explicit = call.get("dtype") is not None
    return Created(
        given.shape if isinstance(given, Sized) else None,
        call.dtype(own),
        call.requires_grad(),
        dtype_of=None if explicit else place,
    )


def _new(call: _Call) -> Created:
    explicit = call.get("dtype") is not None
    return Created(
        call.sizes("size"),
        call.dtype(value_class(call.get("self"))),
        call.requires_grad(),
        dtype_of=None if explicit else call.place.get("self"),
    )


def _tensor(call: _Call) -> Created:
    data = call.get("data", UNKNOWN)
    return Created(
        data_shape(data),
        call.dtype(data_class(data)),
        call.requires_grad(),
        dtype_of=call.place.get("data") if isinstance(data, Sized) and call.get("dtype") is None else None,
        graph="none" if holds_tensor(data) is False else "cut",
    )


def _new_tensor(call: _Call) -> Created:
    data = call.get("data", UNKNOWN)
    created = _new(call)
    return replace(created, shape=data_shape(data), graph="none" if holds_tensor(data) is False else "cut")


def _as_tensor(call: _Call) -> Created:
    """A tensor of the wanted dtype and device comes back as it is; an array is shared; a list is copied."""
    name = "data" if "data" in call.values else "obj"
    data, place = call.get(name, UNKNOWN), call.place.get(name)
    made = Created(data_shape(data), call.dtype(data_class(data)), call.requires_grad())
    if isinstance(data, Sized):
        copied = call.get("copy") is True
        return replace(
            made,
            requires_grad=None,
            shares_memory_with=None if copied else place,
            returns_argument=None if copied else place,
            certain=call.get("dtype") is None and call.get("device") is None,
            dtype_of=place if call.get("dtype") is None else None,
            graph="kept",
        )
    if holds_tensor(data) is False:
        return made
    if isinstance(data, (list, tuple)):
        return replace(made, graph="cut")
    return Created(None, call.dtype(None), None, place, place, certain=False, graph="kept")


def _legacy(default: DtypeClass | None, receiver: bool = False) -> Callable[[_Call], Created]:
    """
    `torch.Tensor(...)` and `x.new(...)`: sizes as ints, or data as a list, or another tensor, of which it is a view.

    A tuple of ints alone is data, but a `torch.Size` is sizes, and both are tuples here: its shape is unknown.
    """

    def create(call: _Call) -> Created:
        given = call.positional[1:] if receiver else call.positional
        kind = value_class(call.positional[0]) if receiver and call.positional else default
        made = Created(None, kind, dtype_of=0 if receiver else None)
        if not given:
            return replace(made, shape=(0,))
        alone = given[0]
        if len(given) > 1 or alone is INTEGER or (isinstance(alone, int) and not isinstance(alone, bool)):
            return replace(made, shape=tuple(size_of(item) for item in given))
        if isinstance(alone, (list, tuple)) and not isinstance(alone, Sized):
            sizes = isinstance(alone, tuple) and all(isinstance(item, (int, Unknown)) for item in alone)
            graph: Graph = "none" if holds_tensor(alone) is False else "cut"
            return replace(made, shape=None if sizes else data_shape(alone), graph=graph)
        shape = alone.shape if isinstance(alone, Sized) else None
        return replace(
            made,
            shape=shape,
            requires_grad=None,
            shares_memory_with=1 if receiver else 0,
            certain=isinstance(alone, Sized),
            graph="kept",
        )

    return create


def _variable(call: _Call) -> Created:
    """A detached alias: `Variable(t)` is a leaf with t's memory and version counter, whatever graph t is on."""
    data, place = call.get("data"), call.place.get("data")
    shape = data.shape if isinstance(data, Sized) else None
    return Created(shape, value_class(data), call.requires_grad(), place, dtype_of=place, graph="cut")


def _parameter(call: _Call) -> Created:
    data, place = call.get("data"), call.place.get("data")
    if data is None:
        return Created((0,), "float", call.requires_grad(default=True))
    shape = data.shape if isinstance(data, Sized) else None
    return Created(shape, value_class(data), call.requires_grad(default=True), place, dtype_of=place, graph="cut")


def _arange(call: _Call) -> Created:
    start, end, step = _range_bounds(call)
    length = None
    if not any(value is None for value in (start, end, step)) and step:
        length = max(math.ceil((end - start) / step), 0)  # type: ignore[operator]
    kinds = [value_class(value) for value in _range_values(call)]
    return Created((length,), call.dtype(widest(kinds)), call.requires_grad())


def _range_values(call: _Call) -> list[object]:
    """Start, end and step as given: one positional argument alone is the end."""
    names = ("start", "end", "step")
    if "end" not in call.values and "start" in call.values:
        return [0, call.values["start"], call.get("step", 1)]
    return [call.get(name, default) for name, default in zip(names, (0, UNKNOWN, 1), strict=True)]


def _range_bounds(call: _Call) -> list[float | None]:
    return [value if isinstance(value, (int, float)) else None for value in _range_values(call)]


def _closed_range(call: _Call) -> Created:
    """`torch.range`, which includes its end."""
    start, end, step = _range_bounds(call)
    length = None
    if start is not None and end is not None and step:
        length = math.floor((end - start) / step) + 1
    return Created((length,), call.dtype("float"), call.requires_grad())


def _spaced(call: _Call) -> Created:
    ends = [value_class(call.get(name, UNKNOWN)) for name in ("start", "end")]
    default: DtypeClass | None = None if None in ends else "complex" if "complex" in ends else "float"
    return Created((size_of(call.get("steps")),), call.dtype(default), call.requires_grad())


def _eye(call: _Call) -> Created:
    rows = size_of(call.get("n"))
    columns = rows if call.get("m") is None else size_of(call.get("m"))
    return Created((rows, columns), call.dtype("float"), call.requires_grad())


def _vector(length: str, default: DtypeClass) -> Callable[[_Call], Created]:
    def create(call: _Call) -> Created:
        return Created((size_of(call.get(length)),), call.dtype(default), call.requires_grad())

    return create


def _randint(call: _Call) -> Created:
    """`randint(high, size)` or `randint(low, high, size)`: told apart by the second argument."""
    positional = list(call.positional)
    if "size" in call.keywords:
        size: object = call.values["size"]
    elif len(positional) > 2:
        size = positional[2]
    elif len(positional) == 2:
        size = positional[1]
    else:
        size = UNKNOWN
    try:
        shape: Shape = sizes_of(size) if isinstance(size, (tuple, list)) else None
    except ShapeUnknownError:
        shape = None
    return Created(shape, call.dtype("int"), call.requires_grad())


def _triangle_indices(sign: int) -> Callable[[_Call], Created]:
    def create(call: _Call) -> Created:
        rows, columns, offset = (
            call.get(name, default) for name, default in (("row", UNKNOWN), ("col", UNKNOWN), ("offset", 0))
        )
        count = None
        if isinstance(rows, int) and isinstance(columns, int) and isinstance(offset, int):
            lower = sum(min(max(row + offset + (1 if sign > 0 else 0), 0), columns) for row in range(rows))
            count = lower if sign > 0 else rows * columns - lower
        return Created((2, count), call.dtype("int"), False)

    return create


def _window(call: _Call) -> Created:
    name = "M" if "M" in call.values else "window_length"
    return Created((size_of(call.get(name)),), call.dtype("float"), call.requires_grad())


def _frequencies(half: bool) -> Callable[[_Call], Created]:
    def create(call: _Call) -> Created:
        n = size_of(call.get("n"))
        return Created((n if n is None or not half else n // 2 + 1,), call.dtype("float"), call.requires_grad())

    return create


def _from_array(call: _Call) -> Created:
    return Created(None, None, False, shares_memory_with=next(iter(call.place.values()), None))


def _from_buffer(call: _Call) -> Created:
    return Created((None,), call.dtype(None), call.requires_grad(), shares_memory_with=call.place.get("buffer"))


def _scalar(call: _Call) -> Created:
    return Created((), call.dtype("float"), call.requires_grad())


def _normal(call: _Call) -> Created:
    """Only `normal(mean, std, size)` creates; with a tensor as mean or std it is an operation like any other."""
    if call.get("size") is None:
        given = [call.get(name) for name in ("mean", "std")]
        operand = next((one for one in given if isinstance(one, Sized)), None)
        both = sum(isinstance(one, Sized) for one in given) == 2
        return Created(None if operand is None or both else operand.shape, None, None, graph="kept")
    return Created(call.sizes("size"), call.dtype("float"), call.requires_grad())


_SIZES: Final = ("torch.rand", "torch.randn", "torch.zeros", "torch.ones", "torch.empty")
_WINDOWS: Final = ("bartlett", "blackman", "hamming", "hann", "kaiser")
_SIGNAL_WINDOWS: Final = (
    *("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming"),
    *("hann", "kaiser", "nuttall"),
)


def _factories() -> dict[str, Factory]:
    table: dict[str, Factory] = {}

    def add(spelling: str, parameters: str, create: Callable[[_Call], Created], variadic: str = "") -> None:
        table[spelling] = Factory(spelling, tuple(parameters.split()), variadic, create)

    for spelling in _SIZES:
        add(spelling, "size", _sized("float"), "size")
    add("torch.empty_strided", "size stride", _sized("float"))
    add("torch.empty_permuted", "size physical_layout", _sized("float"))
    add("torch.full", "size fill_value", _full)
    for name in ("zeros", "ones", "empty", "rand", "randn"):
        add(f"torch.{name}_like", "input", _like)
    add("torch.full_like", "input fill_value", _like)
    add("torch.randint_like", "input low high", _like)
    for name in ("zeros", "ones", "empty"):
        add(f"torch.Tensor.new_{name}", "self size", _new, "size")
    add("torch.Tensor.new_full", "self size fill_value", _new)
    add("torch.Tensor.new_empty_strided", "self size stride", _new)
    add("torch.Tensor.new_tensor", "self data", _new_tensor)
    add("torch.Tensor.new", "self", _legacy(None, receiver=True))
    add("torch.tensor", "data", _tensor)
    add("torch.as_tensor", "data", _as_tensor)
    add("torch.asarray", "obj", _as_tensor)
    add("torch.scalar_tensor", "s", _scalar)
    add("torch.from_numpy", "ndarray", _from_array)
    add("torch.from_dlpack", "ext_tensor", _from_array)
    add("torch.utils.dlpack.from_dlpack", "ext_tensor", _from_array)
    add("torch.frombuffer", "buffer", _from_buffer)
    add("torch.arange", "start end step", _arange)
    add("torch.range", "start end step", _closed_range)
    add("torch.linspace", "start end steps", _spaced)
    add("torch.logspace", "start end steps base", _spaced)
    add("torch.eye", "n m", _eye)
    add("torch.randperm", "n", _vector("n", "int"))
    add("torch.randint", "low high size", _randint)
    add("torch.normal", "mean std size", _normal)
    add("torch.tril_indices", "row col offset", _triangle_indices(1))
    add("torch.triu_indices", "row col offset", _triangle_indices(-1))
    for name in _WINDOWS:
        add(f"torch.{name}_window", "window_length", _window)
    for name in _SIGNAL_WINDOWS:
        add(f"torch.signal.windows.{name}", "M", _window)
    add("torch.fft.fftfreq", "n d", _frequencies(half=False))
    add("torch.fft.rfftfreq", "n d", _frequencies(half=True))
    for name, kind in _LEGACY_TYPES.items():
        add(f"torch.{name}", "", _legacy(kind))
        if name != "Tensor":
            add(f"torch.cuda.{name}", "", _legacy(kind))
    for spelling in ("torch.autograd.Variable", "torch.autograd.variable.Variable"):
        add(spelling, "data requires_grad", _variable)
    for spelling in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        add(spelling, "data requires_grad", _parameter)
    return table


_FACTORIES: Final = _factories()
