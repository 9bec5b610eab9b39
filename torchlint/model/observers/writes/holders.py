"""
Which variables of a frame hold a tensor: an index that is kept up with the trail.

A long script has thousands of names and as many writes in place; to look through the one for each of the other took as
long as to follow the script. Does not judge.
"""

from __future__ import annotations

from torchlint.model.state.trail import Trail
from torchlint.model.state.values import Tensor, Unknown, Value


class Holders:
    """
    The names of the frame that was asked about last, by what they hold.

    Parameters
    ----------
    trail
        Every change of a variable is in it.
    """

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._variables: dict[str, Value] | None = None
        self._seen = 0
        self._newest: object = None
        self._by_value: dict[int, dict[str, None]] = {}
        """By the identity of what they hold. What is gone leaves its names behind; who asks looks at the variable."""
        self._unknown: dict[str, None] = {}
        """The names of values that the program may use as a tensor later."""

    def forget(self) -> None:
        """An entry point is over."""
        self._variables = self._newest = None
        self._by_value.clear()
        self._unknown.clear()

    def of(self, tensor: Tensor, variables: dict[str, Value]) -> list[str]:
        """The names that hold a tensor; and perhaps some that do not, or have."""
        trail = self._trail
        news = trail.since(self._seen, self._newest) if variables is self._variables else None
        if news is None:
            self.forget()
            self._variables = variables
            for name, value in variables.items():
                self._note(name, value)
        else:
            for record, name, _ in news:
                if record is variables and name in variables:
                    self._note(name, variables[name])
        self._seen, self._newest = trail.mark(), trail.newest()
        return [*self._by_value.get(id(tensor), ()), *self._unknown]

    def _note(self, name: str, value: Value) -> None:
        if isinstance(value, Unknown):
            self._unknown[name] = None
        elif isinstance(value, Tensor):
            self._by_value.setdefault(id(value), {})[name] = None
