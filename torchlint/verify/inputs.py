"""
Guesses arguments: for a Module's constructor, and tensors that its `forward` accepts.

Runs inside the child. A guess that torch refuses is repaired from the text of the refusal.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_origin

import torch
from torch import nn

from torchlint.verify import documented, typed, values, variety
from torchlint.verify.anything import Anything
from torchlint.verify.usage import CONFIGURATIONS, LENGTHS, Use, is_size, of_edges, says, source_of, uses, whole

SIZE = 8
"""Of what says nothing of itself."""
SMALL_INTS = {
    "spatial_dims": 2,
    "ndim": 2,
    "stride": 1,
    "dilation": 1,
    "groups": 1,
    "padding": 1,
    "heads": 2,
    "layers": 2,
    "depth": 2,
    "blocks": 2,
    "kernel": 3,
    "classes": 4,
    "vocab": 32,
    "max_len": 32,
    "seq_len": 8,
}
"""Constructor arguments whose name holds the word, and a size that suits it."""
INTEGER_INPUTS = ("ids", "tokens", "idx", "index", "indices", "label", "labels", "target", "targets")
"""Names, or last words of names, of `forward` arguments that are integers."""
OF_INSTANCE = "self."
SPATIAL = (16, 32, 28, 8)


def constructor_arguments(
    target: type[Any],
    size: int,
    *,
    by_use: bool = False,
    depth: int = typed.DEPTH,
    all_of_them: bool = False,
    anything: bool = False,
    layers: bool = True,
) -> dict[str, Any]:
    """
    Keyword arguments for the parameters of a class that have no default.

    Parameters
    ----------
    target
        The class.
    size
        For integers whose name says nothing.
    by_use
        Whether what the constructor does with them comes first, and names only after that. Before both come classes of
        the project.
    depth
        How deep classes may be built; 0: not at all.
    all_of_them
        Whether those that are None by default get something, too.
    anything
        Whether numbers of which nothing is known are `Anything`.
    layers
        Whether what is called gets a class of the project that has what is read of it.
    """
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return {}
    known = uses_of_class(target)  # type: ignore[arg-type]  # a class is hashable
    classes = typed.annotated(target)
    found: dict[str, Any] = {}
    for p in parameters:
        wanted = p.default is p.empty or (
            all_of_them and (p.default is None or (isinstance(p.default, dict) and not p.default))
        )
        if p.default is True and says(p.name, "pretrained"):
            found[p.name] = False  # there is no network
        elif wanted and p.kind in (*_BY_PLACE, p.KEYWORD_ONLY):
            value = _of_class(target, p, classes.get(p.name), size, depth) if depth else typed.Nothing
            if value is not typed.Nothing:
                found[p.name] = value
                continue
            if typed.of_words(classes.get(p.name)) or (p.annotation is p.empty and _WORDS.search(p.name.lower())):
                words = known.get(p.name, Use("")).choices[: len(values.WORDS)] or values.WORDS
                found[p.name] = tuple(words) if get_origin(classes.get(p.name)) is tuple else list(words)
                continue
            if (part := typed.plain_part(classes.get(p.name))) in _PARTS:
                found[p.name] = [_PARTS[part](size) for _ in range(typed.PARTS)]
                continue
            if parts := typed.several(classes.get(p.name)):
                found[p.name] = tuple(_integer(p.name.lower(), size) if part is int else 0.1 for part in parts)
                continue
            use = known.get(p.name, Use(""))
            layer = typed.layer_for(target, p.name) if layers and use.kind in ("callable", "module") else None
            if layer is not None:
                found[p.name] = layer
            elif use.held == "axis":
                found[p.name] = -1
            elif use.choices and use.kind in ("", "string"):
                found[p.name] = use.choices[0]
            elif not by_use and use.kind not in _CLEAR:
                found[p.name] = _argument(p.name.lower(), p.annotation, size)
            elif use.kind in ("", "integer"):
                found[p.name] = values.scalar(p.name, size, computes=False)
            else:
                found[p.name] = values.make(p.name, use, (size,), size, False, computes=False)
            if anything and p.annotation is p.empty and type(value := found[p.name]) is int:
                found[p.name] = Anything(value)
    return found | _of_said_shapes(target, found)


def _of_said_shapes(target: type[Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors among arguments, in the shapes that the documentation of their class says they have."""
    tensors = tuple(name for name, value in found.items() if type(value) is torch.Tensor and value.is_floating_point())
    sizes = {name: value for name, value in found.items() if type(value) is int}
    return {name: torch.rand(shape) for name, shape in documented.shapes(target, tensors, sizes).items()}


