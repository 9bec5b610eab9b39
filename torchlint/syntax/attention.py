"""
Whether a function does nothing with a softmax but weigh with it what it multiplies: attention.

Notes what is bound while a function is read (`reading`); follows no values.
"""

from __future__ import annotations

from torchlint.syntax import ir
from torchlint.syntax.spelling import is_softmax, root_name

_ACTIVATING = ("softm", "Softm", "sigm", "Sigm", "expit")
"""Parts of the names of activations that a loss may be given in vain."""


class Attention:
    """
    What becomes of softmaxes in a function.

    Attributes
    ----------
    weights
        The names they are bound to.
    thinned
        What a dropout is bound to, and the name it was given.
    factors
        The names of factors of products.
    """

    __slots__ = ("factors", "thinned", "weights")

    def __init__(self) -> None:
        self.factors: set[str] = set()
        self.weights: list[str] = []
        self.thinned: dict[str, str] = {}

    def bind(self, name: str, call: ir.Call, made_by: str) -> None:
        """A name is bound to the result of a call of what is called `made_by`."""
        if "dropout" in made_by and call.arguments:
            self.thinned[name] = root_name(call.arguments[0].value)
        elif is_softmax(call):
            self.weights.append(name)

    def only_weighs(self, words: list[str]) -> bool:
        """
        Whether each softmax is a factor of a product, perhaps after a dropout, and there is no other activation among
        the names and attributes of the function, each as often as it is written.
        """
        if not self.weights or words.count("softmax") > len(self.weights):
            return False
        weighing = self.factors.union(each for thin, each in self.thinned.items() if thin in self.factors)
        if not weighing.issuperset(self.weights):
            return False
        return not any(part in word for word in set(words) - {"softmax"} for part in _ACTIVATING)
