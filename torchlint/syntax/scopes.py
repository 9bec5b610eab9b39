"""
The scope that a lowering walks in: which names get bound, which are declared `global` or `nonlocal`, whether it yields.

Knows no tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torchlint.syntax import ir


class ScopedLowering:
    """The state is that of the innermost function, class or file."""

    __slots__ = ("bound", "declared", "yields")

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.declared: set[str] = set()
        self.yields = False

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A new scope, and back to the one around it."""
        outer = self.bound, self.declared, self.yields
        self.bound, self.declared, self.yields = set(), set(), False
        try:
            yield
        finally:
            self.bound, self.declared, self.yields = outer

    def bind(self, target: ir.Expression) -> None:
        """The names that an assignment to this target binds."""
        if isinstance(target, ir.Name):
            self.bound.add(target.id)
        elif isinstance(target, ir.Sequence):
            for element in target.elements:
                self.bind(element)
        elif isinstance(target, ir.Starred):
            self.bind(target.value)
