"""
Other shapes for a tensor, from what torch or an author says of a wrong one.

Runs inside the child. Knows shapes and messages; makes no tensor.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

RANKS = 6
"""No tensor gets more dimensions."""
LARGEST = 2**19
"""Nor more elements."""
Shape = tuple[int, ...]
_Repair = Callable[[Shape, list[list[int]]], list[Shape]]


def asked_for(shape: Shape, message: str) -> Iterator[list[Shape]]:
    """For each of the known refusals that a message holds, the shapes that it asks for."""
    for pattern, repair in _REPAIRS:
        match = re.search(pattern, message)
        if match:
            found = repair(shape, [_sizes(group) for group in match.groups()])
            yield [each for each in found if len(each) <= RANKS and 0 < math.prod(each) <= LARGEST]


def said(message: str) -> Shape:
    """The shape that an author's own refusal asks for: "expected (B, C, 3)", "must be of shape [N, D]"."""
    match = re.search(
        r"(?i)(?:expect\w*|must|should|shape\w*)[^\[(]*[\[(]([A-Za-z*\d]\w*(?:\s*,\s*[A-Za-z*\d][\w*]*)+)[\])]", message
    )
    if match is None:
        return ()
    words = [word.strip() for word in match[1].split(",")]
    return tuple(int(word) if word.isdigit() else 2 if index == 0 else 8 for index, word in enumerate(words))


def _sizes(text: str | None) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text or "")]


def _last(shape: Shape, size: int) -> list[Shape]:
    return [(*shape[:-1], size)] if shape else [(size,)]


def _second(shape: Shape, size: int) -> list[Shape]:
    return [(shape[0], size, *shape[2:])] if len(shape) > 1 else [(2, size)]


def of_rank(shape: Shape, rank: int) -> list[Shape]:
    """Shapes of that many dimensions that have something of another."""
    if rank > RANKS:
        return []
    if len(shape) > rank:
        return [shape[:rank], shape[len(shape) - rank :]]
    padding = (8,) * (rank - len(shape))
    return [(*shape, *padding), (*shape[:-1], *padding, *shape[-1:])]


def _swapped(shape: Shape, have: int, want: int) -> list[Shape]:
    """With another size for one of the dimensions that have a size, the last first, and for all of those."""
    places = [i for i, size in enumerate(shape) if size == have]
    each = [(*shape[:i], want, *shape[i + 1 :]) for i in reversed(places)]
    return [*each, tuple(want if size == have else size for size in shape)] if len(places) > 1 else each


