"""
What an argument must be, from how a function uses it: a tensor, a Module, a callable, a configuration, a batch.

Reads Python's own tree of the function; runs inside the child, and evaluates nothing. Annotations come first, then use,
then names.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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
_WORDS: tuple[tuple[str, str], ...] = (  # of an annotation, the first that it holds
    ("DataLoader", "loader"),
    ("Optimizer", "optimizer"),
    ("LRScheduler", "scheduler"),
    *(
        (f"{several}[{layers}", "modules")
        for several in ("ist", "Sequence", "Iterable")
        for layers in ("nn.Module", "torch.nn.Module", "Module")
    ),
    ("Module", "module"),
    ("Callable", "callable"),
    ("Dict", "dict"),
    ("dict", "dict"),
    ("Mapping", "dict"),
    ("List[Tensor", "tensors"),
    ("list[Tensor", "tensors"),
    ("List[torch.Tensor", "tensors"),
    ("list[torch.Tensor", "tensors"),
    ("Sequence[Tensor", "tensors"),
    ("Sequence[torch.Tensor", "tensors"),
    ("List", "list"),
    ("list", "list"),
    ("Sequence", "list"),
    ("Iterable", "list"),
    ("Tuple", "list"),
    ("tuple", "list"),
    ("LongTensor", "integers"),
    ("BoolTensor", "mask"),
    ("Tensor", "tensor"),
    ("bool", "flag"),
    ("int", "integer"),
    ("float", "number"),
    ("str", "string"),
    ("device", "device"),
    ("dtype", "dtype"),
    ("Config", "config"),
    ("Namespace", "config"),
    ("Args", "config"),
)
_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (  # of a name, where its use says nothing
    ("loader", ("loader", "dataloader", "train_iter", "data_iter")),
    ("optimizer", ("optimizer", "optim", "opt")),
    ("scheduler", ("scheduler",)),
    ("criterion", ("criterion", "loss_fn", "loss_func", "loss_function")),
    ("config", ("config", "cfg", "args", "opt_args", "conf", "hparams", "configs")),
    ("module", ("model", "net", "network", "encoder", "decoder", "backbone", "module", "layer", "generator", "critic")),
    ("device", ("device",)),
    ("dtype", ("dtype",)),
    ("parameters", ("params", "parameters")),
    ("path", ("path", "file", "filename", "root", "folder")),
    (
        "tensor",
        ("x", "y", "input", "inputs", "tensor", "logits", "preds", "pred", "images", "features", "feats"),
    ),
    ("callable", ("activation", "act", "act_fn", "fn", "func", "norm_layer", "transform")),
)


CONFIGURATIONS = ("config", "cfg", "conf", "args", "opt", "hparams", "settings", "params")
"""Names of what holds settings."""
LENGTHS = ("lens", "lengths", "len")
"""Last words of names of tensors of lengths, one for each sequence."""
LONG = 6
"""A word of so many letters is meant wherever it stands in a name."""


@functools.lru_cache(maxsize=4096)
def says(name: str, word: str) -> bool:
    """
    Whether a name holds a word: as one of its parts (`alpha` of `alpha_0`, not of `alphabet_size`), with an `n` before
    it, in the singular where something is counted; a long one anywhere. `=word` is its last part, `word_` begins one.
    """
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")
    whole = "_".join(parts)
    if word.startswith("="):
        return parts[-1] == word[1:]
    if "_" in word:
        return f"_{word}" in f"_{whole}_"
    parts = [part.rstrip("0123456789") for part in parts]
    if word in parts or f"n{word}" in parts or f"{word}s" in parts:
        return True
    counted = itertools.pairwise(parts)
    if word.endswith("s") and any(part == word[:-1] and before in _COUNTS for before, part in counted):
        return True
    return len(word) >= LONG and word in whole


_COUNTS = ("n", "num", "nb", "max", "min")
_COUNTED = frozenset({"batch_idx", "batch_nb", "batch_index", "optimizer_idx", "dataloader_idx", "epoch", "step"})
"""Names of what counts, where they are not called tensors."""
_SIZE = re.compile(
    r"^(n|num|max|min)_|^d_(model|ff|ffn|k|v|q|key|value|inner|state|conv|hidden|in|out|head|emb\w*|feat\w*|input|output)$|_(size|sizes|len|length|dim|dims|num|step|steps|epoch|epochs|rate|eps|order|factor|width|height)$"
    r"|^(dim\d?|dims|axis\d?|k|n|groups|stride|strides|padding|dilation|kernel_size|eps|alpha|beta|gamma|temperature|length"
    r"|epochs?|steps?|seed|sizes?|depth|width|height|lr|p|momentum|sigma|tau|num|count|channels|ratio)$"
)
"""Names of numbers; where they end in s and are gone through, of lists of numbers."""


def is_size(name: str) -> bool:
    """Whether a name is that of a number, `d_model` among them."""
    return _SIZE.search(name.lower()) is not None


@dataclass(frozen=True, slots=True)
class Use:
    """
    What is known of an argument.

    Attributes
    ----------
    kind
        "tensor", "integers", "mask", "complex", "tensors", "module", "criterion", "callable", "optimizer", "scheduler",
        "loader", "parameters", "modules", "array", "mapping" (of keywords),
        "config", "dict", "list", "integer", "number", "flag", "string", "device", "dtype", "path", "batch" (a tuple of
        tensors), or "" for unknown.
    rank
        Dimensions that a tensor is unpacked into (`b, c, h, w = x.shape`), tensors of a batch, elements of a list; or
        0.
    of
        The class of the project that its annotation names.
    reads
        Of what is no tensor: what is read of it that holds something itself, each with "object", "called" or "list".
    choices
        The words that it is compared with.
    value
        Of kind "value": itself.
    held
        Of a batch and the like: the kind of its tensors; "": by their names. Of tensors also "smaller" or "larger":
        each has half the size of the one before, or twice; of a loader "dict": of its batches; of a list "anything".
    """

    kind: str
    rank: int = 0
    of: type[Any] | None = None
    reads: tuple[tuple[str, str], ...] = ()
    choices: tuple[str, ...] = ()
    value: Any = None
    held: str = ""


def uses(function: ast.FunctionDef | ast.AsyncFunctionDef, *, computes: bool) -> dict[str, Use]:
    """
    What each argument of a function must be.

    Parameters
    ----------
    computes
        Whether it computes with tensors; a constructor does not, where what is added up are sizes.
    """
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    annotations = {a.arg: ast.unparse(a.annotation) if a.annotation is not None else "" for a in arguments}
    found: dict[str, Use] = {}
    seen: dict[str, list[str]] = {name: [] for name in annotations}
    ranks: dict[str, int] = {}
    for name, kind in _evidence(function):
        if name in seen:
            seen[name].append(kind)
    for name, rank in _ranks(function):
        ranks.setdefault(name, rank)
    words: dict[str, list[str]] = {}
    for name, word in _choices(function):
        words.setdefault(name, []).append(word)
    held: dict[str, dict[str, str]] = {}
    for name, key, what in _read(function):
        held.setdefault(name, {})[key] = what
    for name, annotation in annotations.items():
        kind = _kind(name, annotation, seen[name], computes=computes)
        if kind == "tensor":
            kind = _of_tensor(name)
        choices = tuple(dict.fromkeys(words.get(name, ())))
        if not kind and choices and not annotation:
            kind = "string"
        reads = () if kind in ("tensor", "integers", "mask") else tuple(held.get(name, {}).items())
        found[name] = Use(kind, ranks.get(name, 0), reads=reads, choices=choices)
    return found


def whole(node: ast.ClassDef) -> ast.FunctionDef | None:
    """The constructor of a class, with all of its methods behind it, in which `self.a = a` makes `self.a` an `a`."""
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    first = next((each for each in methods if each.name == "__init__"), None)
    if first is None:
        return None
    names = {each.arg for each in (*first.args.args, *first.args.kwonlyargs)}
    kept = {}
    for each in ast.walk(first):
        match each:
            case ast.Assign([ast.Attribute(ast.Name("self"), attribute)], ast.Name(name)) if name in names:
                kept[attribute] = name
    body = [_Spelled(kept).visit(statement) for method in methods for statement in method.body]
    return ast.FunctionDef(**{**dict(ast.iter_fields(first)), "body": body})


class _Spelled(ast.NodeTransformer):
    def __init__(self, kept: Mapping[str, str]) -> None:
        self.kept = kept

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self.kept:
            return ast.copy_location(ast.Name(self.kept[node.attr], ast.Load()), node)
        return node


def _choices(function: ast.AST) -> Iterator[tuple[str, str]]:
    """The words that arguments are compared with: `mode == "sum"`, `mode in ("sum", "mean")`, `case "sum"`."""
    for node in ast.walk(function):
        match node:
            case ast.Compare(ast.Name(name), [ast.Eq() | ast.In()], [value]):
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


def _read(function: ast.AST) -> Iterator[tuple[str, str, str]]:
    """What is read of arguments and holds something: `cfg.model.width`, `cfg.norm(8)`, `for x in cfg.sizes`."""

    def part(node: ast.AST, held: str) -> Iterator[tuple[str, str, str]]:
        match node:
            case ast.Attribute(ast.Name(name), key) | ast.Subscript(ast.Name(name), ast.Constant(str() as key)):
                yield name, key, held

    for node in ast.walk(function):
        match node:
            case ast.Attribute(value, attribute) if attribute not in _OF_NUMBERS:
                yield from part(value, "object")
            case ast.Call(called):
                yield from part(called, "called")
                if isinstance(called, ast.Name) and called.id in ("len", "zip", "enumerate", "list", "tuple", "sum"):
                    for each in node.args:
                        yield from part(each, "list")
            case ast.For(iter=gone) | ast.comprehension(iter=gone) | ast.Starred(gone) | ast.Subscript(gone):
                yield from part(gone, "list")


def _kind(name: str, annotation: str, seen: list[str], *, computes: bool) -> str:
    lower = name.lower()
    if says(name, "=device") and "str" in annotation:
        return "device"
    for word, kind in _WORDS:
        if word in annotation:
            return kind
    if "buffer" in seen:
        return "tensor"
    if "path" in seen:
        return "path"
    if "modules" in seen and "list" not in seen and "bound" not in seen:
        return "modules"
    if lower in ("dtype", "device"):
        return lower
    if lower in _COUNTED or lower.endswith(("_epoch", "_step", "iteration")):
        return "integer" if computes else ""
    for kind in ("optimizer", "module", "dict", "batch", "tensor", "loader"):
        if kind == "batch" and _SIZE.search(lower):
            continue  # height and width of something
        if kind in seen and (computes or kind != "tensor") and not (kind == "tensor" and _SIZE.search(lower)):
            return kind
    by_name = next((kind for kind, names in _NAMES if lower in names or lower.rpartition("_")[2] in names), "")
    if _SIZE.search(lower):
        many = lower.endswith(("sizes", "dims")) or "list" in seen or "batch" in seen
        return "list" if many and "integer" not in seen else "integer" if computes else ""
    if by_name in ("loader", "optimizer", "scheduler", "criterion", "device", "dtype", "config", "path", "parameters"):
        return by_name
    if "mapping" in seen and not computes:
        return "mapping"
    if "moved" in seen and (by_name == "module" or not computes):
        return "module"
    if "moved" in seen and by_name in ("", "tensor"):
        return "tensor"
    if "called" in seen:
        return "module" if by_name == "module" else "callable"
    if "config" in seen:
        return "config" if not computes or by_name != "tensor" else "tensor"
    if "integer" in seen:
        return "integer"
    if by_name == "tensor" and computes:
        return by_name
    if "list" in seen:
        return "tensors" if computes else "list"
    if by_name and (computes or by_name != "tensor"):
        return by_name
    if computes and "given" in seen:
        return "tensor"
    return ""


def _of_tensor(name: str) -> str:
    lower = name.lower()
    last = lower.rpartition("_")[2]
    if last in LENGTHS:
        return "integers"
    if last in ("mask", "masks") or lower.startswith("mask"):
        return "mask"
    if last in ("ids", "tokens", "idx", "index", "indices", "label", "labels", "target", "targets", "timesteps"):
        return "integers"
    return "tensor"


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


def _evidence(function: ast.AST) -> Iterator[tuple[str, str]]:
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
            case ast.BinOp(ast.Name(name), ast.MatMult()) | ast.BinOp(_, ast.MatMult(), ast.Name(name)):
                yield name, "tensor"
        match node:
            case ast.Call(ast.Attribute(ast.Name("torch"), "load"), [ast.Name(name), *_]) | ast.Call(
                ast.Attribute(ast.Name("torch"), "save"), [_, ast.Name(name), *_]
            ):
                yield name, "path"
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
    return "config"


def _ranks(function: ast.AST) -> Iterator[tuple[str, int]]:
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
