"""
Guesses arguments: for a Module's constructor, and tensors that its `forward` accepts.

Runs inside the child. A guess that torch refuses is repaired from the text of the refusal.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from torchlint.verify import typed, values
from torchlint.verify.anything import Anything
from torchlint.verify.shapes import asked_for, said
from torchlint.verify.usage import CONFIGURATIONS, LENGTHS, MODULE_ATTRIBUTES, TENSOR_ATTRIBUTES, Use, uses, whole

SIZE = 8
"""Of what says nothing of itself."""
SMALL_INTS = {
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
SPATIAL = (16, 32, 28, 8)


def constructor_arguments(
    target: type[Any],
    size: int,
    *,
    by_use: bool = False,
    depth: int = typed.DEPTH,
    all_of_them: bool = False,
    anything: bool = False,
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
    """
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return {}
    known = uses_of_class(target)
    classes = typed.annotated(target)
    found = {}
    for p in parameters:
        wanted = p.default is p.empty or (all_of_them and p.default is None)
        if wanted and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            value = _of_class(target, p, classes.get(p.name), size, depth) if depth else typed.Nothing
            if value is not typed.Nothing:
                found[p.name] = value
                continue
            use = known.get(p.name, Use(""))
            if use.choices and use.kind in ("", "string"):
                found[p.name] = use.choices[0]
            elif not by_use and use.kind not in ("config", "dict", "module", "modules", "callable", "tensor", "mask"):
                found[p.name] = _argument(p.name.lower(), p.annotation, size)
            elif use.kind in ("", "integer"):
                found[p.name] = values.scalar(p.name, size, computes=False)
            else:
                found[p.name] = values.make(p.name, use, (size,), size, False, computes=False)
            if anything and p.annotation is p.empty and type(value := found[p.name]) is int:
                found[p.name] = Anything(value)
    return found


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
    for words, make in _BY_ANNOTATION:
        if any(word in kind for word in words):
            return make(name, size)
    for words, make in _BY_NAME:
        if any(word in name for word in words):
            return make(name, size)
    return _integer(name, size)


def _integer(name: str, size: int) -> int:
    return next((value for word, value in SMALL_INTS.items() if word in name), size)


def _activation(name: str, size: int) -> Any:
    return nn.ReLU()


def _layer(name: str, size: int) -> Any:
    return values.AnyModule()


def _fraction(name: str, size: int) -> float:
    return 0.1


