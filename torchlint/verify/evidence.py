"""
What the text of a function shows of its arguments: how each is used, what is read of it, which words it is compared
with, into how many parts it is taken.

Runs inside the child. Reads Python's own tree, and concludes nothing: `usage` does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

TENSOR_ATTRIBUTES = frozenset(
    {
        *("shape", "size", "dim", "ndim", "view", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "detach"),
        *("mean", "sum", "float", "long", "dtype", "contiguous", "clone", "flatten", "expand", "repeat", "masked_fill"),
        *("numel", "backward", "grad", "requires_grad", "new_zeros", "softmax", "argmax", "abs", "pow", "sqrt", "item"),
        *("exp", "log", "clamp", "norm", "max", "min", "bool", "int", "cpu", "cuda", "device", "type", "scatter_", "T"),
        *("gather", "index_select", "chunk", "split", "unbind", "sigmoid", "tanh", "std", "var", "t", "mT", "double"),
    }
)
MODULE_ATTRIBUTES = frozenset(
    {
        *("parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "eval", "train"),
        *("state_dict", "load_state_dict", "zero_grad", "buffers", "named_buffers", "forward", "training"),
    }
)


def choices(function: ast.AST) -> Iterator[tuple[str, str]]:
    """
    The words that arguments are compared with: `mode == "sum"`, `mode in ("sum", "mean")`, `case "sum"`. Under `name[]`
    those of what an argument holds, where it is gone through; under `name.part` those of an attribute.
    """
    parts_of = {}
    for node in ast.walk(function):
        match node:
            case ast.For(ast.Name(part), ast.Name(several)) | ast.comprehension(ast.Name(part), ast.Name(several)):
                parts_of[part] = f"{several}[]"
            case ast.For(
                ast.Tuple([_, ast.Name(part)]), ast.Call(ast.Name("enumerate"), [ast.Name(several), *_])
            ) | ast.comprehension(
                ast.Tuple([_, ast.Name(part)]), ast.Call(ast.Name("enumerate"), [ast.Name(several), *_])
            ):
                parts_of[part] = f"{several}[]"
    for name, word in _compared(function):
        yield parts_of.get(name, name), word


def _compared(function: ast.AST) -> Iterator[tuple[str, str]]:
    refused = {
        id(each.test) for each in ast.walk(function) if isinstance(each, ast.If) and isinstance(each.body[0], ast.Raise)
    }
    for node in ast.walk(function):
        if id(node) in refused and isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.NotIn):
            continue  # with that word it raises
        match node:
            case ast.Compare(
                (ast.Attribute() | ast.Subscript(_, ast.Constant(str()))) as read_of, [ast.Eq() | ast.In()], [value]
            ):
                name = ".".join(_path(read_of))
                parts = value.elts if isinstance(value, (ast.Tuple, ast.List, ast.Set)) else [value]
            case ast.Compare(
                ast.Name(name) | ast.Call(ast.Attribute(ast.Name(name), "lower" | "upper" | "strip" | "casefold"), []),
                [ast.Eq() | ast.In()],
                [value],
            ):
                parts = value.elts if isinstance(value, (ast.Tuple, ast.List, ast.Set)) else [value]
            case ast.Match(ast.Name(name), cases):
                parts = [c.pattern.value for c in cases if isinstance(c.pattern, ast.MatchValue)]
            case ast.Compare(ast.Name(name), [ast.NotIn()], [ast.Tuple(parts) | ast.List(parts) | ast.Set(parts)]):
                pass
            case _:
                continue
        words = (part.value for part in parts if isinstance(part, ast.Constant))
        yield from ((name, word) for word in words if isinstance(word, str))


_OF_NUMBERS = frozenset(
    {"item", "is_integer", "bit_length", "lower", "upper", "split", "startswith", "format", "strip"}
)


def read(function: ast.AST) -> Iterator[tuple[str, str, str]]:
    """What is read of arguments and holds something: `cfg.model.width`, `cfg.norm(8)`, `for x in cfg.sizes`."""

    def part(node: ast.AST, held: str) -> Iterator[tuple[str, str, str]]:
        name, key = _path(node)
        if key:
            yield name, key, held

    kept = {local: (name, key) for node in ast.walk(function) for local, name, key in _kept_locally(node)}
    for local, kind in evidence(function):
        if kind == "tensor" and local in kept:
            yield *kept[local], "tensor"
    known: dict[tuple[str, str], str] = {}
    for owner, word in _compared(function):
        name, _, key = owner.partition(".")
        if key and known.setdefault((name, key), word) == word:
            yield name, key, f"={word}"
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value, attribute) if attribute in _OF_TENSORS_ALONE:
                yield from part(value, "tensor")
            case ast.Subscript(value, ast.Tuple()):
                yield from part(value, "tensor")
            case ast.keyword(None, value):
                yield from part(value, "mapping")
            case ast.Attribute(value, attribute) if attribute not in _OF_NUMBERS:
                yield from part(value, "object")
            case ast.Call(called):
                yield from part(called, "called")
                if isinstance(called, ast.Name) and called.id in ("len", "zip", "enumerate", "list", "tuple", "sum"):
                    for each in node.args:
                        yield from part(each, "list")
            case ast.Subscript(gone, ast.Constant(str())):
                yield from part(gone, "object")
            case ast.For(iter=gone) | ast.comprehension(iter=gone) | ast.Starred(gone) | ast.Subscript(gone):
                yield from part(gone, "list")


def _path(node: ast.AST) -> tuple[str, str]:
    """The name that something is read of, and by which keys: `cfg`, `model.width` of `cfg["model"].width`."""
    keys: list[str] = []
    while True:
        match node:
            case ast.Attribute(owner, key) | ast.Subscript(owner, ast.Constant(str() as key)):
                keys.append(key)
                node = owner
            case ast.Name(name):
                return name, ".".join(reversed(keys))
            case _:
                return "", ""


_OF_TENSORS_ALONE = TENSOR_ATTRIBUTES - {
    *("split", "type", "device", "max", "min", "item", "sum", "mean", "std", "t", "T", "float", "int", "bool", "long"),
    *("dim", "norm", "log", "exp", "var", "chunk", "forward", "repeat", "double", "grad", "clone", "view", "pow"),
    *("abs", "cpu", "cuda", "dtype", "size", "requires_grad"),
}
"""Attributes that nothing has but a tensor."""


_OF_OTHERS = frozenset(
    {
        *("mode", "stride", "dist", "take", "put", "trace", "unique", "resize", "storage", "where", "rename", "inner"),
        *("all", "any", "add_", "numpy", "tolist", "round", "reduce", "dot", "cross", "sub", "mul", "div", "neg"),
        *("logit", "map_"),
    }
)
"""Methods of tensors that others have, too."""
METHODS_ALONE = (
    {name for name in dir(torch.Tensor) if name[0] != "_" and callable(getattr(torch.Tensor, name))}
    - {name for other in (torch.nn.Module, list, dict, set, str) for name in dir(other)}
    - _OF_OTHERS
)
"""Methods that nothing has but a tensor, by their names."""


def _kept_locally(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """`local = argument.key`, and several at once."""
    match node:
        case ast.Assign([ast.Name(local)], ast.Attribute(ast.Name(name), key)):
            yield local, name, key
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
            for pair in zip(targets, values, strict=False):
                match pair:
                    case ast.Name(local), ast.Attribute(ast.Name(name), key):
                        yield local, name, key


_SHAPING = frozenset({"view", "reshape", "expand", "unflatten", "new_zeros", "new_ones", "new_empty"})
"""Methods of tensors that take sizes."""


def _sizes(node: ast.expr) -> Iterator[str]:
    """The names that a size is computed of."""
    match node:
        case ast.Name(name):
            yield name
        case ast.BinOp(left, ast.Mult() | ast.FloorDiv() | ast.Add() | ast.Sub(), right):
            yield from (*_sizes(left), *_sizes(right))


_OF_SIZES = frozenset({"zeros", "ones", "empty", "rand", "randn", "arange", "eye", "randperm"})
"""Functions of torch that take sizes."""
_OF_NUMBERS_ALONE = frozenset({"save", "device", "manual_seed", "linspace", "set_default_dtype", "from_numpy"})
"""Others that take no tensors."""


def evidence(function: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(function):
        match node:
            case ast.Name(name, ast.Store()):
                yield name, "bound"
            case ast.Attribute(ast.Name(name), attribute):
                yield name, _by_attribute(attribute)
            case ast.Subscript(ast.Name(name), ast.Constant(str())):
                yield name, "dict"
            case ast.Subscript(ast.Name(name), ast.Tuple() | ast.Slice()):
                yield name, "tensor"
            case ast.Subscript(ast.Name(name), ast.Constant(int())):
                yield name, "list"
            case ast.Subscript(ast.Name(name), ast.Name() | ast.BinOp()):
                yield name, "indexed"
            case ast.For(iter=ast.Name(name)) | ast.comprehension(iter=ast.Name(name)) | ast.Starred(ast.Name(name)):
                yield name, "list"
            case ast.Call(ast.Name("range"), arguments):
                yield from ((each.id, "integer") for each in arguments if isinstance(each, ast.Name))
            case ast.Call(ast.Name("len" | "enumerate" | "zip" | "tqdm" | "reversed"), arguments):
                yield from ((each.id, "list") for each in arguments if isinstance(each, ast.Name))
            case ast.Call(ast.Attribute(ast.Name("self"), "register_buffer"), [_, ast.Name(name), *_]):
                yield name, "buffer"
            case ast.Call(
                ast.Attribute(_, "ModuleList" | "Sequential") | ast.Name("ModuleList" | "Sequential"),
                [ast.Name(name) | ast.Starred(ast.Name(name))],
            ):
                yield name, "modules"
            case ast.Call(ast.Name(name)):
                yield name, "called"
            case ast.keyword(None, ast.Name(name)):
                yield name, "mapping"
            case ast.Assign([ast.Tuple(_)], ast.Name(name)):
                yield name, "batch"
            case ast.UnaryOp(ast.Invert(), ast.Name(name)):
                yield name, "mask"
            case ast.Call(ast.Attribute(_, "masked_fill" | "masked_fill_" | "masked_select"), [ast.Name(name), *_]):
                yield name, "mask"
            case ast.keyword("key_padding_mask" | "src_key_padding_mask", ast.Name(name)):
                yield name, "mask"
            case ast.BinOp(ast.Name(name), ast.MatMult()) | ast.BinOp(_, ast.MatMult(), ast.Name(name)):
                yield name, "tensor"
        match node:
            case ast.Attribute(ast.Name(name), attribute) if attribute in _OF_TENSORS_ALONE - {"shape"}:
                yield name, "tensor alone"
            case ast.Attribute(ast.Subscript(ast.Name(name), ast.Name() | ast.Compare()), "view" | "unsqueeze"):
                yield name, "tensor alone"
            case ast.Call(ast.Attribute(ast.Name("torch"), "load"), [ast.Name(name), *_]) | ast.Call(
                ast.Attribute(ast.Name("torch"), "save"), [_, ast.Name(name), *_]
            ):
                yield name, "path"
            case ast.Call(
                ast.Attribute(ast.Attribute(ast.Name("os"), "path"), _)
                | ast.Attribute(ast.Name("os"), "makedirs" | "listdir" | "mkdir")
                | ast.Name("open" | "Path"),
                arguments,
            ):
                yield from ((each.id, "path") for each in arguments if isinstance(each, ast.Name))
            case ast.Call(ast.Attribute(_, asked), keywords=[*keywords]) if asked.islower() and keywords:
                axes = (each.value for each in keywords if each.arg in ("dim", "axis"))
                yield from ((each.id, "axis") for each in axes if isinstance(each, ast.Name))
        match node:
            case ast.Call(ast.Attribute(_, asked), arguments) if asked in _SHAPING:
                inside = (each for argument in arguments for each in _sizes(argument))
                yield from ((name, "integer") for name in inside)
            case ast.Call(ast.Attribute(ast.Name("torch"), asked), arguments) if asked in _OF_SIZES:
                yield from ((each.id, "integer") for each in arguments if isinstance(each, ast.Name))
            case ast.Call(ast.Attribute(ast.Name("torch"), asked)) if asked in _OF_NUMBERS_ALONE:
                pass
            case ast.Call(ast.Attribute(ast.Name("torch" | "F")), arguments):
                yield from ((each.id, "tensor") for each in arguments[:2] if isinstance(each, ast.Name))
            case ast.Call(ast.Attribute(ast.Name("self")), arguments):
                yield from ((each.id, "given") for each in arguments if isinstance(each, ast.Name))
            case ast.BinOp(ast.Name(name)):
                yield name, "given"


def _by_attribute(attribute: str) -> str:
    if attribute in ("step", "param_groups"):
        return "optimizer"
    if attribute in MODULE_ATTRIBUTES:
        return "module"
    if attribute in TENSOR_ATTRIBUTES:
        return "tensor"
    if attribute in ("items", "keys", "values", "get", "update"):
        return "dict"
    if attribute in ("dataset", "batch_size"):
        return "config"
    if attribute in ("append", "extend", "index"):
        return "list"
    if attribute == "to":
        return "moved"
    if attribute in ("lower", "upper", "casefold", "startswith", "endswith"):
        return "text"
    return "tensor" if attribute in METHODS_ALONE else "config"


def ranks(function: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(function):
        match node:
            case ast.Assign([ast.Tuple(names)], ast.Name(name)):
                yield name, len(names)
            case ast.Assign([ast.Tuple(names)], ast.Attribute(ast.Name(name), "shape")) | ast.Assign(
                [ast.Tuple(names)], ast.Call(ast.Attribute(ast.Name(name), "size"), [])
            ) if not any(isinstance(each, ast.Starred) for each in names):
                yield name, len(names)
            case ast.Compare(
                ast.Attribute(ast.Name(name), "ndim") | ast.Call(ast.Attribute(ast.Name(name), "dim")),
                [ast.Eq()],
                [ast.Constant(int(rank))],
            ) if rank > 0:
                yield name, rank
