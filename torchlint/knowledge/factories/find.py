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

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from torchlint.knowledge import names
from torchlint.knowledge.factories import sequences
from torchlint.knowledge.factories.call import Call, Created, Factory, Graph
from torchlint.knowledge.shapes.domain import INTEGER, UNKNOWN, Sized, Unknown, size_of
from torchlint.knowledge.shapes.dtypes import (
    DtypeClass,
    conversion,
    data_class,
    data_shape,
    dtype_class,
    holds_tensor,
    is_dtype,
    value_class,
)

__all__ = ["Created", "DtypeClass", "Factory", "conversion", "dtype_class", "find", "is_dtype", "spellings"]

_LEGACY_TYPES: Final[dict[str, DtypeClass | None]] = {
    "Tensor": "float",
    **dict.fromkeys(("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor"), "float"),
    **dict.fromkeys(("IntTensor", "LongTensor", "ShortTensor", "CharTensor"), "int"),
    "BoolTensor": "bool",
    "ByteTensor": None,
}


def find(spelling: str) -> Factory | None:
    """The creation function of this qualified name, or None."""
    return _FACTORIES.get(spelling)


def spellings() -> frozenset[str]:
    """Every spelling that `find` knows."""
    return frozenset(_FACTORIES)


def _sized(default: DtypeClass) -> Callable[[Call], Created]:
    def create(call: Call) -> Created:
        return Created(call.sizes("size"), call.dtype(default), call.requires_grad())

    return create


def _full(call: Call) -> Created:
    default = value_class(call.get("fill_value", UNKNOWN))
    return Created(call.sizes("size"), call.dtype(default), call.requires_grad())


def _like(call: Call) -> Created:
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


def _new(call: Call) -> Created:
    explicit = call.get("dtype") is not None
    return Created(
        call.sizes("size"),
        call.dtype(value_class(call.get("self"))),
        call.requires_grad(),
        dtype_of=None if explicit else call.place.get("self"),
    )


def _tensor(call: Call) -> Created:
    data = call.get("data", UNKNOWN)
    return Created(
        data_shape(data),
        call.dtype(data_class(data)),
        call.requires_grad(),
        dtype_of=call.place.get("data") if isinstance(data, Sized) and call.get("dtype") is None else None,
        graph="none" if holds_tensor(data) is False else "cut",
    )


def _new_tensor(call: Call) -> Created:
    data = call.get("data", UNKNOWN)
    created = _new(call)
    return replace(created, shape=data_shape(data), graph="none" if holds_tensor(data) is False else "cut")


def _as_tensor(call: Call) -> Created:
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


def _legacy(default: DtypeClass | None, receiver: bool = False) -> Callable[[Call], Created]:
    """
    `torch.Tensor(...)` and `x.new(...)`: sizes as ints, or data as a list, or another tensor, of which it is a view.

    A tuple of ints alone is data, but a `torch.Size` is sizes, and both are tuples here: its shape is unknown.
    """

    def create(call: Call) -> Created:
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


def _variable(call: Call) -> Created:
    """A detached alias: `Variable(t)` is a leaf with t's memory and version counter, whatever graph t is on."""
    data, place = call.get("data"), call.place.get("data")
    shape = data.shape if isinstance(data, Sized) else None
    return Created(shape, value_class(data), call.requires_grad(), place, dtype_of=place, graph="cut")


def _parameter(call: Call) -> Created:
    data, place = call.get("data"), call.place.get("data")
    if data is None:
        return Created((0,), "float", call.requires_grad(default=True))
    shape = data.shape if isinstance(data, Sized) else None
    return Created(shape, value_class(data), call.requires_grad(default=True), place, dtype_of=place, graph="cut")


def _from_array(call: Call) -> Created:
    return Created(None, None, False, shares_memory_with=next(iter(call.place.values()), None))


def _from_buffer(call: Call) -> Created:
    return Created((None,), call.dtype(None), call.requires_grad(), shares_memory_with=call.place.get("buffer"))


def _scalar(call: Call) -> Created:
    return Created((), call.dtype("float"), call.requires_grad())


def _normal(call: Call) -> Created:
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

    def add(spelling: str, parameters: str, create: Callable[[Call], Created], variadic: str = "") -> None:
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
    add("torch.arange", "start end step", sequences.arange)
    add("torch.range", "start end step", sequences.closed_range)
    add("torch.linspace", "start end steps", sequences.spaced)
    add("torch.logspace", "start end steps base", sequences.spaced)
    add("torch.eye", "n m", sequences.eye)
    add("torch.randperm", "n", sequences.vector("n", "int"))
    add("torch.randint", "low high size", sequences.randint)
    add("torch.normal", "mean std size", _normal)
    add("torch.tril_indices", "row col offset", sequences.triangle_indices(1))
    add("torch.triu_indices", "row col offset", sequences.triangle_indices(-1))
    for name in _WINDOWS:
        add(f"torch.{name}_window", "window_length", sequences.window)
    for name in _SIGNAL_WINDOWS:
        add(f"torch.signal.windows.{name}", "M", sequences.window)
    add("torch.fft.fftfreq", "n d", sequences.frequencies(half=False))
    add("torch.fft.rfftfreq", "n d", sequences.frequencies(half=True))
    for name, kind in _LEGACY_TYPES.items():
        add(f"torch.{name}", "", _legacy(kind))
        if name != "Tensor":
            add(f"torch.cuda.{name}", "", _legacy(kind))
    for spelling in names.VARIABLE:
        add(spelling, "data requires_grad", _variable)
    for spelling in names.PARAMETER:
        add(spelling, "data requires_grad", _parameter)
    return table


_FACTORIES: Final = _factories()
