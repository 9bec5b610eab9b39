"""
What a file writes with `torch.save`, and what it makes of what `torch.load` gives: whether loading weights only is
refused.

Told from Python's own tree: what an expression stands for is followed through plain assignments of one function, or of
the attributes of `self`. What is not known counts as tensors and plain values. Knows of no other file, and judges
nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, OrderedDict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from torchlint.knowledge.ops.find import is_tensor_method
from torchlint.lint.own_files import is_by_trainer, is_settled, is_shipped, ways
from torchlint.model.events.api import Pickled

_OF_MODULES = frozenset(
    {"children", "eval", "modules", "named_children", "named_modules", "named_parameters", "parameters", "train"}
)
"""Methods that tell a module from tensors and containers of them."""
_OF_OBJECTS = frozenset({"load_state_dict", "state_dict", "zero_grad"}) | _OF_MODULES
"""Those that an optimizer, a scheduler or a scaler has as well."""
_PLAIN_TYPES = (dict, list, tuple, set, str, bytes, bytearray, int, float, complex, OrderedDict, Counter)
"""What Python has that is loaded as weights."""
_OF_VALUES = {
    "abbr", "apply_", "as_subclass", "backward", "batch_sizes", "const_data_ptr", "data", "data_ptr", "device",
    "dim", "dim_order", "dtype", "eig", "element_size", "get_device", "grad", "grad_dtype", "grad_fn", "index",
    "ipu", "is_contiguous", "is_cpu", "is_cuda", "is_ipu", "is_leaf", "is_maia", "is_meta", "is_mkldnn", "is_mps",
    "is_mtia", "is_nested", "is_quantized", "is_shared", "is_sparse", "is_sparse_csr", "is_vulkan", "is_xla",
    "is_xpu", "itemsize", "layout", "lstsq", "map2_", "map_", "module_load", "mtia", "name", "names", "nbytes",
    "ndim", "ndimension", "nelement", "new", "new_tensor", "numel", "numpy", "output_nr", "register_hook",
    "register_post_accumulate_grad_hook", "reinforce", "requires_grad", "requires_grad_", "resize", "resize_as",
    "retains_grad", "set_", "shape", "share_memory_", "size", "solve", "sorted_indices", "storage", "storage_offset",
    "storage_type", "stride", "symeig", "to_complex", "to_real", "to_sparse_coo", "tolist", "type",
    "unsorted_indices", "untyped_storage", "xpu", "__dict__",
    *(name for each in _PLAIN_TYPES for name in dir(each)),
}  # fmt: skip
"""What plain values, tensors and what torch makes of them have; a test asks torch. Operations are in their table."""


class _Refused(NamedTuple):
    """What is refused, what to do, and what else has to be allowed for it ("" where no class is enough)."""

    what: str
    cure: str
    allowing: str = "its class"


_STATE = "save its `state_dict()` and load that"
_MODULE = _Refused("a whole module", _STATE, "all of its classes")
_OBJECT = _Refused("a whole object", _STATE, "all of its classes")
_NUMPY = _Refused("a value of NumPy's", "save tensors and Python's own numbers", "")
_PLAIN = "save its plain values"
_MEMBER = _Refused("a member of an `Enum`", "save its `value`")
_MADE: dict[str, _Refused] = {
    "collections.defaultdict": _Refused("a `defaultdict`", "save `dict(…)` of it", ""),
    "collections.deque": _Refused("a `deque`", "save `list(…)` of it", ""),
    "frozenset": _Refused("a `frozenset`", "save `set(…)` of it"),
    "argparse.Namespace": _Refused("a `Namespace`", "save `vars(…)` of it"),
    "pathlib.Path": _Refused("a `Path`", "save `str(…)` of it"),
    "datetime.datetime": _Refused("a date", "save it as a text"),
    "datetime.date": _Refused("a date", "save it as a text"),
    "datetime.timedelta": _Refused("a time span", "save its seconds"),
    "decimal.Decimal": _Refused("a `Decimal`", "save it as a number or a text"),
    "types.SimpleNamespace": _Refused("a `SimpleNamespace`", "save `vars(…)` of it"),
    "random.Random": _Refused("a generator of random numbers", "save its `getstate()`"),
    "type": _Refused("a class", "save its name", ""),
}
"""What `weights_only=True` refuses, by what makes it; a test asks torch."""
_PYTHONS = frozenset({"numpy.shape", "numpy.ndim", "numpy.size", "numpy.allclose", "numpy.array_equal"})
"""Functions of NumPy whose results are Python's own."""
_HOLDS = frozenset({"dict", "list", "tuple", "set", "collections.OrderedDict", "collections.Counter"})
_SAME = frozenset({"copy.copy", "copy.deepcopy"})
_DEPTH = 6
"""Names that are followed one after the other."""

