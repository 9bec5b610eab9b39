"""
What an argument must be, from how a function uses it: a tensor, a Module, a callable, a configuration, a batch.

Reads Python's own tree of the function; runs inside the child, and evaluates nothing. Annotations come first, then use,
then names.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import itertools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from torchlint.verify import evidence

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
    ("ndarray", "array"),
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
        Of what is no tensor: what is read of it that holds something itself, each with "object", "called" or "list";
        of what is read of a part under `part.key`.
    choices
        The words that it is compared with.
    value
        Of kind "value": itself; of a table the keys that it was asked for.
    held
        Of a batch and the like: the kind of its tensors; "": by their names. Of tensors also "smaller" or "larger":
        each has half the size of the one before, or twice; of a loader "dict": of its batches; of a list "anything";
        of an integer "axis"; of a Module "outputs": what it gives back has parts by name.
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
    for name, kind in evidence.evidence(function):
        if name in seen:
            seen[name].append(kind)
    for name, rank in evidence.ranks(function):
        ranks.setdefault(name, rank)
    words: dict[str, list[str]] = {}
    for name, word in evidence.choices(function):
        words.setdefault(name, []).append(word)
    held: dict[str, dict[str, str]] = {}
    for name, key, what in evidence.read(function):
        before = held.setdefault(name, {}).get(key, "")
        if what == "tensor" and not computes:
            continue
        if not before.startswith("=") and (before != "tensor" or what.startswith("=")):
            held[name][key] = what
    for name, annotation in annotations.items():
        kind = _kind(name, annotation, seen[name], computes=computes)
        if kind in ("batch", "list") and computes and of_edges(name):
            kind = "tensor"
        if kind == "tensor":
            kind = _of_tensor(name)
        choices = tuple(dict.fromkeys(words.get(name, ())))
        if not kind and choices:
            kind = "string"
        if kind == "list" or (not kind and "list" in seen[name]):
            choices = tuple(dict.fromkeys(words.get(f"{name}[]", choices)))
        reads = () if kind in ("tensor", "integers", "mask") else tuple(held.get(name, {}).items())
        if kind == "config" and computes and not annotation and _holds_tensors(name, held.get(name, {})):
            kind, reads = "dict", ()
        axis = "axis" if kind in ("", "integer") and "axis" in seen[name] and "integer" not in seen[name] else ""
        found[name] = Use(kind or (axis and "integer"), ranks.get(name, 0), reads=reads, choices=choices, held=axis)
    return found


def source_of(thing: Any) -> ast.stmt | None:
    """The tree of a function or a class; None, where there is no text of it."""
    try:
        text = inspect.getsource(inspect.unwrap(thing))
        inside = text[:1].isspace()  # strings in it may begin their lines further left
        tree = ast.parse(f"if True:\n{text}" if inside else text)
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    first = tree.body[0]
    return first.body[0] if inside and isinstance(first, ast.If) else first


def whole(node: ast.ClassDef) -> ast.FunctionDef | None:
    """The constructor of a class, with all of its methods behind it, in which `self.a = a` makes `self.a` an `a`."""
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    first = next((each for each in methods if each.name == "__init__"), None)
    if first is None:
        return None
    names = {each.arg for each in (*first.args.args, *first.args.kwonlyargs)}
    kept: dict[str, ast.expr] = {}
    for each in ast.walk(first):
        match each:
            case ast.Assign([ast.Attribute(ast.Name("self"), attribute)], value) if _of_argument(value, names):
                kept[attribute] = value
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(several)):
                pairs = zip(targets, several, strict=False)
                kept |= {t.attr: v for t, v in pairs if isinstance(t, ast.Attribute) and _of_argument(v, names)}
    body = [_Spelled(kept).visit(statement) for method in methods for statement in method.body]
    return ast.FunctionDef(**{**dict(ast.iter_fields(first)), "body": body})


def _of_argument(node: ast.expr, names: Collection[str]) -> bool:
    """Whether it is an argument, or an attribute of one."""
    inner = node.value if isinstance(node, ast.Attribute) else node
    return isinstance(inner, ast.Name) and inner.id in names


class _Spelled(ast.NodeTransformer):
    def __init__(self, kept: Mapping[str, ast.expr]) -> None:
        self.kept = kept

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self.kept:
            return ast.copy_location(copy.deepcopy(self.kept[node.attr]), node)
        return node


def _holds_tensors(name: str, held: Mapping[str, str]) -> bool:
    """Whether an argument of a computation is what has tensors for attributes: a result of a model, a batch."""
    of_tensors = [key for key, each in held.items() if each == "tensor" and "." not in key]
    return len(of_tensors) > 0 and not any(says(name, word) for word in (*CONFIGURATIONS, "self", "module", "model"))


def _kind(name: str, annotation: str, seen: list[str], *, computes: bool) -> str:
    lower = name.lower()
    if says(name, "=device") and "str" in annotation:
        return "device"
    for word, kind in _WORDS:
        if word in annotation:
            return kind
    if "buffer" in seen or ("tensor alone" in seen and computes and _SIZE.search(lower)):
        return "tensor"
    if "mask" in seen and computes:
        return "mask"
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
    if computes and lower.endswith(("_name", "_type", "_mode", "_method")) and "tensor" not in seen:
        return "string"
    by_name = next((kind for kind, names in _NAMES if lower in names or lower.rpartition("_")[2] in names), "")
    by_name = "" if by_name == "path" and "drop" in lower else by_name
    if computes and name in ("H", "W") and "tensor" not in seen:
        return "integer"
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
    if "text" in seen and by_name in ("", "callable"):
        return "string"
    if "config" in seen:
        return "config" if not computes or by_name != "tensor" else "tensor"
    if "integer" in seen:
        return "integer"
    if by_name == "tensor" and computes:
        return by_name
    if "list" in seen:
        return "tensors" if computes else "list"
    if "indexed" in seen and not computes and not by_name:
        return "list"
    if by_name and (computes or by_name != "tensor"):
        return by_name
    if computes and "given" in seen:
        return "tensor"
    return ""


def by_name(name: str) -> Use:
    """What an argument of a computation is of which nothing is known but its name."""
    kind = _kind(name, "", [], computes=True)
    return Use(_of_tensor(name) if kind in ("", "tensor") else kind)


def of_edges(name: str) -> bool:
    """Whether it is the name of the edges of a graph: pairs of nodes, as a tensor of two rows."""
    return "edge_ind" in name.lower()


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