_Make = Callable[[str, int], Any]
_BY_ANNOTATION: tuple[tuple[tuple[str, ...], _Make], ...] = (
    (("list", "List", "Sequence"), lambda name, size: [size, size]),
    (("tuple", "Tuple"), lambda name, size: (size, size)),
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
    Arguments for one call.

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
            leaf = torch.rand(own.get(name, self.shape), generator=generator) + 0.1
            # a clone, because inputs inside a network are no leaves; it saves nothing and shares nothing
            made[name] = leaf.requires_grad_().clone() if requires_grad else leaf
        for name in self.integers:
            if name.rpartition("_")[2] in LENGTHS:
                made[name] = torch.full(own.get(name, self.shape[:1]), 2)
                continue
            made[name] = torch.randint(0, self.limit, own.get(name, self.shape), generator=generator)
        for name, use in self.others:
            if use.of is not None:
                built = typed.of(use.of, lambda kind, depth: constructor_arguments(kind, SIZE, depth=depth))
                if built is not typed.Nothing:
                    made[name] = built
                    continue
            made[name] = values.make(name, use, own.get(name, self.shape), SIZE, requires_grad, computes=True)
        return made

    @property
    def parameters(self) -> list[str]:
        """Those that get something."""
        return [*self.names, *self.integers, *(name for name, _ in self.others)]

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
    known = uses_of(function, computes=True)
    classes = {name: typed.class_of(kind) for name, kind in typed.annotated(function).items()}
    kinds = {name: _with_class(known.get(name, Use("tensor")), classes.get(name)) for name in names}
    others = tuple((n, use) for n, use in kinds.items() if use.kind not in ("tensor", "integers", ""))
    plain = [n for n in names if n not in dict(others)]
    integers = tuple(n for n in plain if kinds[n].kind == "integers" or n.lower().rpartition("_")[2] in INTEGER_INPUTS)
    floats = tuple(n for n in plain if n not in integers)
    if not names:
        return [Inputs((), ())]
    ranks = [use.rank for use in kinds.values() if use.rank and use.kind != "batch"]
    ranked = [_RANKED[rank] for rank in ranks if rank in _RANKED]
    layers = [] if module is None else list(_shapes(module))
    shapes = list(dict.fromkeys([*layers, *ranked, (2, 8), (8,), (2, 3, 16, 16), (2, 5, 8), (4, 4), (3,), ()]))
    embedding = None if module is None else next((m for m in module.modules() if isinstance(m, nn.Embedding)), None)
    found = [Inputs(shape, floats, integers, others=others) for shape in shapes]
    if len(set(ranks)) > 1:
        own = tuple((n, _RANKED[use.rank]) for n, use in kinds.items() if use.rank in _RANKED and use.kind != "batch")
        found.insert(0, Inputs(shapes[0], floats, integers, others=others, shapes=own))
    if integers and floats:
        found += [
            replace(each, shapes=tuple((n, each.shape[:1]) for n in integers)) for each in found[:4] if each.shape
        ]
    if embedding is not None and floats:
        limit = embedding.num_embeddings
        found.insert(0, Inputs((2, 5), floats[1:], (*floats[:1], *integers), limit, others))
        found.insert(1, Inputs((2, 5), (), (*floats, *integers), limit, others))
    return list(dict.fromkeys(found))


def _with_class(use: Use, kind: type[Any] | None) -> Use:
    if kind is None:
        return use
    return Use(use.kind if use.kind not in ("tensor", "integers", "") else "config", of=kind)


_RANKED: dict[int, tuple[int, ...]] = {1: (8,), 2: (2, 8), 3: (2, 5, 8), 4: (2, 3, 16, 16), 5: (2, 3, 8, 8, 8)}


def uses_of(function: Callable[..., Any], *, computes: bool) -> dict[str, Use]:
    """What the arguments of a function must be, as far as its source tells; nothing, where there is none."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    node = tree.body[0]
    known = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return uses(node, computes=computes) if known else {}  # type: ignore[arg-type]


def uses_of_class(target: type[Any]) -> dict[str, Use]:
    """What the arguments of a constructor must be, as far as the class does anything with them."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(target)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return uses_of(target.__init__, computes=False)
    node = whole(tree.body[0]) if isinstance(tree.body[0], ast.ClassDef) else None
    return uses_of(target.__init__, computes=False) if node is None else uses(node, computes=False)


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
        elif isinstance(layer, nn.MultiheadAttention):
            yield (2, 5, layer.embed_dim)
        else:
            continue
        break
    for value in (*module.parameters(recurse=False), *vars(module).values()):
        if isinstance(value, torch.Tensor):
            yield tuple(value.shape)
            if value.ndim >= 2:
                yield (2, value.shape[0])
                yield (2, value.shape[1])


def repaired(inputs: Inputs, message: str) -> list[Inputs]:
    """Inputs that the text of torch's refusal asks for."""
    found: list[Inputs] = []
    for shapes in asked_for(inputs.shape, message):
        found += [replace(inputs, shape=shape) for shape in shapes if shape != inputs.shape]
        found += _one_by_one(inputs, shapes)
    wanted = said(message)
    if wanted and wanted != inputs.shape:
        found += [replace(inputs, shape=wanted), *_one_by_one(inputs, [wanted])]
    if re.search(_OF_INTEGERS, message):
        for name, use in inputs.others:
            if use.kind in ("dict", "tensors", "batch") and not use.held:
                found.append(with_use(inputs, name, replace(use, held="all integers")))
        found += [with_use(inputs, name, Use("integers")) for name in inputs.names]
        found.append(replace(inputs, names=inputs.names[1:], integers=(*inputs.names[:1], *inputs.integers)))
        found.append(replace(inputs, names=(), integers=(*inputs.names, *inputs.integers)))
    if inputs.integers and re.search(r"class probabilities|multi-target not supported|0D or 1D target", message):
        one = {name: dict(inputs.shapes).get(name, inputs.shape)[:1] for name in inputs.integers}
        found.append(replace(inputs, shapes=tuple({**dict(inputs.shapes), **one}.items())))
    if inputs.integers and "out of range in self" in message and inputs.limit > 1:
        found.append(replace(inputs, limit=2 if inputs.limit > 2 else 1))
    if re.search(r"scalar types?:? Float|expected .*Float|must be .*floating|found Long|'Long'|same dtype", message):
        found.append(replace(inputs, names=(*inputs.names, *inputs.integers), integers=()))
    found += list(_completed(inputs, message))
    if "ndarray" in message:
        for name in (*inputs.names, *(n for n, use in inputs.others if use.kind in ("mask", "config"))):
            found.append(with_use(inputs, name, Use("array")))
    if re.search(r"not Tensor|'Tensor' object|Tensor cannot|single element can be converted|ambiguous", message):
        found += list(_otherwise(inputs, message))
    return found


_OF_INTEGERS = (
    r"scalar types?:? Long|expected .*Long|must be .*integer|Long, Int|Expected dtype int|must be long"
    r"|only integer tensors|should be .*int64|expects .*int64|must be .*int64|one_hot is only applicable"
)
"""Refusals of tensors of floats."""


def with_use(inputs: Inputs, name: str, use: Use) -> Inputs:
    """The same with one argument as something else."""
    if use.kind == "integers":
        known = with_use(inputs, name, Use("tensor"))
        plain = tuple(n for n in known.names if n != name)
        return replace(known, names=plain, integers=(*(n for n in inputs.integers if n != name), name))
    if use.kind == "tensor":
        others = tuple(each for each in inputs.others if each[0] != name)
        rest, integers = (tuple(n for n in known if n != name) for known in (inputs.names, inputs.integers))
        return replace(inputs, names=(*rest, name), integers=integers, others=others)
    others = tuple((known, use if known == name else old) for known, old in inputs.others)
    others = others if name in dict(others) else (*others, (name, use))
    names, integers = (tuple(n for n in known if n != name) for known in (inputs.names, inputs.integers))
    return replace(inputs, names=names, integers=integers, others=others)


_TYPES = {"list": "list", "tuple": "batch", "int": "integer", "float": "number", "str": "string", "bool": "flag"}


def _completed(inputs: Inputs, message: str) -> Iterator[Inputs]:
    """What was made up has not what is read of it: it gets that, or is a configuration, which has everything."""
    refused = re.search(_NOT_THAT, message)
    if refused is not None:
        kinds = [kind for kind in refused.groups() if kind]
        for name, use in inputs.others:
            if any(use.kind in _MADE.get(kind, ()) for kind in kinds):
                yield with_use(inputs, name, Use("anything"))
            elif use.kind == "anything" and "Anything" in kinds:
                yield with_use(inputs, name, Use("string"))
    tensor = re.search(r"must be Tensor, not (\w+)|expected Tensor as element \d+ .* got (\w+)", message)
    if tensor is not None:
        for name, use in inputs.others:
            if use.kind in _MADE.get(tensor[1] or tensor[2], ()):
                yield with_use(inputs, name, Use("tensor"))
    if "but got Anything" in message or "not Anything" in message:
        for name, use in inputs.others:
            if use.kind == "anything" and not use.rank:
                yield with_use(inputs, name, replace(use, rank=1))
    match = re.search(r"'(\w+)' object has no attribute '(\w+)'", message)
    if match is None:
        return
    kind, attribute = match[1], match[2]
    for name, use in inputs.others:
        if (use.kind, kind) in (("optimizer", "SGD"), ("scheduler", "_Scheduler"), ("loader", "list")) or (
            use.of is not None and use.of.__name__ == kind
        ):
            yield with_use(inputs, name, Use("config", reads=use.reads))
        elif kind == "AnyModule" and use.kind in ("module", "callable"):
            for held in ("list", "tensor", "called"):
                yield with_use(inputs, name, replace(use, reads=((attribute, held), *use.reads)))
        elif kind in ("int", "float") and use.kind == "config" and attribute in TENSOR_ATTRIBUTES:
            yield with_use(inputs, name, Use("module", reads=use.reads))
        elif _TYPES.get(kind) == use.kind:
            yield with_use(inputs, name, Use("tensor" if attribute in TENSOR_ATTRIBUTES else "config"))


_NOT_THAT = (
    r"'(\w+)' object (?:is not (?:iterable|subscriptable|callable|a mapping)|cannot be interpreted)"
    r"|(\w+) indices must be integers|type\(s\) for \S+ '(\w+)' and '(\w+)'|object of type '(\w+)' has no len"
)
_MADE = {
    "list": ("list", "tensors", "loader"),
    "tuple": ("batch",),
    "int": ("integer", ""),
    "float": ("number", ""),
    "str": ("string", ""),
    "bool": ("flag", ""),
    "AnyModule": ("module", "callable"),
    "Config": ("config",),
    "Batch": ("dict",),
    "Settings": ("dict",),
}
"""Refusals of what a value is no kind of, and what was made up where it is of that class."""


def instead(arguments: Mapping[str, Any], refusal: str) -> Iterator[tuple[str, Any]]:
    """What a constructor that refuses its arguments may want instead, from the words of its refusal."""
    attribute = re.search(r"'(\w+)' object has no attribute '(\w+)'", refusal)
    if attribute is not None:
        name = attribute[2]
        of_kind = [key for key, value in arguments.items() if type(value).__name__ == attribute[1]]
        for key in of_kind[:8]:
            if isinstance(arguments[key], values.AnyModule):
                known = arguments[key].reads
                yield from ((key, values.AnyModule(((name, held), *known))) for held in ("object", "called", "list"))
            elif name in MODULE_ATTRIBUTES:
                yield key, values.AnyModule()
            elif name in TENSOR_ATTRIBUTES:
                yield from ((key, torch.rand(SIZE)), (key, torch.rand(2, SIZE)))
            else:
                yield key, values.Config(SIZE)
    missing = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", refusal)
    if missing is not None:
        yield from ((name, values.scalar(name, SIZE, computes=False)) for name in re.findall(r"'(\w+)'", missing[1]))
    tensor = re.search(r"must be Tensor, not (\w+)", refusal)
    if tensor is not None:
        of_kind = [key for key, value in arguments.items() if type(value).__name__ == tensor[1]]
        yield from ((key, torch.rand(2, SIZE)) for key in of_kind[:8])
    for pattern, wanted in _INSTEAD:
        if re.search(pattern, refusal):
            numbers = [key for key, value in arguments.items() if isinstance(value, _REFUSED)]
            yield from ((key, make()) for key in numbers[:8] for make in wanted)


_REFUSED = (int, float, list, values.Config, values.AnyModule)
_INSTEAD: tuple[tuple[str, tuple[Callable[[], Any], ...]], ...] = (
    (
        r"'(int|float)' object is not (subscriptable|iterable)|has no len|index out of range",
        (lambda: [2, 2, 2, 2], lambda: [SIZE, SIZE], lambda: [(SIZE, SIZE), (SIZE, SIZE)]),
    ),
    (
        r"(int|Config) is not a Module subclass|object is not callable|object of type 'AnyModule' has no len",
        (lambda: [values.AnyModule(), values.AnyModule()], values.AnyModule, lambda: nn.ReLU),
    ),
)
"""Parts of refusals, and what may be wanted."""


_SHAPED = ("mask", "batch", "tensors", "array")


def _one_by_one(inputs: Inputs, shapes: Sequence[tuple[int, ...]]) -> list[Inputs]:
    """The same with the new shape for one of several tensors alone."""
    tensors = [*inputs.names, *inputs.integers, *(n for n, use in inputs.others if use.kind in _SHAPED)]
    if len(tensors) < 2:
        return []
    own = dict(inputs.shapes)
    return [
        replace(inputs, shapes=tuple({**own, name: shape}.items()))
        for shape in shapes
        for name in tensors
        if own.get(name, inputs.shape) != shape
    ]


def _otherwise(inputs: Inputs, message: str) -> Iterator[Inputs]:
    """One of the tensors is something else: what, the message hints at."""
    kinds = ("callable",) if "not callable" in message else ("integer", "list", "callable")
    kinds = ("anything",) if "has no attribute" in message else kinds
    for name in inputs.names:
        for kind in kinds:
            rest = tuple(each for each in inputs.names if each != name)
            yield replace(inputs, names=rest, others=(*inputs.others, (name, Use(kind))))