_NAMES_A_FILE = re.compile(r"[A-Za-z0-9]{3}")


class Kept(NamedTuple):
    """What is saved somewhere and refused, the keys that it has (None: unknown), and words of the file's path."""

    pickled: Pickled
    keys: frozenset[str] | None
    words: frozenset[str]


class _Contents:
    """What the expressions of a file hold that is refused."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {part: node for node in ast.walk(self.tree) for part in ast.iter_child_nodes(node)}

    def function_around(self, node: ast.AST) -> ast.AST:
        """The innermost function that a node stands in, or the file."""
        while node is not self.tree:
            node = self._parents[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
        return node

    def _is_asked(self, node: ast.AST) -> bool:
        """Whether the program asks itself what a value is: then it takes more than one kind."""
        call = self._parents[node]
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            return False
        return node in call.args and call.func.id in ("isinstance", "hasattr", "type", "getattr")

    @cached_property
    def _names(self) -> dict[str, str]:
        """What the file imports, by the name it has there."""
        found: dict[str, str] = {}
        for node in self._parents:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    found[alias.asname or first] = alias.name if alias.asname else first
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
        return found

    def _full(self, node: ast.AST) -> str:
        """A chain of attributes with what its first name was imported as; "" of anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self._names.get(node.id, node.id), *reversed(parts)])

    @cached_property
    def _classes(self) -> dict[str, ast.ClassDef]:
        return {node.name: node for node in self._parents if isinstance(node, ast.ClassDef)}

    @cached_property
    def _stateful(self) -> dict[str, _Refused]:
        """What the file elsewhere asks for its parameters, or its state."""
        found: dict[str, _Refused] = {}
        for node in self._parents:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_OBJECTS:
                words = ast.unparse(node.func.value)
                found[words] = _MODULE if node.func.attr in _OF_MODULES else found.get(words, _OBJECT)
        return found

    @cached_property
    def _bound(self) -> dict[str, list[tuple[ast.AST, int, ast.expr]]]:
        """By name, or attribute of `self`: in which function, on which line, what is assigned to it."""
        found: dict[str, list[tuple[ast.AST, int, ast.expr]]] = {}
        for node in self._parents:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    own = (self.function_around(node), node.lineno, node.value)
                    found.setdefault(ast.unparse(target), []).append(own)
                    if isinstance(target, ast.Subscript):
                        found.setdefault(f"{ast.unparse(target.value)}[]", []).append(own)
        return found

    def _refused(self, node: ast.AST, around: ast.AST, line: int, depth: int = _DEPTH) -> _Refused | None:
        """What an expression of a function holds that is refused; None if nothing is known to be."""
        if not depth:
            return None
        if isinstance(node, (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.IfExp, ast.Starred, ast.BoolOp)):
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            if isinstance(node, ast.Dict):
                parts = [*node.values]
            elif isinstance(node, ast.IfExp):
                parts = [node.body, node.orelse]
            return self._first(parts, around, line, depth)
        if isinstance(node, ast.Lambda):
            return _Refused("a function", "save what it is made from", "")
        if isinstance(node, ast.Call):
            return self._of_call(node, around, line, depth)
        if isinstance(node, ast.Attribute) and self._is_enum(node.value):
            return _MEMBER
        if isinstance(node, ast.Attribute) and node.attr == "__class__":
            return _MADE["type"]
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._of_name(node, around, line, depth)
        return None

    def _first(self, parts: list[ast.expr], around: ast.AST, line: int, depth: int) -> _Refused | None:
        return next((found for part in parts if (found := self._refused(part, around, line, depth))), None)

    def _of_call(self, call: ast.Call, around: ast.AST, line: int, depth: int) -> _Refused | None:
        name = self._full(call.func)
        given = [*call.args, *(each.value for each in call.keywords)]
        if name in _MADE:
            return _MADE[name]
        if name.startswith("numpy.") and name not in _PYTHONS:
            return _NUMPY
        if name in _SAME:
            return self._first(given, around, line, depth - 1)
        if name in _HOLDS:  # a container made of another one is not that one
            written = [each for each in call.args if isinstance(each, (ast.Dict, ast.List, ast.Tuple, ast.Set))]
            return self._first([*written, *(each.value for each in call.keywords)], around, line, depth - 1)
        if name in self._classes:
            return self._of_class(self._classes[name])
        if self._is_layer(name):
            return _MODULE
        if name.startswith("torch.optim.") and name.rpartition(".")[2][:1].isupper():
            return _OBJECT
        if isinstance(call.func, ast.Attribute):
            if call.func.attr == "numpy" and not given:
                return _NUMPY
            if call.func.attr == "parse_args":
                return _MADE["argparse.Namespace"]
        return None

    def _is_layer(self, name: str) -> bool:
        module, _, last = name.rpartition(".")
        return module == "torch.nn" and last[:1].isupper() and last not in ("Parameter", "Buffer")

    def _of_class(self, made: ast.ClassDef) -> _Refused | None:
        bases = {self._full(base) for base in made.bases}
        if any(base.rpartition(".")[2] in ("Module", "LightningModule") for base in bases):
            return _MODULE
        if bases & {"typing.TypedDict", "typing_extensions.TypedDict", "torch.Tensor"} or made.keywords:
            return None
        return _Refused(f"an object of `{made.name}`", _PLAIN)

    def _is_enum(self, node: ast.AST) -> bool:
        made = self._classes.get(node.id) if isinstance(node, ast.Name) else None
        return made is not None and any(self._full(base).startswith("enum.") for base in made.bases)

    def _of_name(self, node: ast.Name | ast.Attribute, around: ast.AST, line: int, depth: int) -> _Refused | None:
        words = ast.unparse(node)
        if words == "self":
            return _Refused("a whole object", "save its `state_dict()`, or its plain values")
        local = isinstance(node, ast.Name)
        values = [(at, value) for where, at, value in self._bound.get(words, ()) if not local or where is around]
        last = max((each for each in values if each[0] <= line), key=lambda each: each[0], default=None)
        if words in self._stateful and not (local and last is not None and _is_state(last[1])):
            return self._stateful[words]
        stored = [value for where, _, value in self._bound.get(f"{words}[]", ()) if where is around]
        found = self._first(stored, around, line, depth - 1)
        if found is not None:
            return found
        if not values:
            return self._of_parameter(node, around, depth) if isinstance(node, ast.Name) else None
        if local:  # what it was given last counts
            return None if last is None else self._refused(last[1], around, last[0] - 1, depth - 1)
        said = [value for _, value in values if not (isinstance(value, ast.Constant) and value.value is None)]
        reasons = [self._refused(value, around, value.lineno, depth - 1) for value in said]
        return reasons[0] if reasons and all(reasons) else None

    def _of_parameter(self, node: ast.Name, around: ast.AST, depth: int) -> _Refused | None:
        """What the annotation of a parameter says, or that the function reads what no plain value has."""
        parameter = next(self._parameters(node.id, around), None)
        if parameter is None:
            return None
        said = "" if parameter.annotation is None else self._full(parameter.annotation)
        if said in self._classes:
            made = self._classes[said]
            enum = any(self._full(base).startswith("enum.") for base in made.bases)
            return _MEMBER if enum else self._of_class(made)
        if said in _MADE:
            return _MADE[said]
        if said == "numpy.ndarray":
            return _NUMPY
        if said == "torch.nn.Module":
            return _MODULE
        inside = [part for part in ast.walk(around) if isinstance(part, ast.Name) and part.id == node.id]
        if any(map(self._is_asked, inside)) or any(isinstance(part.ctx, ast.Store) for part in inside):
            return None
        if any(map(self._reads_a_field, inside)):
            return _Refused("an object", _PLAIN)
        given = self.arguments(parameter.arg, around)
        return next(
            (found for at, value in given if (found := self._refused(value, at, value.lineno, depth - 1))), None
        )

    def arguments(self, name: str, around: ast.AST) -> list[tuple[ast.AST, ast.expr]]:
        """What the calls in the file give a function for a parameter, each with the function that it stands in."""
        if not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return []
        places = [each.arg for each in (*around.args.posonlyargs, *around.args.args)]
        found: list[tuple[ast.AST, ast.expr]] = []
        for call in self._calls.get(around.name, ()):
            bound = places[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute)
            own = places[1:] if bound else places
            given = dict(zip(own, call.args, strict=False)) | {
                each.arg: each.value for each in call.keywords if each.arg
            }
            if name in given and not isinstance(given[name], ast.Starred):
                found.append((self.function_around(call), given[name]))
        return found

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        """The calls of the file's own functions and methods, by their name."""
        found: dict[str, list[ast.Call]] = {}
        for node in self._parents:
            if isinstance(node, ast.Call):
                function = node.func
                if isinstance(function, ast.Name):
                    found.setdefault(function.id, []).append(node)
                elif isinstance(function, ast.Attribute) and ast.unparse(function.value) in ("self", "cls"):
                    found.setdefault(function.attr, []).append(node)
        return found

    def _parameters(self, name: str, around: ast.AST) -> Iterator[ast.arg]:
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = around.args
            for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                if each.arg == name:
                    yield each

    def _reads_a_field(self, node: ast.Name) -> bool:
        """Whether an attribute is read, and not called, that neither a tensor nor a plain value has."""
        field = self._parents[node]
        if not isinstance(field, ast.Attribute) or _is_of_values(field.attr):
            return False
        user = self._parents[field]
        return not (isinstance(user, ast.Call) and user.func is field)


