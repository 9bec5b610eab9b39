"""
How a creation function is described: its parameters, a call with its arguments bound, and what the call gives.

Only the notation; which function gives what is said elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from torchlint.knowledge.shapes.domain import Shape, ShapeUnknownError, Unknown, sizes_of
from torchlint.knowledge.shapes.dtypes import DtypeClass, dtype_class

Graph: TypeAlias = Literal["none", "cut", "kept"]


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


class Call:
    """A factory call with its arguments bound: values by name, and the place of each one's parameter."""

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
        """An argument as it is."""
        return self.values.get(name, default)

    def sizes(self, name: str) -> Shape:
        """An argument as a list of sizes, None if it cannot be read as one."""
        try:
            return sizes_of(self.values.get(name))
        except ShapeUnknownError:
            return None

    def dtype(self, default: DtypeClass | None) -> DtypeClass | None:
        """The class of the `dtype` argument, `default` if there is none."""
        given = self.values.get("dtype")
        if given is None:
            return default
        return dtype_class(given) if isinstance(given, str) else None

    def requires_grad(self, default: bool = False) -> bool | None:
        """The `requires_grad` argument, None if its value is unknown."""
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
    _create: Callable[[Call], Created] = field(repr=False)

    def create(self, positional: Sequence[object], keywords: Mapping[str, object]) -> Created:
        """
        What a call with these arguments gives.

        Parameters
        ----------
        positional, keywords
            The arguments: `Sized` for a tensor, Python values, lists and tuples of them, a dtype as a string such as
            "torch.float32", `INTEGER` for an unknown int, `UNKNOWN` for anything else.
        """
        call = Call(self.parameters, self.variadic, positional, keywords)
        created = self._create(call)
        if call.get("out") is not None:
            return replace(created, returns_out=True, requires_grad=None)
        return created
