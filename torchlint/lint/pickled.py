"""
What of a program `torch.load` refuses with `weights_only=True`, where an expression says so.

Told from Python's own tree: what an expression stands for is followed through plain assignments of one function, the
attributes of `self`, and the functions of the file. What is not known counts as tensors and plain values. Knows of no
other file, and judges nothing.
"""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from torchlint.knowledge.ops.find import is_tensor_method
from torchlint.syntax.children import children, walk

OF_MODULES = frozenset(
    {"children", "eval", "modules", "named_children", "named_modules", "named_parameters", "parameters", "train"}
)
"""Methods that tell a module from tensors and containers of them."""
OF_OBJECTS = frozenset({"load_state_dict", "state_dict", "zero_grad"}) | OF_MODULES
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


class Refused(NamedTuple):
    """What is refused, what to do, and what has to be allowed for it ("" where nothing that may be is enough)."""

    what: str
    cure: str
    allowing: str = "its class"


_STATE = "save its `state_dict()` and load that"
MODULE = Refused("a whole module", _STATE, "all of its classes")
OBJECT = Refused("a whole object", _STATE, "all of its classes")
_NUMPY = Refused(
    "a value of NumPy's", "save tensors and Python's own numbers", "more than its class, all that the errors name,"
)
_HOLDING = "its class, and those of what it holds,"
PLAIN = "save its plain values"
_MEMBER = Refused("a member of an `Enum`", "save its `value`")
MADE: dict[str, Refused] = {
    "collections.defaultdict": Refused("a `defaultdict`", "save `dict(…)` of it", ""),
    "collections.deque": Refused("a `deque`", "save `list(…)` of it", ""),
    "frozenset": Refused("a `frozenset`", "save `set(…)` of it"),
    "argparse.Namespace": Refused("a `Namespace`", "save `vars(…)` of it", _HOLDING),
    "pathlib.Path": Refused("a `Path`", "save `str(…)` of it"),
    "datetime.datetime": Refused("a date", "save it as a text"),
    "datetime.date": Refused("a date", "save it as a text"),
    "datetime.timedelta": Refused("a time span", "save its seconds"),
    "decimal.Decimal": Refused("a `Decimal`", "save it as a number or a text"),
    "types.SimpleNamespace": Refused("a `SimpleNamespace`", "save `vars(…)` of it", _HOLDING),
    "random.Random": Refused("a generator of random numbers", "save its `getstate()`"),
    "type": Refused("a class", "save its name", "it"),
    "range": Refused("a `range`", "save `list(…)` of it"),
    "torch.Generator": Refused("a `Generator`", "save its `get_state()`"),
}
"""What `weights_only=True` refuses, by what makes it; a test asks torch."""
_VERSION = Refused("`torch.__version__`, a `TorchVersion`", "save `str(torch.__version__)`")
_VERSIONS = frozenset({"torch.__version__", "torch.torch_version.__version__"})
"""Names of the release, which is no plain text; what is made of it (`split`, a part, an f-string) is one."""
_PYTHONS = frozenset({"numpy.shape", "numpy.ndim", "numpy.size", "numpy.allclose", "numpy.array_equal"})
"""Functions of NumPy whose results are Python's own."""
_HOLDS = frozenset({"dict", "list", "tuple", "set", "collections.OrderedDict", "collections.Counter"})
_FILLED = _HOLDS - {"tuple", "set"} | {"collections.defaultdict", "collections.deque"}
"""What a pickle fills after it has made it."""
_SAME = frozenset({"copy.copy", "copy.deepcopy"})
_DEPTH = 6
"""Names that are followed one after the other."""


