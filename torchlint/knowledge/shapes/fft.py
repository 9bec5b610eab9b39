"""
Shapes of Fourier transforms, short-time ones included.

References
----------
https://docs.pytorch.org/docs/stable/fft.html, https://docs.pytorch.org/docs/stable/generated/torch.stft.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from torchlint.knowledge.shapes.domain import (
    Arguments,
    Description,
    Result,
    ShapeUnknownError,
    Sized,
    Sizes,
    Transfer,
    Unknown,
    size_of,
    sizes_of,
    wrap,
)
from torchlint.knowledge.shapes.parts import with_size

DESCRIBED: Final = Description()

_Length: TypeAlias = "Callable[[int | None, int | None], int | None]"


def _full(size: int | None, wanted: int | None) -> int | None:
    return size if wanted is None else wanted


def _half(size: int | None, wanted: int | None) -> int | None:
    """A real signal's spectrum is symmetric: half of it, and the middle, is given."""
    length = _full(size, wanted)
    return None if length is None else length // 2 + 1


def _doubled(size: int | None, wanted: int | None) -> int | None:
    return wanted if wanted is not None else None if size is None else 2 * (size - 1)


def _along_one(length: _Length) -> Transfer:
    def transfer(a: Arguments) -> Result:
        shape = a.shape()
        dim = wrap(a.integer("dim", -1), len(shape))
        if a.given("n") and size_of(a.get("n")) is None:
            return with_size(shape, dim, None)
        return with_size(shape, dim, length(shape[dim], size_of(a.get("n"))))

    return transfer


def _along_many(length: _Length, default: tuple[int, ...] | None) -> Transfer:
    """All of the dimensions are transformed in full, but the last one by `length`."""

    def transfer(a: Arguments) -> Result:
        shape = a.shape()
        sizes = _wanted(a)
        dims = a.get("dim", default)
        if isinstance(dims, int):
            dims = (dims,)
        if dims is None:
            count = len(shape) if sizes is None else len(sizes)
            dims = tuple(range(len(shape) - count, len(shape)))
        if not isinstance(dims, (tuple, list)) or not all(isinstance(one, int) for one in dims):
            raise ShapeUnknownError
        wanted = sizes if sizes is not None else (-1,) * len(dims)
        for at, (dim, size) in enumerate(zip(dims, wanted, strict=True)):
            axis = wrap(dim, len(shape))
            rule = length if at == len(dims) - 1 else _full
            shape = with_size(shape, axis, None if size is None else rule(shape[axis], None if size == -1 else size))
        return shape

    return transfer


def _wanted(a: Arguments) -> Sizes | None:
    return sizes_of(a.get("s")) if a.given("s") else None


for _prefix, _rule in (("", _full), ("i", _full), ("r", _half), ("ih", _half), ("ir", _doubled), ("h", _doubled)):
    DESCRIBED.of(f"fft_{_prefix}fft")(_along_one(_rule))
    DESCRIBED.of(f"fft_{_prefix}fft2")(_along_many(_rule, (-2, -1)))
    DESCRIBED.of(f"fft_{_prefix}fftn")(_along_many(_rule, None))


@DESCRIBED.of("stft")
def _stft(a: Arguments) -> Result:
    """(batch, frequencies, frames); the real and imaginary part are a last dimension unless it is complex."""
    shape, n_fft = a.shape(), a.integer("n_fft")
    hop = a.integer("hop_length") if a.given("hop_length") else n_fft // 4
    length = shape[-1]
    if length is None:
        frames = None
    else:
        frames = 1 + (length + (2 * (n_fft // 2) if a.flag("center", True) else 0) - n_fft) // hop
    result = (*shape[:-1], _frequencies(a, n_fft), frames)
    return result if a.flag("return_complex") else (*result, 2)


def _frequencies(a: Arguments, n_fft: int) -> int | None:
    """Half of them if asked to, and by default for a real signal seen through a real window."""
    if a.given("onesided"):
        return n_fft // 2 + 1 if a.flag("onesided") else n_fft
    kinds = [one.dtype for name in ("self", "window") if isinstance(one := a.get(name), Sized)]
    if "complex" in kinds:
        return n_fft
    return n_fft // 2 + 1 if None not in kinds and not isinstance(a.get("window"), Unknown) else None
