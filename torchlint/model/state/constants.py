"""
Plain values of Python: constants, those of which only the type is known, and what is known by its name alone.

Knows no tensors.
"""

from __future__ import annotations

from typing import Final


# No dataclass, and not frozen: these are made at every turn, and what mypyc compiles makes them without Python.
class Constant:
    """A Python constant."""

    __slots__ = ("value",)

    def __init__(self, value: object | None) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Constant(value={self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


NONE: Final = Constant(None)


class Scalar:
    """
    A Python value of a known plain type and unknown value: "int", "float", "bool", "str", "number", "device",
    "dtype", "slice", "grad_mode" (whether the caller has grad mode on), "other".
    """

    __slots__ = ("cut", "device", "kind", "said_of", "size")

    def __init__(
        self,
        kind: str,
        cut: str = "",
        device: str = "",
        said_of: str = "",
        size: object | None = None,
    ) -> None:
        self.kind = kind
        self.cut = cut
        """Why it is no tensor any more, where it was made of one: "`.item()` returns a number"."""
        self.device = device
        """Of a `torch.device`, its type ("cpu"); "" if it is not known."""
        self.said_of = said_of
        """The argument whose annotation alone says that it is one; "" where the program itself does."""
        self.size = size
        """Of the size of a tensor, which one it is (`Tensor.axes`); None of any other value."""

    def __repr__(self) -> str:
        known = f"kind={self.kind!r}, cut={self.cut!r}, device={self.device!r}"
        return f"Scalar({known}, said_of={self.said_of!r}, size={self.size!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Scalar)
            and self.kind == other.kind
            and self.cut == other.cut
            and self.device == other.device
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.cut, self.device))

    def meet(self, other: Scalar) -> Scalar:
        """What is known of either of two that are equal: a size is that of a tensor only where both are."""
        return self if self.size is other.size else Scalar(self.kind, self.cut, self.device, self.said_of)


class External:
    """Something imported: `torch.nn.functional`, `numpy`, `mypackage.layers.Block`."""

    __slots__ = ("qualified",)

    def __init__(self, qualified: str) -> None:
        self.qualified = qualified

    def __repr__(self) -> str:
        return f"External(qualified={self.qualified!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, External) and self.qualified == other.qualified

    def __hash__(self) -> int:
        return hash(self.qualified)
