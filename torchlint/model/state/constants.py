"""
Plain values of Python: constants, and those of which only the type is known.

Knows no tensors.
"""

from __future__ import annotations

from dataclasses import dataclass


# Not frozen, as other records are: a frozen one takes three times as long to make, and these are made at every turn.
@dataclass(slots=True, eq=False)
class Constant:
    """A Python constant."""

    value: object | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


NONE = Constant(None)


@dataclass(slots=True, unsafe_hash=True)
class Scalar:
    """
    A Python value of a known plain type and unknown value: "int", "float", "bool", "str", "number", "device",
    "other".
    """

    kind: str
    cut: str = ""
    """Why it is no tensor any more, where it was made of one: "`.item()` returns a number"."""
    device: str = ""
    """Of a `torch.device`, its type ("cpu"), "" if it is not known."""