class Checkpoints(_Contents):
    """
    The calls of `torch.save` and `torch.load` of one file.

    Parameters
    ----------
    tree
        The file.
    """

    @cached_property
    def _known_ways(self) -> dict[tuple[ast.Call, int], dict[str, ast.expr]]:
        return {}

    @cached_property
    def _saving(self) -> list[ast.Call]:
        """The calls of `torch.save`."""
        return [
            node
            for node in self._parents
            if isinstance(node, ast.Call)
            and isinstance(node.func, (ast.Attribute, ast.Name))
            and self._full(node.func) == "torch.save"
        ]

    def saved(self, call: ast.Call) -> Pickled | None:
        """What a call of `torch.save` is given that is refused."""
        what = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "obj"), None)
        found = None if what is None else self._refused(what, self.function_around(call), call.lineno)
        return None if found is None else Pickled(call.lineno, *found)

    @cached_property
    def kept(self) -> list[Kept]:
        """All that the file saves and that `weights_only=True` refuses, in the order of the text."""
        return list(filter(None, map(self.kept_by, sorted(self._saving, key=lambda each: each.lineno))))

    def kept_by(self, save: ast.Call) -> Kept | None:
        """What a call of `torch.save` is given that is refused, with its keys and the words of the path."""
        pickled = self.saved(save)
        return None if pickled is None else Kept(pickled, self._keys_saved(save), self._words(save, 1))

    def likely(self, call: ast.Call, kept: Kept) -> bool | None:
        """
        Whether what is saved somewhere is what a call of `torch.load` reads, by the keys that are read and by the names
        of the files; None if neither tells.
        """
        read = self._keys_read(call)
        if read and kept.keys is not None:
            return not read.isdisjoint(kept.keys)
        return True if self._words(call, 0) & kept.words else None

    def _words(self, call: ast.Call, at: int) -> frozenset[str]:
        """The texts in the path that a call is given, but for what many files have: an ending alone."""
        return frozenset(
            part.value
            for way in self._ways(call, at).values()
            for part in ast.walk(way)
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and _NAMES_A_FILE.search(part.value)
        )

    def _keys_saved(self, call: ast.Call) -> frozenset[str] | None:
        """The keys of what a call of `torch.save` is given; None if nobody knows them all."""
        what = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "obj"), None)
        return None if what is None else self._keys(what, self.function_around(call), 3)

    def _keys(self, what: ast.expr, around: ast.AST, depth: int) -> frozenset[str] | None:
        if isinstance(what, ast.Dict):
            known = [key.value for key in what.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
            return frozenset(known) if len(known) == len(what.keys) else None
        if isinstance(what, ast.Call) and self._full(what.func) == "dict" and not what.args:
            return frozenset(filter(None, (each.arg for each in what.keywords)))
        if not isinstance(what, ast.Name) or not depth:
            return None
        values = [(where, value) for where, _, value in self._bound.get(what.id, ()) if where is around]
        values = values or self.arguments(what.id, around)
        sets = [self._keys(value, where, depth - 1) for where, value in values]
        if not sets or None in sets:
            return None
        stored = [ast.unparse(where) for where in self._stored(what.id, around)]
        return frozenset().union(*filter(None, sets), (ast.literal_eval(each) for each in stored if each[:1] in "'\""))

    def _stored(self, name: str, around: ast.AST) -> Iterator[ast.expr]:
        """The keys under which a function puts something into what a name stands for."""
        for node in ast.walk(around):
            if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Store):
                continue
            if isinstance(node.value, ast.Name) and node.value.id == name:
                yield node.slice

    def _keys_read(self, call: ast.Call) -> frozenset[str]:
        """The keys that a function reads of what a call of `torch.load` gives, as far as they are known."""
        parent = self._parents[call]
        given: list[ast.AST] = [call]
        if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is call:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            names = {each.id for each in targets if isinstance(each, ast.Name)}
            around = self.function_around(call)
            given += [node for node in ast.walk(around) if isinstance(node, ast.Name) and node.id in names]
        return frozenset(key for each in given for key in self._key_of(each))

    def _key_of(self, node: ast.AST) -> Iterator[str]:
        user = self._parents[node]
        key: ast.expr | None = None
        if isinstance(user, ast.Subscript) and user.value is node:
            key = user.slice
        elif isinstance(user, ast.Attribute) and user.attr in ("get", "pop"):
            call = self._parents[user]
            key = call.args[0] if isinstance(call, ast.Call) and call.args else None
        elif isinstance(user, ast.Compare) and isinstance(user.ops[0], (ast.In, ast.NotIn)):
            key = user.left
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value

    def written(self, call: ast.Call) -> ast.Call | None:
        """
        The call of `torch.save` that writes what a call of `torch.load` reads; None if none is known to.

        That is so where both name the place in the same words, in one function, or in two of which the one that reads
        was not given the place: whoever calls `load(path)` chooses another file than whoever calls `save(path)`.
        """
        around = self.function_around(call)
        read = self._ways(call, 0)
        settled = {words for words, each in read.items() if is_settled(each, around)}
        for each in self._saving:
            writer = self.function_around(each)
            wanted = read.keys() if writer is around else settled
            written = self._ways(each, 1)
            if any(words in wanted and (writer is around or is_settled(written[words], writer)) for words in written):
                return each
        return None

    def _ways(self, call: ast.Call, at: int) -> dict[str, ast.expr]:
        """The ways to write the path that a call is given."""
        known = self._known_ways.get((call, at))
        if known is None:
            place = _file(call, at)
            found = [] if place is None else ways(place, self.function_around(call), self.tree, self._full)
            known = self._known_ways[call, at] = {ast.unparse(each): each for each in found}
        return known

    def is_ours(self, call: ast.Call) -> bool:
        """Whether what a call of `torch.load` reads is shipped with the code, or was just written by a trainer."""
        return any(is_shipped(each, self._full) or is_by_trainer(each) for each in self._ways(call, 0).values())

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class that a node stands in."""
        while node is not self.tree:
            node = self._parents[node]
            if isinstance(node, ast.ClassDef):
                return node
        return None

    def saved_by_class(self, call: ast.Call) -> list[ast.Call]:
        """The calls of `torch.save` in the class that a call stands in."""
        around = self.class_around(call)
        return [] if around is None else [each for each in self._saving if self.class_around(each) is around]

    def is_unknown(self, save: ast.Call) -> bool:
        """Whether what a call of `torch.save` is given is the result of something that is not known to give a state."""
        what = save.args[0] if save.args else next((k.value for k in save.keywords if k.arg == "obj"), None)
        if what is None:
            return True
        given = ways(what, self.function_around(save), self.tree, self._full)
        return any(isinstance(each, ast.Call) and not _is_state(each) for each in given)

    def reads(self, call: ast.Call) -> Pickled | None:
        """Where what a call of `torch.load` gives, or a part of it, is used as nothing but an object can be."""
        return self._used(call, self.function_around(call), 2)

    def _used(self, value: ast.AST, around: ast.AST, depth: int) -> Pickled | None:
        """As `reads`, of a value that stands somewhere in a function."""
        part = self._parents[value]
        while isinstance(part, ast.Subscript) and part.value is value:
            value, part = part, self._parents[part]
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
            call = self._parents[part]
            if isinstance(call, ast.Call) and call.func is part and part.attr in _OF_OBJECTS:
                return Pickled(part.lineno, *(_MODULE if part.attr in _OF_MODULES else _OBJECT))
            return None if _is_of_values(part.attr) else Pickled(part.lineno, *_Refused("an object", _PLAIN))
        if isinstance(part, ast.Call) and part.func is value:
            return Pickled(part.lineno, *_MODULE)
        if not (isinstance(part, ast.Assign) and part.value is value and len(part.targets) == 1 and depth):
            return None
        name = part.targets[0]
        if not isinstance(name, ast.Name):
            return None
        inside = [node for node in ast.walk(around) if isinstance(node, ast.Name) and node.id == name.id]
        if sum(not isinstance(node.ctx, ast.Load) for node in inside) != 1 or any(map(self._is_asked, inside)):
            return None
        later = (node for node in inside if isinstance(node.ctx, ast.Load))
        return next((found for node in later if (found := self._used(node, around, depth - 1))), None)


def _is_of_values(name: str) -> bool:
    """Whether tensors, what torch makes of them, or plain values have an attribute of that name."""
    return name in _OF_VALUES or is_tensor_method(name)


def _is_state(node: ast.expr) -> bool:
    """Whether a value is what `state_dict()` gives, or whatever else a call of another method does."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict"


def _file(call: ast.Call, at: int) -> ast.expr | None:
    """The path or file that `torch.load` (its first argument) or `torch.save` (its second) is given."""
    named = next((each.value for each in call.keywords if each.arg == "f"), None)
    return named if named is not None else call.args[at] if len(call.args) > at else None
