"""
A call with its arguments evaluated, as every transfer function of a call takes it.

Data alone: evaluates nothing.
"""

from __future__ import annotations

from torchlint.model.state.values import Constant, Scalar, Sequence, Tensor, Unknown, Value, reachable_tensors
from torchlint.syntax import ir


class CallSite:
    """
    A call with its arguments evaluated. `complete` is False when `*args` or `**kwargs` of unknown content are passed;
    `tail` is the last of `*args` whose number is unknown.
    """

    __slots__ = ("arguments", "complete", "keywords", "node", "positional", "tail")

    def __init__(
        self,
        node: ir.Call,
        positional: list[Value],
        keywords: dict[str, Value],
        arguments: dict[int | str, ir.Argument] | None = None,
        complete: bool = True,
    ) -> None:
        self.node = node
        self.positional = positional
        self.keywords = keywords
        self.arguments: dict[int | str, ir.Argument] = {} if arguments is None else arguments
        self.complete = complete
        self.tail: Value | None = None

    def get(self, position: int, keyword: str) -> Value | None:
        """The argument at a position or under a keyword."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[position] if 0 <= position < len(self.positional) else None

    def placed(self) -> list[Value]:
        """The positional arguments whose place is known: those before a `*args` of which nobody knows how many."""
        starred = [number for number, argument in enumerate(self.node.arguments) if argument.star == "*"]
        return self.positional if self.complete or not starred else self.positional[: starred[0]]

    def sized(self) -> list[Value]:
        """
        The positional arguments of what takes sizes one by one (`x.view(*lead, 3)`): behind an unknown number of them
        nobody knows which is which, so all are one unknown value, or one list of sizes where one of them is a size.
        """
        starred = not self.complete and any(argument.star == "*" for argument in self.node.arguments)
        if not starred or any(isinstance(value, Tensor) for value in self.positional):
            return self.positional
        if any(isinstance(each, Constant) and type(each.value) is int for each in self.positional):
            return [Sequence("tuple", None, Scalar("int"))]
        return [Unknown([tensor for value in self.positional for tensor in reachable_tensors(value)])]

    def argument(self, position: int, keyword: str) -> ir.Argument | None:
        """The written argument."""
        return self.arguments.get(keyword) or self.arguments.get(position)

    def values(self) -> list[Value]:
        """All of them."""
        return [*self.positional, *self.keywords.values()]