_WORDS = re.compile(r"_(keys|names|columns)$")
"""Names of what holds strings."""
_PARTS: Mapping[Any, Callable[[int], Any]] = {
    float: lambda size: 0.1,
    bool: lambda size: False,
    torch.Tensor: torch.rand,
}
"""What lists hold, by their annotation, that is no size."""
_CLEAR = frozenset(
    {
        *("config", "dict", "module", "modules", "callable", "tensor", "mask", "device", "dtype", "path", "mapping"),
        *("optimizer", "scheduler", "loader", "criterion", "parameters", "array"),
    }
)
"""Kinds that no name and no annotation says better."""


def _of_class(target: type[Any], parameter: inspect.Parameter, annotation: Any, size: int, depth: int) -> Any:
    """A value of a class of the project, by the annotation, or by what the constructor reads of a configuration."""

    def arguments(kind: type[Any], deeper: int) -> dict[str, Any]:
        return constructor_arguments(kind, size, depth=deeper)

    if annotation is None and any(word in parameter.name.lower() for word in CONFIGURATIONS):
        names = getattr(target.__init__, "__globals__", {})
        annotation = typed.that_has(typed.read_of(target.__init__, parameter.name), names)
    return typed.of(annotation, arguments, depth)


def _argument(name: str, annotation: Any, size: int) -> Any:
    kind = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    if annotation is inspect.Parameter.empty:
        kind = ""
    if says(name, "=device"):
        return "cpu"
    for words, make in _BY_ANNOTATION:
        if any(word in kind for word in words):
            return make(name, size)
    for words, make in _BY_NAME:
        if any(says(name, word) for word in words) and not (make is _layer and is_size(name)):
            return make(name, size)
    return _integer(name, size)


def _integer(name: str, size: int) -> int:
    return next((value for word, value in SMALL_INTS.items() if says(name, word)), size)


def _activation(name: str, size: int) -> Any:
    return nn.ReLU()


def _layer(name: str, size: int) -> Any:
    return values.AnyModule()


def _layers(name: str, size: int) -> Any:
    return [values.AnyModule(), values.AnyModule()]


def _fraction(name: str, size: int) -> float:
    return 0.1


_Make = Callable[[str, int], Any]
_BY_ANNOTATION: tuple[tuple[tuple[str, ...], _Make], ...] = (
    (
        ("List[nn.Module", "List[torch.nn.Module", "list[nn.Module", "list[torch.nn.Module", "Sequence[nn.Module"),
        _layers,
    ),
    (("nn.Parameter", "Parameter"), lambda name, size: nn.Parameter(torch.rand(size))),
    (("list", "List", "Sequence", "Iterable"), lambda name, size: [_integer(name, size)] * 2),
    (("tuple", "Tuple"), lambda name, size: (_integer(name, size),) * 2),
    (("bool",), lambda name, size: False),
    (("int",), _integer),
    (("float",), _fraction),
    (("str",), lambda name, size: "relu"),
    (("Callable",), _activation),
    (("Module",), _layer),
    (("Tensor",), lambda name, size: torch.rand(size)),
)
_BY_NAME: tuple[tuple[tuple[str, ...], _Make], ...] = (
    (("dropout", "rate", "alpha", "beta", "eps", "momentum", "prob", "scale", "sigma", "std"), _fraction),
    (("bias", "use_", "is_", "inplace"), lambda name, size: False),
    (("activation", "act_fn", "nonlinearity"), _activation),
    (("encoder", "decoder", "backbone", "model", "module", "net"), _layer),
    (("hidden_sizes", "hidden_dims", "sizes", "widths"), lambda name, size: [size, size]),
)