def _scaled(shape: Shape, index: int, have: int, want: int) -> list[Shape]:
    """Of one dimension, what makes of a size that follows from it another: by a factor, or by what is put beside."""
    if not -len(shape) <= index < len(shape):
        return []
    size = shape[index]
    found = [size * want // have] if have and (size * want) % have == 0 else []
    found += [size + want - have]
    before, after = shape[:index], shape[index:][1:]
    return [(*before, new, *after) for new in dict.fromkeys(found) if 0 < new != size]


def _multiplied(shape: Shape, groups: list[list[int]]) -> list[Shape]:
    (_, have), (want, columns) = groups
    found = _last(shape, want) if shape and shape[-1] == have else []
    if shape[-2:] == (want, columns):  # the input is the right factor
        found.append((*shape[:-2], have, columns))
    if found:
        return found
    if len(shape) >= 3 and shape[-1] == shape[-2] and want % max(1, have // (shape[-1] * shape[-2])) == 0:
        return [(*shape[:-2], size, size) for size in (8, 12, 14, 20, 24, 28, 32, 64, 96, 112, 224)]
    flattened = _scaled(shape, 1, have, want)[:1] if len(shape) >= 3 and have != shape[-1] else []
    return [*(_swapped(shape, have, want) or _last(shape, want)), *_scaled(shape, -1, have, want), *flattened]


def _unpacked(shape: Shape, groups: list[list[int]]) -> list[Shape]:
    """Where a tensor is taken apart: by its dimensions, or along one of them."""
    (want,) = groups[0]
    have = groups[1][0] if groups[1] else 0
    deeper = of_rank(shape, len(shape) + want - have) if have else []  # of a part of it
    along = _swapped(shape, have, want) if have else [(want, *shape[1:]), (*shape[:-1], want)]
    return [*of_rank(shape, want), *deeper, *along]


def _as_deep(shape: Shape, groups: list[list[int]]) -> list[Shape]:
    """Where several have to have as many dimensions: the number of one of them, or the difference more, or less."""
    one, other = groups[0][0], groups[1][0]
    ranks = dict.fromkeys((one, other, len(shape) + other - one, len(shape) + one - other))
    return [each for rank in ranks if rank > 0 and rank != len(shape) for each in of_rank(shape, rank)]


def _larger(shape: Shape, factor: int, least: int) -> Shape:
    return (*shape[:2], *(max(factor * size, least) for size in shape[2:]))


def _viewed(shape: Shape, groups: list[list[int]]) -> list[Shape]:
    """Where a tensor is taken for another shape: that, what it holds in one dimension, and other images."""
    wanted, (have,) = groups  # a -1 is a 1 here, as its sign is left out
    held = math.prod(wanted)
    if not held or not have:
        return []
    found = [tuple(wanted), (2, held), (held,)]
    if len(shape) > 2 and shape[-1] == shape[-2]:
        found += [(*shape[:-2], size, size) for size in (32, 64, 28, 224, 8, 128) if size != shape[-1]]
    along = _scaled(shape, 1, have, held) if len(shape) == SEQUENCES else []
    return [*found, *_scaled(shape, -1, have, held), *along]


SEQUENCES = 3
"""Tensors of so many dimensions have in the second one what images have in two."""


_REPAIRS: tuple[tuple[str, _Repair], ...] = (
    (r"shapes cannot be multiplied \((\d+x\d+) and (\d+x\d+)\)", _multiplied),
    (r"size mismatch, got input \(\d+\), mat \(\d+x(\d+)\), vec \((\d+)\)", lambda s, g: _last(s, g[1][0])),
    (
        r"to have (\d+) channels, but got (\d+) channels",
        lambda s, g: [*_second(s, g[0][0]), *_scaled(s, 1, g[1][0], g[0][0])],
    ),
    (r"running_mean should contain \d+ elements not (\d+)", lambda s, g: _second(s, g[0][0])),
    (r"has \d+ channels?,? but .*?(\d+)", lambda s, g: _second(s, g[0][0])),
    (r"or (\d)D \(batched\) input", lambda s, g: of_rank(s, g[0][0])),
    (r"[Ee]xpected (\d)D or \d+D input", lambda s, g: of_rank(s, g[0][0])),
    (r"[Ee]xpected (\d)D input", lambda s, g: of_rank(s, g[0][0])),
    (r"shape \[\*, ([\d, ]+)\]", lambda s, g: [(2, *g[0]), (2, 5, *g[0])]),
    (r"Expected (\d+), got \d+", lambda s, g: _last(s, g[0][0])),
    (r"Target sizes: (\[[\d, ]*\])", lambda s, g: [tuple(g[0])]),
    (
        r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
        lambda s, g: _swapped(s, g[0][0], g[1][0]) + _swapped(s, g[1][0], g[0][0]),
    ),
    (r"len\(dims\) = (\d+)", lambda s, g: [*of_rank(s, g[0][0]), *of_rank(s, g[0][0] + 1)]),
    (r"same number of dimensions: got (\d+) and (\d+)", _as_deep),
    (
        r"same number of dimensions as (?:the )?\w+ tensor|same dimensionality",
        lambda s, g: [*of_rank(s, len(s) + 1), *of_rank(s, max(1, len(s) - 1))],
    ),
    (
        r"must be (?:a |an )?(\d)D (?:tensor|matrix|vector)|(\d)-dimensional tensor",
        lambda s, g: of_rank(s, (g[0] or g[1])[0]),
    ),
    (r"to be: \[(\d+(?:, \d+)*)\] but got: \[\d", lambda s, g: [(*g[0], *s[len(g[0]) :])]),
    (r"Index is supposed to be a vector|only supports? 1D|must be 1-?D\b", lambda s, g: [s[:1]]),
    (r"with \d+ elements cannot be converted to Scalar", lambda s, g: [s[:-1], s[:1]]),
    (r"repeat dims can not be smaller", lambda s, g: of_rank(s, max(1, len(s) - 1))),
    (
        r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
        lambda s, g: _swapped(s, g[0][0], g[1][0]) + _swapped(s, g[1][0], g[0][0]),
    ),
    (r"(?i)\bis not (?:an? )?(\d)-?D\b", lambda s, g: of_rank(s, g[0][0])),
    (r"subscripts in the equation \((\d+)\)", lambda s, g: of_rank(s, g[0][0])),
    (r"number of sizes provided \((\d+)\)", lambda s, g: of_rank(s, g[0][0])),
    (r"(?i)(?:must|should|expect\w*)[^.]*?\b(\d)-?D\b", lambda s, g: of_rank(s, g[0][0])),
    (r"unpack \(expected (\d+)(?:, got (\d+))?", _unpacked),
    (r"Dimension out of range.*\[-(\d)", lambda s, g: of_rank(s, g[0][0] + 1)),
    (
        r"too many indices for tensor of dimension (\d)",
        lambda s, g: [
            *of_rank(s, g[0][0] + 1),
            *of_rank(s, len(s) + 1),
        ],  # or it is gone through, and parts are indexed
    ),
    (r"more than 1 value per channel", lambda s, g: [(4, *s[1:])]),
    (r"Expected \d+D \(unbatched\) or (\d)D", lambda s, g: of_rank(s, g[0][0])),
    (r"1D (?:CPU )?int64", lambda s, g: [s[:1]]),
    (r"[Ss]izes? of tensors must match.* size (\d+) but got size (\d+)", lambda s, g: _swapped(s, g[1][0], g[0][0])),
    (r"Kernel size: \((\d+)[^)]*\)", lambda s, g: [_larger(s, 2, 2 * g[0][0]), _larger(s, 4, 0), _larger(s, 8, 0)]),
    (r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)", _viewed),
    (
        r"Output size is too small|Padding size should be less|should be (?:greater|bigger|larger)",
        lambda s, g: [_larger(s, factor, 0) for factor in (2, 4, 8)],
    ),
    (r"Only 3D, 4D and 5D input Tensors supported \(got (\d)D", lambda s, g: of_rank(s, 4 if g[0][0] < 3 else 5)),
    (r"expected (\d+) dims", lambda s, g: of_rank(s, g[0][0])),
    (r"divide axis of length (\d+) in chunks of (\d+)", lambda s, g: _swapped(s, g[0][0], g[1][0])),
    (r"index (\d+) is out of bounds for dimension \d+ with size (\d+)", lambda s, g: _swapped(s, g[1][0], g[0][0] + 1)),
    (r"index (\d+) is out of bounds", lambda s, g: [tuple(max(n, g[0][0] + 1) for n in s)]),
    (r"only one element tensors can be converted|tensors? of a single element", lambda s, g: [(), s[:-1], s[:1]]),
)
