"""
The classes of `torch.nn`: constructor, parameters and buffers, and forward as functional calls.

The interface of the module knowledge. Never imports torch, never runs anything, and never guesses: a parameter that
may or may not exist is not reported, a forward that is not known is None.

References
----------
https://docs.pytorch.org/docs/stable/nn.html, `torch/nn/modules/*.py`; held against running torch in
`tests/knowledge/test_modules.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from torchlint.knowledge.modules import forward, opaque, tensors
from torchlint.knowledge.modules.call import Application, Input, Own, Result, Value
from torchlint.knowledge.modules.opaque import Opaque
from torchlint.knowledge.modules.table import entries
from torchlint.knowledge.shapes.domain import UNKNOWN, Shape

__all__ = [
    "Application",
    "Argument",
    "Input",
    "ModuleKind",
    "Opaque",
    "Own",
    "Result",
    "Value",
    "find",
    "names",
]

Container: TypeAlias = Literal["sequential", "list", "dict", "parameters", ""]

_CONTAINERS: Final[dict[str, Container]] = {
    "Sequential": "sequential",
    "ModuleList": "list",
    "ModuleDict": "dict",
    "ParameterList": "parameters",
    "ParameterDict": "parameters",
}
_OF_MODULES: Final = frozenset({"Sequential", "ModuleList", "ModuleDict", "TransformerEncoder", "TransformerDecoder"})
_COPIES: Final = {"TransformerEncoder": "encoder_layer", "TransformerDecoder": "decoder_layer"}
_OF_PARAMETERS: Final = frozenset({"ParameterList", "ParameterDict"})


@dataclass(frozen=True, slots=True)
class Argument:
    """
    A parameter of a constructor.

    Attributes
    ----------
    name
        Its name.
    default
        Its default; UNKNOWN if it has none, or one that is no plain value.
    kind
        "positional", "keyword-only", "*" or "**".
    required
        Whether it has no default.
    """

    name: str
    default: object | None = UNKNOWN
    kind: Literal["positional", "keyword-only", "*", "**"] = "positional"
    required: bool = False


@dataclass(frozen=True, slots=True)
class ModuleKind:
    """
    A class of `torch.nn`.

    Attributes
    ----------
    name
        The class's own name.
    signature
        The constructor's parameters.
    inputs
        The names of forward's parameters; `Input(i)` is the i-th.
    container
        "sequential", "list", "dict" (of modules), "parameters" (`ParameterList`, `ParameterDict`), or "".
    trainable
        Whether it may have parameters: of its own, or in modules it is built from.
    copies
        The constructor's parameter of which it holds copies, as many as `num_layers` says, or "".
    """

    name: str
    signature: tuple[Argument, ...]
    inputs: tuple[str, ...]
    container: Container
    trainable: bool
    copies: str = ""

    @property
    def keywords(self) -> frozenset[str]:
        """The names of all arguments that the constructor takes; empty if it takes any."""
        if any(argument.kind == "**" for argument in self.signature):
            return frozenset()
        return frozenset(argument.name for argument in self.signature)

    def bind(
        self, positional: Sequence[object], keywords: Mapping[str, object], *, complete: bool = True
    ) -> dict[str, object]:
        """
        The constructor's arguments by name, with the defaults of those not given. A required one that is missing is
        UNKNOWN; so are all that are missing where there are more arguments than these (not `complete`). Surplus ones,
        which torch would refuse, are dropped.
        """
        config: dict[str, object] = {}
        open_slots = [one for one in self.signature if one.kind == "positional"]
        for argument, value in zip(open_slots, positional, strict=False):
            config[argument.name] = value
        for argument in self.signature:
            if argument.kind == "*":
                config[argument.name] = tuple(positional[len(open_slots) :])
            elif argument.kind == "**":
                config[argument.name] = dict(keywords)
            elif argument.name in keywords:
                config[argument.name] = keywords[argument.name]
            elif argument.name not in config:
                config[argument.name] = argument.default if complete else UNKNOWN
        return config

    def parameters(self, config: Mapping[str, object]) -> tuple[tuple[str, Shape], ...]:
        """
        The parameters that such a module surely has, with their shapes, in torch's order; those of modules that torch
        builds inside have dots in their names. Modules that are passed in are the caller's to know.
        """
        return tuple((one.name, one.shape) for one in self._own(config) if one.registered and not one.buffer)

    def buffers(self, config: Mapping[str, object]) -> tuple[tuple[str, Shape], ...]:
        """The buffers that such a module surely has, with their shapes."""
        return tuple((one.name, one.shape) for one in self._own(config) if one.registered and one.buffer)

    def uncertain(self, config: Mapping[str, object]) -> frozenset[str]:
        """The parameters and buffers that it may or may not have (`Linear(2, 3, bias=flag)`)."""
        return frozenset(one.name for one in self._own(config) if one.registered is None)

    def absent(self, config: Mapping[str, object]) -> frozenset[str]:
        """The parameters and buffers that it surely lacks: what is registered as None (`Linear(2, 3, bias=False)`)."""
        return frozenset(one.name for one in self._own(config) if one.registered is False)

    def may_be_trained(self, config: Mapping[str, object]) -> bool:
        """Whether it may have parameters though it surely has none."""
        if not self.trainable or self.container:
            return False
        registered = [one.registered for one in self._own(config) if not one.buffer]
        return not registered or (True not in registered and None in registered)

    def inplace(self, config: Mapping[str, object]) -> bool | None:
        """Whether forward writes into its input, None if that is unknown."""
        if self.name in ("AlphaDropout", "FeatureAlphaDropout"):  # torch takes the argument and ignores it
            return False
        value = config.get("inplace", False)
        return bool(value) if isinstance(value, (bool, int)) else None

    def forward(
        self, config: Mapping[str, object], training: bool | None, input_shapes: Sequence[Shape] = ()
    ) -> tuple[Application, ...] | None:
        """
        The forward as calls, in order; the last one's result is the module's. Empty: it returns its input itself.

        Parameters
        ----------
        config
            The constructor's arguments, from `bind`.
        training
            The mode, None if unknown.
        input_shapes
            The shapes of forward's arguments, as far as known: `InstanceNorm*` treats an input without a batch as a
            batch of one. Left out, or unknown, an input is taken to have a batch.

        Returns
        -------
        tuple or None
            None if it cannot be said as calls: see `opaque`. Of a container too: its modules are the caller's to know.
        """
        own = {one.name: one.registered for one in self._own(config)}
        return forward.forward(self.name, entries()[self.name], config, own, training, input_shapes)

    def opaque(self, config: Mapping[str, object]) -> Opaque | None:
        """What is known of a forward that is not told as calls; None if `forward` tells it, and for containers."""
        return opaque.opaque(self.name, config)

    def output_shape(self, config: Mapping[str, object], input_shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        """For an opaque forward the shapes of the tensors in `structure`, left to right; `(None,)` if unknown."""
        return opaque.output_shape(self.name, config, input_shapes)

    def saved_weights(
        self, config: Mapping[str, object], input_shapes: Sequence[Shape]
    ) -> Mapping[str, tuple[int, ...]]:
        """For an opaque forward the weights that it saves, by name: see `opaque.saved_weights`."""
        return opaque.saved_weights(self.name, config, input_shapes)

    def _own(self, config: Mapping[str, object]) -> tensors.Own:
        describe = tensors.OWN_TENSORS.get(self.name)
        return () if describe is None else describe(config)


_DERIVED = {
    "NLLLoss2d": "NLLLoss", "ReLU6": "Hardtanh", "UpsamplingBilinear2d": "Upsample", "UpsamplingNearest2d": "Upsample",
    "ZeroPad1d": "ConstantPad1d", "ZeroPad2d": "ConstantPad2d", "ZeroPad3d": "ConstantPad3d",
}  # fmt: skip
"""The public classes of `torch.nn` that derive from another public one, beside those that begin with "Lazy"."""


def derives(name: str, base: str) -> bool | None:
    """Whether a class of `torch.nn` is, or derives from, another of which the table knows; None if that isn't known."""
    if name == base or _DERIVED.get(name) == base:
        return True
    return None if name.startswith("Lazy") or name not in entries() or base not in entries() else False