@dataclass(frozen=True)
class Inputs:
    """
    Arguments for one call. Of what a function takes as `*more` the names are `*more0`, `*more1`; attributes of its
    instance that are made up are `self.name`.

    Attributes
    ----------
    shape
        Of each tensor that has none of its own.
    names
        Parameters that get a tensor of floats.
    integers
        Parameters that get a tensor of integers below `limit`.
    limit
        See `integers`.
    others
        Parameters that get something else, by what is known of their use.
    shapes
        Shapes of tensors of their own.
    """

    shape: tuple[int, ...]
    names: tuple[str, ...]
    integers: tuple[str, ...] = ()
    limit: int = 4
    others: tuple[tuple[str, Use], ...] = ()
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def make(self, requires_grad: bool) -> dict[str, Any]:
        """Fresh values, the same numbers each time."""
        generator = torch.Generator().manual_seed(1)
        made: dict[str, Any] = {}
        own = dict(self.shapes)
        for name in self.names:
            leaf = torch.rand(own.get(name, self.shape), generator=generator) * 0.8 + 0.1  # as probabilities are, too
            # a clone, because inputs inside a network are no leaves; it saves nothing and shares nothing
            made[name] = leaf.requires_grad_().clone() if requires_grad else leaf
        for name in self.integers:
            if name.rpartition("_")[2] in LENGTHS:
                made[name] = torch.full(own.get(name, self.shape[:1]), 2)
                continue
            made[name] = torch.randint(0, self.limit, own.get(name, self.shape), generator=generator)
        for name, use in self.others:
            if use.of is not None and use.kind == "several":
                found = typed.of(list[use.of], lambda kind, depth: constructor_arguments(kind, SIZE, depth=depth))  # type: ignore[name-defined]
                if found is not typed.Nothing:
                    made[name] = found
                    continue
            elif use.of is not None:
                make = typed.made if use.kind == "module" else typed.of
                built = make(use.of, lambda kind, depth: constructor_arguments(kind, SIZE, depth=depth))
                if built is not typed.Nothing:
                    made[name] = built
                    continue
            if use.kind == "mask" and (name in own or not self.names):
                made[name] = torch.ones(own.get(name, self.shape), dtype=torch.bool)
                continue
            made[name] = variety.make(name, use, own.get(name, self.shape), SIZE, requires_grad, computes=True)
        return made

    def with_attributes(self, known: Mapping[str, Use], shape: tuple[int, ...]) -> Inputs:
        """The same with attributes of the instance, of which those that are tensors have a shape."""
        new = {
            f"{OF_INSTANCE}{name}": use for name, use in known.items() if f"{OF_INSTANCE}{name}" not in self.parameters
        }
        tensors = tuple(name for name, use in new.items() if use.kind == "tensor")
        others = tuple((n, use if use.kind else Use("anything")) for n, use in new.items() if n not in tensors)
        shapes = {**dict.fromkeys(new, shape), **dict(self.shapes)}
        return replace(
            self, names=(*self.names, *tensors), others=(*self.others, *others), shapes=tuple(shapes.items())
        )

    @property
    def parameters(self) -> list[str]:
        """Those that get something."""
        return [*self.names, *self.integers, *(name for name, _ in self.others)]

    def called(self, function: Callable[..., Any], made: Mapping[str, Any]) -> Any:
        """What a function gives back for these."""
        owner = function if isinstance(function, nn.Module) else getattr(function, "__self__", None)
        own = [name for name in self.parameters if name.startswith(OF_INSTANCE)]
        for name in own:
            object.__setattr__(owner, name.removeprefix(OF_INSTANCE), made[name])
        starred = sorted(name for name in self.parameters if name.startswith("*"))
        placed = [p.name for p in parameters(function) if p.kind in _BY_PLACE]
        first = itertools.takewhile(lambda name: name in self.parameters, placed)  # as most callers write them
        positional = [*([name for name in placed if name in self.parameters] if starred else first), *starred]
        keywords = {name: made[name] for name in self.parameters if name not in (*positional, *own)}
        return function(*(made[name] for name in positional), **keywords)

    def words(self, requires_grad: bool) -> str:
        """For the report: `x` of shape (2, 8)."""
        own = dict(self.shapes)
        parts = [f"`{name}` of shape {own.get(name, self.shape)}" for name in self.names]
        if requires_grad and parts:
            parts[-1] += " that requires grad" if len(parts) == 1 else ", each requiring grad"
        parts += [f"integers `{name}` of shape {own.get(name, self.shape)}" for name in self.integers]
        parts += [f"a made-up `{name}`{f' ({use.kind})' if use.kind else ''}" for name, use in self.others]
        return ", ".join(parts) or "no arguments"