class _Words:
    """What the words of a file stand for: its imports, its classes and functions; and what a node stands in."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {part: node for node in walk(self.tree) for part in children(node)}

    def function_around(self, node: ast.AST) -> ast.AST:
        """The innermost function that a node stands in, or the file."""
        while node is not self.tree:
            node = self._parents[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
        return node

    def _is_asked(self, node: ast.AST) -> bool:
        return _is_asked(node, self._parents[node])

    @cached_property
    def _names(self) -> dict[str, str]:
        """What the file imports, by the name it has there; and what it calls by another name: `put = torch.save`."""
        found: dict[str, str] = {}
        for node in self._parents:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    found[alias.asname or first] = alias.name if alias.asname else first
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
        for each in self.tree.body:
            if (
                isinstance(each, ast.Assign)
                and len(each.targets) == 1
                and isinstance(each.value, (ast.Attribute, ast.Name))
            ):
                target, named = each.targets[0], ast.unparse(each.value)
                first, dot, rest = named.partition(".")
                if isinstance(target, ast.Name) and first in found:
                    found.setdefault(target.id, f"{found[first]}{dot}{rest}")
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
    def _called(self) -> set[str]:
        """Attributes of `self` that the file calls."""
        calls = (node.func for node in self._parents if isinstance(node, ast.Call))
        return {ast.unparse(each) for each in calls if isinstance(each, ast.Attribute) and _is_of_self(each)}

    @cached_property
    def _functions(self) -> dict[str, ast.FunctionDef]:
        return {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}


class Contents(_Words):
    """What the expressions of a file hold that is refused."""

    @cached_property
    def _stateful(self) -> dict[str, Refused]:
        """What the file elsewhere asks for its parameters, or its state."""
        found: dict[str, Refused] = {}
        for node in self._parents:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OF_OBJECTS:
                words = ast.unparse(node.func.value)
                if self._is_tried(node, words):
                    continue
                found[words] = MODULE if node.func.attr in OF_MODULES else found.get(words, OBJECT)
        return found

    def _is_tried(self, node: ast.AST, words: str) -> bool:
        """Whether what a node does to something is done only where that is of a kind, in its function."""
        around = self.function_around(node)
        while node is not around:
            part, node = node, self._parents[node]
            if isinstance(node, (ast.If, ast.IfExp)) and part is not node.test and words in _asked_in(node.test):
                return True
            if isinstance(node, ast.Try) and part in node.body and "AttributeError" in _caught(node):
                return True
        return False

    @cached_property
    def _objects(self) -> set[str]:
        return _read_as_objects(self._parents)

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

    def _refused(self, node: ast.AST, around: ast.AST, line: int, depth: int = _DEPTH) -> Refused | None:
        """What an expression of a function holds that is refused; None if nothing is known to be."""
        if not depth:
            return None
        if isinstance(node, (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.IfExp, ast.Starred, ast.BoolOp)):
            parts = [part for part in children(node) if isinstance(part, ast.expr)]
            if isinstance(node, ast.Dict):
                parts = [*node.values]
            elif isinstance(node, ast.IfExp):  # what is asked for its kind may be any
                parts = [each for each in (node.body, node.orelse) if ast.unparse(each) not in _asked_in(node.test)]
            return self._first(parts, around, line, depth)
        if isinstance(node, ast.Lambda):
            return Refused("a function", "save what it is made from", "")
        if isinstance(node, ast.Call):
            return self._of_call(node, around, line, depth)
        if isinstance(node, ast.Attribute) and self._is_enum(node.value):
            return _MEMBER
        if isinstance(node, ast.Attribute) and node.attr == "__class__":
            return MADE["type"]
        if isinstance(node, (ast.Name, ast.Attribute)):
            return _VERSION if self._full(node) in _VERSIONS else self._of_name(node, around, line, depth)
        return None

    def _first(self, parts: list[ast.expr], around: ast.AST, line: int, depth: int) -> Refused | None:
        return next((found for part in parts if (found := self._refused(part, around, line, depth))), None)

    def _of_call(self, call: ast.Call, around: ast.AST, line: int, depth: int) -> Refused | None:
        name = self._full(call.func)
        given = [*call.args, *(each.value for each in call.keywords)]
        if name in MADE:
            return MADE[name]
        if name.startswith("numpy.") and name not in _PYTHONS:
            return _NUMPY
        if name in _SAME:
            return self._first(given, around, line, depth - 1)
        if name in _HOLDS:  # a container made of another one is not that one
            written = [each for each in call.args if isinstance(each, (ast.Dict, ast.List, ast.Tuple, ast.Set))]
            return self._first([*written, *(each.value for each in call.keywords)], around, line, depth - 1)
        if name in self._classes:
            return self._of_class(self._classes[name])
        if isinstance(call.func, ast.Name) and name in self._functions and depth:
            made = self._functions[name]
            returned = [node.value for node in walk(made) if isinstance(node, ast.Return) and node.value is not None]
            own = [value for value in returned if self.function_around(value) is made and ast.unparse(value) != "None"]
            reasons = [self._refused(value, made, value.lineno, depth - 1) for value in own]
            return reasons[0] if reasons and all(reasons) else None  # one that is loaded leaves it open
        if self._is_layer(name):
            return MODULE
        if name.startswith("torch.optim.") and name.rpartition(".")[2][:1].isupper():
            return OBJECT
        if isinstance(call.func, ast.Attribute):
            if call.func.attr == "numpy" and not given:
                return _NUMPY
            if call.func.attr == "parse_args":
                return MADE["argparse.Namespace"]
        return None

    def _is_layer(self, name: str) -> bool:
        module, _, last = name.rpartition(".")
        return module == "torch.nn" and last[:1].isupper() and last not in ("Parameter", "Buffer")

    def _of_class(self, made: ast.ClassDef) -> Refused | None:
        bases = {self._full(base) for base in made.bases}
        if any(base.rpartition(".")[2] in ("Module", "LightningModule") for base in bases):
            return MODULE
        if bases & {"typing.TypedDict", "typing_extensions.TypedDict", "torch.Tensor"} or made.keywords:
            return None
        filled = bool(bases & _FILLED)  # item by item, which nothing that is allowed may be
        return Refused(f"an object of `{made.name}`", PLAIN, "" if filled else _HOLDING)

    def _is_enum(self, node: ast.AST) -> bool:
        made = self._classes.get(node.id) if isinstance(node, ast.Name) else None
        return made is not None and any(self._full(base).startswith("enum.") for base in made.bases)

    def _of_name(self, node: ast.Name | ast.Attribute, around: ast.AST, line: int, depth: int) -> Refused | None:
        words = ast.unparse(node)
        if words == "self":
            return Refused("a whole object", "save its `state_dict()`, or its plain values", _HOLDING)
        local = isinstance(node, ast.Name)
        values = [(at, value) for where, at, value in self._bound.get(words, ()) if not local or where is around]
        last = max((each for each in values if each[0] <= line), key=lambda each: each[0], default=None)
        if not local and words in self._called:
            return Refused("a function, or what is called like one", "save what it is made from", "it, or its class,")
        if words in self._stateful and not (local and last is not None and is_state(last[1])):
            return self._stateful[words]
        if not local and words in self._objects:
            return Refused("an object", PLAIN, _HOLDING)
        stored = [value for where, _, value in self._bound.get(f"{words}[]", ()) if where is around]
        found = self._first(stored, around, line, depth - 1)
        if found is not None:
            return found
        if not values:
            return self._of_parameter(node, around, depth) if isinstance(node, ast.Name) else None
        if local and last is not None and is_start(last[1]):  # in a loop, what it is given after it, too
            later = [(at, value) for at, value in values if at > line and self._is_in_one_loop(node, value)]
            last = min(later, key=lambda each: each[0], default=last)
        if local:  # what it was given last counts
            return None if last is None else self._refused(last[1], around, last[0] - 1, depth - 1)
        every = self._bound.get(words, ())
        said = [(where, value) for where, _, value in every if not (is_start(value) or self._is_restored(value, where))]
        reasons = [self._refused(value, where, value.lineno, depth - 1) for where, value in said]
        return reasons[0] if reasons and all(reasons) else None

    def _is_restored(self, value: ast.expr, around: ast.AST) -> bool:
        """Whether a value of a function is an entry of what `torch.load` gives: it was saved before."""
        if not isinstance(value, ast.Subscript):
            return False
        of = value.value
        values = [of]
        if isinstance(of, ast.Name):
            values = [each for where, _, each in self._bound.get(of.id, ()) if where is around]
        return bool(values) and all(
            isinstance(each, ast.Call) and self._full(each.func) == "torch.load" for each in values
        )

    def _is_in_one_loop(self, node: ast.AST, other: ast.AST) -> bool:
        """Whether a loop of a function goes through two nodes."""
        around = self.function_around(node)
        while node is not around:
            node = self._parents[node]
            if isinstance(node, (ast.For, ast.While)) and any(each is other for each in walk(node)):
                return True
        return False

    def _of_parameter(self, node: ast.Name, around: ast.AST, depth: int) -> Refused | None:
        """What the annotation of a parameter says, or that the function reads what no plain value has."""
        parameter = next(_parameters(node.id, around), None)
        if parameter is None:
            return None
        said = "" if parameter.annotation is None else self._full(parameter.annotation)
        if said in self._classes:
            made = self._classes[said]
            enum = any(self._full(base).startswith("enum.") for base in made.bases)
            return _MEMBER if enum else self._of_class(made)
        if said in MADE:
            return MADE[said]
        if said == "numpy.ndarray":
            return _NUMPY
        if said == "torch.nn.Module":
            return MODULE
        inside = [part for part in walk(around) if isinstance(part, ast.Name) and part.id == node.id]
        if any(map(self._is_asked, inside)) or any(isinstance(part.ctx, ast.Store) for part in inside):
            return None
        if any(map(self._reads_a_field, inside)):
            return Refused("an object", PLAIN, _HOLDING)
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

    def _reads_a_field(self, node: ast.Name) -> bool:
        """Whether an attribute is read, and not called, that neither a tensor nor a plain value has."""
        field = self._parents[node]
        if not isinstance(field, ast.Attribute) or is_of_values(field.attr):
            return False
        user = self._parents[field]
        return not (isinstance(user, ast.Call) and user.func is field)


def _parameters(name: str, around: ast.AST) -> Iterator[ast.arg]:
    if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        given = around.args
        for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
            if each.arg == name:
                yield each


def _is_asked(node: ast.AST, user: ast.AST) -> bool:
    """Whether the program asks itself what a value is: then it takes more than one kind."""
    if not (isinstance(user, ast.Call) and isinstance(user.func, ast.Name)):
        return False
    return node in user.args and user.func.id in ("isinstance", "hasattr", "type", "getattr")


def _read_as_objects(parents: Mapping[ast.AST, ast.AST]) -> set[str]:
    """
    Attributes of `self` of which a file reads what no plain value has, and whose kind it never asks: who takes one
    field of it, or else a default (`getattr(self.encoder, "scale", 1)`), asks whether that field is there.
    """
    read: dict[str, set[str]] = {}
    defaulted: dict[str, set[str]] = {}
    asked = set[str]()
    for node, user in parents.items():
        if isinstance(node, ast.Attribute) and _is_of_self(node):
            if isinstance(user, ast.Attribute) and isinstance(user.ctx, ast.Load) and not is_of_values(user.attr):
                read.setdefault(ast.unparse(node), set()).add(user.attr)
            elif field := _defaulted(user):
                defaulted.setdefault(ast.unparse(node), set()).add(field)
            elif _is_asked(node, user):
                asked.add(ast.unparse(node))
    return {each for each, fields in read.items() if fields - defaulted.get(each, set())} - asked


_WITH_DEFAULT = 3
"""Arguments of `getattr` that has an answer where there is no such field."""


def _defaulted(user: ast.AST) -> str:
    """The field, one that no plain value has, that `getattr` takes of something, or else a default; "" of all else."""
    if not (isinstance(user, ast.Call) and isinstance(user.func, ast.Name) and user.func.id == "getattr"):
        return ""
    field = user.args[1] if len(user.args) == _WITH_DEFAULT else None
    text = field.value if isinstance(field, ast.Constant) and isinstance(field.value, str) else ""
    return "" if is_of_values(text) else text


def _is_of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def is_start(value: ast.AST) -> bool:
    """Whether a value is what something begins with before it is measured: None, a number, an infinity."""
    if isinstance(value, ast.UnaryOp):
        return is_start(value.operand)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "float" and all(map(is_start, value.args))
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Attribute) and value.attr in ("inf", "nan", "Inf"))


def _asked_in(test: ast.AST) -> set[str]:
    """The words of what a test asks for its kind."""
    return {
        ast.unparse(each)
        for call in walk(test)
        if isinstance(call, ast.Call)
        for each in call.args
        if _is_asked(each, call)
    }


def _caught(node: ast.Try) -> set[str]:
    """What a `try` handles, by the words."""
    kinds = (each.type for each in node.handlers)
    parts = [
        part for each in kinds if each is not None for part in (each.elts if isinstance(each, ast.Tuple) else [each])
    ]
    return {ast.unparse(each) for each in parts}


def is_of_values(name: str) -> bool:
    """Whether tensors, what torch makes of them, or plain values have an attribute of that name."""
    return name in _OF_VALUES or is_tensor_method(name)


def is_state(node: ast.expr) -> bool:
    """Whether a value is what `state_dict()` gives, or whatever else a call of another method does."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict"