@cache
def find(qualified: str) -> ModuleKind | None:
    """
    The class of this qualified name, or None.

    Known are `torch.nn.Linear`, `torch.nn.modules.Linear` and the defining module's `torch.nn.modules.linear.Linear`.
    """
    parts = qualified.split(".")
    within = parts[2:3] == ["modules"] and len(parts) in (4, 5)
    if parts[:2] != ["torch", "nn"] or not (len(parts) == 3 or within):
        return None
    name = parts[-1]
    entry = entries().get(name)
    if entry is None:
        return None
    inputs = tuple(one.strip() for one in entry.inputs.split(",") if one)
    container = _CONTAINERS.get(name, "")
    return ModuleKind(name, _signature(entry.signature), inputs, container, _is_trainable(name), _COPIES.get(name, ""))


def names() -> frozenset[str]:
    """The names of all described classes."""
    return frozenset(entries())


@cache
def trainable_names() -> frozenset[str]:
    """The names of the described classes whose objects have parameters, or may."""
    return frozenset(filter(_is_trainable, entries()))


def _is_trainable(name: str) -> bool:
    return name in _OF_MODULES or name in _OF_PARAMETERS or _has_parameters(name)


def _has_parameters(name: str) -> bool:
    """By what it would register if every argument were unknown: a loss registers buffers only."""
    if name in ("RNN", "GRU", "LSTM", "Transformer", "AdaptiveLogSoftmaxWithLoss"):
        return True
    describe = tensors.OWN_TENSORS.get(name)
    if describe is None:
        return False
    unknown = {argument.name: UNKNOWN for argument in _signature(entries()[name].signature)}
    return any(not tensor.buffer for tensor in describe(unknown))


def _signature(text: str) -> tuple[Argument, ...]:
    tree = ast.parse(f"def constructor({text}): ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    args = tree.args
    arguments = []
    without = len(args.args) - len(args.defaults)
    for index, one in enumerate(args.args):
        default = args.defaults[index - without] if index >= without else None
        arguments.append(_argument(one.arg, default, "positional"))
    if args.vararg:
        arguments.append(Argument(args.vararg.arg, kind="*"))
    for one, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        arguments.append(_argument(one.arg, default, "keyword-only"))
    if args.kwarg:
        arguments.append(Argument(args.kwarg.arg, kind="**"))
    return tuple(arguments)


def _argument(name: str, default: ast.expr | None, kind: Literal["positional", "keyword-only"]) -> Argument:
    if default is None:
        return Argument(name, UNKNOWN, kind, required=True)
    value = ast.literal_eval(default)
    return Argument(name, UNKNOWN if value is Ellipsis else value, kind)