def first_inputs(function: Callable[..., Any], module: nn.Module | None) -> list[Inputs]:
    """
    Inputs to try for a function, the likeliest first.

    Parameters
    ----------
    function
        The function, or the bound method.
    module
        Whose layers tell of shapes.
    """
    names = _required(function)
    if not names:
        return [Inputs((), ()), *_starred(function, module)]
    known = uses_of(function, computes=True)
    annotated = typed.annotated(function)
    classes = {name: typed.class_of(kind) for name, kind in annotated.items()}
    kinds = {name: _with_class(known.get(name, Use("tensor")), classes.get(name)) for name in names}
    for name, use in kinds.items():
        if not use.kind and name.lower().rpartition("_")[2] in ("mask", "masks"):
            kinds[name] = replace(use, kind="mask")
        elif typed.of_words(annotated.get(name)):
            kinds[name] = Use("several", held="strings")
        elif (part := typed.part_of(annotated.get(name))) is not None:
            kinds[name] = Use("several", of=part, held="anything")
        elif words := [each for each in typed.literal(annotated.get(name)) if isinstance(each, str)]:
            kinds[name] = Use("string", choices=tuple(words))
    others = tuple((n, use) for n, use in kinds.items() if use.kind not in ("tensor", "integers", ""))
    plain = [n for n in names if n not in dict(others)]
    integers = tuple(n for n in plain if kinds[n].kind == "integers" or n.lower().rpartition("_")[2] in INTEGER_INPUTS)
    floats = tuple(n for n in plain if n not in integers)
    shaped = {name: use for name, use in kinds.items() if use.kind not in ("batch", "tensors", "list", "modules")}
    ranks = [use.rank for use in shaped.values() if use.rank]
    ranked = [_RANKED[rank] for rank in ranks if rank in _RANKED]
    layers = [] if module is None else list(_shapes(module))
    shapes = list(dict.fromkeys([*layers, *ranked, *_PLAIN]))
    embedding = None if module is None else next((m for m in module.modules() if isinstance(m, nn.Embedding)), None)
    found = [Inputs(shape, floats, integers, others=others) for shape in shapes]
    if len(set(ranks)) > 1:
        own = tuple((n, _RANKED[use.rank]) for n, use in shaped.items() if use.rank in _RANKED)
        found.insert(0, Inputs(shapes[0], floats, integers, others=others, shapes=own))
    if integers and floats:
        found += [
            replace(each, shapes=tuple((n, each.shape[:1]) for n in integers)) for each in found[:4] if each.shape
        ]
    edges = [name for name in integers if of_edges(name)]
    if edges:
        pairs = dict.fromkeys(edges, (2, SIZE))
        found = [replace(each, shapes=tuple({**dict(each.shapes), **pairs}.items())) for each in found]
        found.insert(0, replace(found[0], shape=(SIZE, SIZE)))
    if embedding is not None and floats:
        limit = embedding.num_embeddings
        found.insert(0, Inputs((2, 5), floats[1:], (*floats[:1], *integers), limit, others))
        found.insert(1, Inputs((2, 5), (), (*floats, *integers), limit, others))
    return list(dict.fromkeys(found))


def use_for(function: Callable[..., Any], name: str) -> Use:
    """What one argument is, where it is to be more than None."""
    use = uses_of(function, computes=True).get(name, Use("tensor"))
    found = _with_class(use, typed.class_of(typed.annotated(function).get(name)))
    return found if found.kind else replace(found, kind="tensor")


