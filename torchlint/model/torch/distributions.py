"""
Distributions of `torch.distributions` whose parameters are known tensors: what their methods compute of these.

Repeats what the classes do with the operations they call (`torch/distributions/normal.py`, `laplace.py`,
`categorical.py`), so that what is saved comes from the operation table. A class that is not here, or a parameter that
is no known tensor, is left to what unknown code does. Reports nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from torchlint.model.autograd.tensors import fresh
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Watch
from torchlint.model.state.values import NONE, Constant, Tensor, Unknown, Value
from torchlint.model.torch.operations import apply
from torchlint.model.torch.torch import Torch
from torchlint.syntax import ir

_LOCATED: Final = {"Normal", "Laplace"}
_T = TypeVar("_T")


class _NotFollowedError(Exception):
    """A value or an inner operation that is not known."""


@dataclass(frozen=True, slots=True)
class _Method:
    """One call of a method, or of the class."""

    torch: Torch
    origin: ir.Node
    display: str

    def run(self, name: str, *arguments: Value, **keywords: Value) -> Value:
        result = apply(self.torch, f"torch.Tensor.{name}", arguments, keywords, self.origin, self.display)
        if result is None:
            raise _NotFollowedError
        return result

    def noise(self) -> Tensor:
        return fresh(self.torch.autograd, self.origin, self.display, contiguous=Truth.MAYBE)

    def normal_rsample(self, held: dict[str, Value], _: Value | None) -> Value:
        return self.run("add", held["loc"], self.run("mul", self.noise(), held["scale"]))

    def normal_log_prob(self, held: dict[str, Value], value: Value | None) -> Value:
        loc, scale = held["loc"], held["scale"]
        variance = self.run("pow", scale, Constant(2))
        square = self.run("pow", self.difference(value, loc), Constant(2))
        scaled = self.run("div", self.run("neg", square), self.run("mul", variance, Constant(2)))
        return self.run("sub", self.run("sub", scaled, self.run("log", scale)), Constant(0.9))

    def normal_entropy(self, held: dict[str, Value], _: Value | None) -> Value:
        return self.run("add", self.run("log", held["scale"]), Constant(1.4))

    def laplace_rsample(self, held: dict[str, Value], _: Value | None) -> Value:
        return self.run("sub", held["loc"], self.run("mul", self.run("mul", held["scale"], self.noise()), self.noise()))

    def laplace_log_prob(self, held: dict[str, Value], value: Value | None) -> Value:
        loc, scale = held["loc"], held["scale"]
        logarithm = self.run("log", self.run("mul", scale, Constant(2)))
        distance = self.run("abs", self.difference(value, loc))
        return self.run("sub", self.run("neg", logarithm), self.run("div", distance, scale))

    def laplace_entropy(self, held: dict[str, Value], _: Value | None) -> Value:
        return self.run("add", self.run("log", self.run("mul", held["scale"], Constant(2))), Constant(1))

    def categorical_log_prob(self, held: dict[str, Value], value: Value | None) -> Value:
        if value is None:
            raise _NotFollowedError
        index = fresh(self.torch.autograd, self.origin, self.display, dtype="int64", contiguous=Truth.MAYBE)
        picked = self.run("gather", held["logits"], Constant(-1), index)
        return self.run("squeeze", picked, Constant(-1))

    def difference(self, value: Value | None, loc: Value) -> Value:
        if not isinstance(value, Tensor | Unknown):
            raise _NotFollowedError
        return self.run("sub", value, loc)


_METHODS: Final[dict[tuple[str, str], Callable[[_Method, dict[str, Value], Value | None], Value]]] = {
    ("Normal", "rsample"): _Method.normal_rsample,
    ("Normal", "log_prob"): _Method.normal_log_prob,
    ("Normal", "entropy"): _Method.normal_entropy,
    ("Laplace", "rsample"): _Method.laplace_rsample,
    ("Laplace", "log_prob"): _Method.laplace_log_prob,
    ("Laplace", "entropy"): _Method.laplace_entropy,
    ("Categorical", "log_prob"): _Method.categorical_log_prob,
}


def hold_parameters(torch: Torch, made: Unknown, site: CallSite) -> None:
    """
    Give a new distribution what it holds. Where grad mode is off, a view that it makes of a parameter is not recorded,
    and nothing is known of it.
    """
    if not site.complete or torch.machine.grad_mode is not Truth.YES:
        return
    name = made.made_by.rpartition(".")[2]
    method = _Method(torch, site.node, name)
    if name in _LOCATED:
        loc, scale = site.get(0, "loc"), site.get(1, "scale")
        found = _followed(torch, lambda: _broadcast(method, loc, scale))
        made.attributes |= dict(zip(("loc", "scale"), found or (), strict=False))
    elif name == "Categorical":
        logits = site.get(1, "logits")
        if isinstance(logits, Tensor) and site.get(0, "probs") in (None, NONE):
            normalised = _followed(torch, lambda: method.run("sub", logits, _logsumexp(method, logits)))
            made.attributes |= {"logits": normalised} if normalised is not None else {}
    elif name == "Independent":
        base, dims = site.get(0, "base_distribution"), site.get(1, "reinterpreted_batch_ndims")
        if isinstance(base, Unknown) and base.made_by and dims == Constant(1):
            made.attributes |= {"base_dist": base, "reinterpreted_batch_ndims": dims}


def _broadcast(method: _Method, loc: Value | None, scale: Value | None) -> tuple[Value, Value]:
    """`broadcast_all`: it hands on what has the common size already, and else a view of it."""
    tensors = [each for each in (loc, scale) if isinstance(each, Tensor)]
    numbers = [each for each in (loc, scale) if isinstance(each, Constant) and isinstance(each.value, int | float)]
    if loc is None or scale is None or not tensors or len(tensors) + len(numbers) < 2:
        raise _NotFollowedError
    if not numbers and tensors[0].shape == tensors[1].shape and _is_known(tensors[0]):
        return loc, scale
    first, second = (
        method.run("expand_as", each, method.noise()) if isinstance(each, Tensor) else method.noise()
        for each in (loc, scale)
    )
    return first, second


def _is_known(tensor: Tensor) -> bool:
    return tensor.shape is not None and None not in tensor.shape


def _logsumexp(method: _Method, logits: Tensor) -> Value:
    return method.run("logsumexp", logits, dim=Constant(-1), keepdim=Constant(True))


def distribution_method(torch: Torch, made: Unknown, name: str, site: CallSite) -> Value | None:
    """A method of a distribution; None if nobody knows what it computes."""
    kind = made.made_by.rpartition(".")[2]
    base = made.attributes.get("base_dist")
    if kind == "Independent" and isinstance(base, Unknown):
        result = distribution_method(torch, base, name, site)
        if result is None or name == "rsample":
            return result
        return _followed(torch, lambda: _Method(torch, site.node, name).run("sum", result, Constant(-1)))
    formula = _METHODS.get((kind, name))
    wanted = ("logits",) if kind == "Categorical" else ("loc", "scale")
    held = {each: made.attributes[each] for each in wanted if isinstance(made.attributes.get(each), Tensor)}
    if formula is None or len(held) < len(wanted) or not site.complete:
        return None
    value = site.get(0, "value")
    return _followed(torch, lambda: formula(_Method(torch, site.node, name), held, value))


def _followed(torch: Torch, call: Callable[[], _T]) -> _T | None:
    """What a formula computes, without those who look at operations: the program has written none of them."""
    machine = torch.machine
    watch, machine.watch = machine.watch, Watch(())
    mark = machine.trail.mark()
    try:
        return call()
    except _NotFollowedError:
        machine.trail.undo(mark)
        return None
    finally:
        machine.watch = watch