def _with_class(use: Use, kind: type[Any] | None) -> Use:
    if kind is None:
        return use
    return Use(use.kind if use.kind not in ("tensor", "integers", "") else "config", of=kind)


_PLAIN = ((2, 8), (8,), (2, 3, 16, 16), (2, 5, 8), (4, 4), (3,), ())
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _starred(function: Callable[..., Any], module: nn.Module | None) -> Iterator[Inputs]:
    """For a function that takes any number of arguments, and needs none: one tensor, and several."""
    found = next((p.name for p in parameters(function) if p.kind is p.VAR_POSITIONAL), "")
    layers = [] if module is None else list(_shapes(module))
    for count in (1, 2, 3, 4) if found else ():
        names = tuple(f"*{found}{index}" for index in range(count))
        yield from (Inputs(shape, names) for shape in dict.fromkeys([*layers[:3], *_PLAIN[:4]]))
    if found:
        yield Inputs((2, 8), (), others=((f"*{found}0", Use("tensors")),))
    if any(p.kind is p.VAR_KEYWORD for p in parameters(function)):  # a tensor by each word that arguments hold
        yield Inputs((2, SIZE), values.WORDS)


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a function takes, or the `forward` of a Module."""
    try:
        function = function.forward if isinstance(function, nn.Module) else function
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


_RANKED: dict[int, tuple[int, ...]] = {1: (8,), 2: (2, 8), 3: (2, 5, 8), 4: (2, 3, 16, 16), 5: (2, 3, 8, 8, 8)}


@functools.lru_cache(maxsize=64)
def uses_of(function: Callable[..., Any], *, computes: bool) -> dict[str, Use]:
    """What the arguments of a function must be, as far as its source tells; nothing, where there is none."""
    node = source_of(function)
    return uses(node, computes=computes) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else {}


@functools.lru_cache(maxsize=64)
def uses_of_class(target: type[Any]) -> dict[str, Use]:
    """What the arguments of a constructor must be, as far as the class does anything with them."""
    node = source_of(target)
    built = whole(node) if isinstance(node, ast.ClassDef) else None
    return uses_of(target.__init__, computes=False) if built is None else uses(built, computes=False)


def _required(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    )


def _shapes(module: nn.Module) -> Iterator[tuple[int, ...]]:
    for layer in module.modules():
        if isinstance(layer, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            rank = {nn.Conv1d: 1, nn.Conv2d: 2, nn.Conv3d: 3}.get(type(layer), 2)
            for size in SPATIAL if rank < 3 else (8, 16):
                yield (2, layer.in_channels, *[size] * rank)
        elif isinstance(layer, nn.Linear):
            yield (2, layer.in_features)
            yield (2, 5, layer.in_features)
            yield (layer.in_features,)
        elif isinstance(layer, nn.RNNBase):
            yield (2, 5, layer.input_size)
        elif isinstance(layer, nn.LayerNorm):
            yield (2, *layer.normalized_shape)
        elif isinstance(layer, nn.BatchNorm1d):
            yield (4, layer.num_features)
            yield (4, layer.num_features, 8)
        elif isinstance(layer, nn.BatchNorm2d):
            yield (2, layer.num_features, 8, 8)
        elif isinstance(layer, nn.GroupNorm):
            yield (2, layer.num_channels, 8, 8)
            yield (2, layer.num_channels)
        elif isinstance(layer, nn.MultiheadAttention):
            yield (2, 5, layer.embed_dim)
        elif vars(layer).get("_sizes"):  # it stands for another one
            taken = vars(layer)["_sizes"][0]
            yield from ((2, taken), (2, 5, taken), (2, taken, *SPATIAL[:1] * 2))
        else:
            continue
        break
    for value in (*module.parameters(recurse=False), *vars(module).values()):
        if isinstance(value, torch.Tensor):
            yield tuple(value.shape)
            if value.ndim >= 2:
                yield (2, value.shape[0])
                yield (2, value.shape[1])
