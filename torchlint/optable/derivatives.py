"""
The part of the operation table that can be read: torch's own derivatives.yaml, through torch's own generator.

`torchgen/packaged/autograd` lies in every torch wheel and holds the generator that writes VariableType.cpp. Its
`load_derivatives` already tells saved tensors from saved sizes and options; what it leaves to `gen_variable_type.py`
(when a save is guarded, what an in-place form saves) is repeated here after that file. Nothing is run.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

# Bound by hand in torch/csrc/autograd/python_variable_methods.cpp, so the generator of the bindings leaves them out.
HAND_BOUND_METHODS: Mapping[str, str] = {
    "contiguous": "contiguous",
    "copy_": "copy_",
    "item": "item",
    "numpy_T": "T",
    "mT": "mT",
    "mH": "mH",
    "matrix_H": "H",
}

# `numbers are allowed for tensors` in torch/csrc/utils/python_arg_parser.cpp, `should_allow_numbers_as_tensors`.
TAKES_NUMBERS = frozenset(
    f"{name}{suffix}"
    for name in ("add", "sub", "mul", "div", "subtract", "multiply", "divide", "true_divide", "floor_divide", "copy")
    for suffix in ("", "_")
)

# Nodes of VariableTypeManual.cpp; they save nothing.
MANUAL_NODES: Mapping[str, str] = {"copy": "CopyBackwards"}

# Outputs that hold whole numbers: autograd asks their dtype at run time, the yaml only sometimes says so.
INTEGRAL = frozenset({"indices", "max_indices", "min_indices", "pivots", "info"})
INTEGRAL_RESULTS = frozenset({"nonzero_static", "randint_like"})

# Share memory with their input, but not its version counter, and autograd takes them for copies.
UNSAFE_VIEWS = frozenset({"unsafe_split", "unsafe_split_with_sizes"})

# Change a tensor's size or storage under autograd's feet; nothing is claimed of them.
UNTOLD = frozenset({"resize", "resize_as", "resize_as_sparse", "set"})


Condition: TypeAlias = "tuple[str, bool, object]"
"""A feature of the arguments ("training", "self.rank"), whether it is or is not, and the value."""


@dataclass(slots=True)
class Record:
    """
    One overload as the table keeps it; texts in the notation of `torchlint.knowledge.ops.find`.

    `composite`: implemented by other differentiable operations, so nothing about saving is known before it is run.
    `perhaps`: parameters that are differentiable under some argument values only. `when`: for which arguments the
    facts hold; `defaults`: the values of those that are left out.
    """

    name: str
    parameters: str
    node: str = ""
    differentiable: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()
    saves: tuple[str, ...] = ()
    holds: str = "no"
    writes: tuple[str, ...] = ()
    returns_self: bool = False
    aliases: tuple[str, ...] = ()
    view: str = ""
    outputs: str = "d"
    sequence: bool = False
    cuts: bool = False
    probed: bool = False
    composite: bool = False
    schema: str = ""
    when: tuple[Condition, ...] = ()
    defaults: dict[str, object] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """
        What is written into the table: what differs from the defaults of the reader.
        `opaque`: composite and never run, so that nothing but its parameters is known.
        """
        words = {
            "parameters": self.parameters,
            "node": self.node,
            "differentiable": " ".join(self.differentiable),
            "perhaps": " ".join(self.perhaps),
            "saves": " ".join(self.saves),
            "writes": " ".join(self.writes),
            "aliases": " ".join(self.aliases),
            "view": self.view,
        }
        entry: dict[str, Any] = {"name": self.name} | {key: text for key, text in words.items() if text}
        if self.holds != "no":
            entry["holds"] = self.holds.rstrip("?")
        if self.outputs != "d":
            entry["outputs"] = self.outputs
        for flag in ("returns_self", "sequence", "cuts", "probed"):
            if getattr(self, flag):
                entry[flag] = True
        if self.composite and not self.probed:
            entry["opaque"] = True
        if self.when:
            entry["when"] = [list(condition) for condition in self.when]
            used = {feature.partition(".")[0] for feature, _, _ in self.when}
            entry["defaults"] = {name: value for name, value in self.defaults.items() if name in used}
        return entry


@dataclass(slots=True)
class Native:
    """
    Everything the yaml files say, by the way Python binds it.

    Attributes
    ----------
    methods
        `torch.Tensor` methods by name, overloads in the order of torch's argument parser.
    functions
        By Python module as the yaml names it ("" for `torch`, "nn", "special", "linalg", "fft") and native name.
    indexing
        The records behind `x[i]` and `x[i] = v`.
    """

    methods: dict[str, list[Record]] = field(default_factory=dict)
    functions: dict[str, dict[str, list[Record]]] = field(default_factory=dict)
    indexing: dict[str, list[Record]] = field(default_factory=dict)


def read_native() -> Native:
    """
    Reads native_functions.yaml, derivatives.yaml and deprecated.yaml of the installed torch.

    Raises
    ------
    ModuleNotFoundError
        if no torch is installed (torchgen comes with it).
    """
    import torchgen
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.gen import parse_native_yaml
    from torchgen.packaged.autograd import gen_python_functions as bindings
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    root = Path(torchgen.__file__).parent / "packaged"
    native_yaml, tags_yaml = (str(root / "ATen" / "native" / name) for name in ("native_functions.yaml", "tags.yaml"))
    functions = list(parse_native_yaml(native_yaml, tags_yaml).native_functions)
    infos, _ = load_derivatives(str(root / "autograd" / "derivatives.yaml"), native_yaml, tags_yaml)
    facts = {str(fn.func.func): fn for fn in match_differentiability_info(functions, infos)}

    native = Native()
    deprecated = str(root / "autograd" / "deprecated.yaml")
    bound = [f for f in functions if bindings.should_generate_py_binding(f) or str(f.func.name) in HAND_BOUND_METHODS]
    for method in (True, False):
        pairs = bindings.load_signatures(bound, deprecated, method=method)
        pairs = [pair for pair in pairs if "Dimname" not in str(pair.function.func)]
        chosen: dict[tuple[str, str], list[Any]] = {}
        for pair in pairs:
            f = pair.function
            name = str(f.func.name.name)
            if method:
                if name in HAND_BOUND_METHODS or bindings.is_py_variable_method(f):
                    chosen.setdefault(("", HAND_BOUND_METHODS.get(name, name)), []).append(pair)
            elif f.python_module is not None or bindings.is_py_torch_function(f):
                chosen.setdefault((f.python_module or "", name), []).append(pair)
        for (module, name), overloads in chosen.items():
            records = [_record(group, facts, method) for group in bindings.group_overloads(overloads)]
            if method:
                native.methods[name] = records
            else:
                native.functions.setdefault(module, {})[name] = records
    native.indexing = dict(_indexing(facts))
    return native


def _record(group: Any, facts: Mapping[str, Any], method: bool) -> Record:
    fn = facts[str(group.base.func)]
    record = record_of(fn)
    name = str(group.base.func.name.name)
    record.parameters = _parameters(group.signature, name, method)
    record.defaults = _defaults(group.signature)
    if group.outplace is not None:
        record.writes = (*record.writes, "out")
    return record


def record_of(fn: Any) -> Record:
    """The facts of one `NativeFunctionWithDifferentiabilityInfo`, without its parameters."""
    from torchgen.api import cpp
    from torchgen.api.autograd import gen_differentiable_outputs
    from torchgen.context import native_function_manager
    from torchgen.model import SchemaKind
    from torchgen.packaged.autograd.gen_inplace_or_view_type import VIEW_FUNCTIONS
    from torchgen.packaged.autograd.gen_trace_type import MANUAL_AUTOGRAD
    from torchgen.packaged.autograd.gen_variable_type import DONT_REQUIRE_DERIVATIVE

    f = fn.func
    schema = f.func
    base = schema.name.name.base
    inplace = schema.kind() == SchemaKind.inplace
    info = (fn.info or {}).get("Default")
    derived = info is not None and info.has_derivatives
    writes = tuple(a.name for a in schema.arguments.flat_non_out if a.is_write)
    record = Record(name=base, parameters="", writes=writes, returns_self=inplace, schema=str(schema))
    record.sequence = len(schema.returns) == 1 and "[]" in str(schema.returns[0].type)
    record.composite = f.has_composite_implicit_autograd_kernel or base in UNTOLD
    tensors = [r.type.is_tensor_like() for r in schema.returns]
    if not any(tensors) and not writes and schema.returns:
        record.composite, record.outputs = False, ""
        return record
    if record.composite:
        return record

    aliased = [a.name for a in schema.arguments.flat_non_out if a.annotation is not None and not a.is_write]
    record.aliases = tuple(aliased) if any(r.annotation is not None and not r.is_write for r in schema.returns) else ()
    if base in UNSAFE_VIEWS:
        record.aliases = ("self?",)
    undifferentiable = base in DONT_REQUIRE_DERIVATIVE or str(schema.name.name) in DONT_REQUIRE_DERIVATIVE
    differentiable: set[str] = set()
    if not undifferentiable and (fn.info is None or "Default" in fn.info):
        with native_function_manager(f):
            differentiable = {output.name for output in gen_differentiable_outputs(fn)}
    outputs = [
        tensor and name in differentiable and name not in INTEGRAL and base not in INTEGRAL_RESULTS
        for tensor, name in zip(tensors, cpp.return_names(f), strict=True)
    ]
    record.outputs = "".join("d" if output else "-" for output in outputs) if any(tensors) else ""
    inputs = [a.name for a in schema.arguments.flat_non_out if a.type.is_tensor_like()]
    manual = str(schema.name.name) in MANUAL_AUTOGRAD
    if base == "detach":
        record.cuts = True
        record.outputs = "-"
    elif any(outputs) and not undifferentiable and (inputs or writes):
        names = (
            {name for d in info.derivatives for name in d.var_names} if info is not None and derived else set(inputs)
        )
        skipped = set(info.non_differentiable_arg_names) if info is not None else set()
        record.differentiable = tuple(name for name in inputs if name in names - skipped)
        if derived:
            _fill_saves(record, f, info, inplace)
        elif record.differentiable:
            record.node = MANUAL_NODES.get(base, "") if manual else "NotImplemented"
    if record.differentiable and record.aliases and base in VIEW_FUNCTIONS:
        record.view = "multi" if record.sequence else "view"
    record.cuts = bool(inputs) and any(tensors) and not inplace and not record.differentiable
    return record


def _saved_name(saved: Any) -> str:
    return str(saved.nctype.name)


def _fill_saves(record: Record, f: Any, info: Any, inplace: bool) -> None:
    from torchgen.api.types import BaseCType, ListCType, OptionalCType, iTensorListRefT, tensorListT, tensorT

    plain = BaseCType(tensorT)
    kept = (
        plain,
        OptionalCType(plain),
        BaseCType(tensorListT),
        BaseCType(iTensorListRefT),
        ListCType(OptionalCType(plain)),
    )
    order = [a for a in f.func.arguments.flat_non_out if a.name in record.differentiable]
    record.node = info.op or ""
    guards: list[tuple[str, ...] | None] = []
    saves: list[str] = []
    # as the node unpacks them (gen_autograd_functions.py): of two that were overwritten torch names the first
    for saved in sorted(info.all_saved_inputs, key=_saved_name):
        if saved.nctype.type not in kept:
            continue
        guard, expressible = _guard(saved, info, order, plain)
        name = str(saved.nctype.name)
        # An optional tensor that is not given is not saved either, so it alone proves nothing about a second backward.
        guards.append(guard if saved.nctype.type == plain or "List" in str(saved.nctype.type) else None)
        if inplace and name == "self":
            continue
        text = name + ("@" + ",".join(guard) if guard else "")
        saves.append(text if expressible else text + "?")
    returned = [
        r.name or ("result" if len(f.func.returns) == 1 else f"result{at}") for at, r in enumerate(f.func.returns)
    ]
    for saved in sorted(info.all_saved_outputs, key=_saved_name):
        if saved.nctype.type not in kept:
            continue
        name = saved.nctype.name if isinstance(saved.nctype.name, str) else saved.nctype.name.name
        at = returned.index(name) if name in returned else 0
        saves.append("result" if len(returned) == 1 else f"result{at}")
        guards.append(())
    record.saves = tuple(saves)
    known = [guard for guard in guards if guard is not None]
    if not guards:
        record.holds = "no"
    elif any(not guard for guard in known) or all(any(a.name in guard for guard in known) for a in order):
        record.holds = "yes"
    else:
        record.holds = "maybe"


def _guard(saved: Any, info: Any, order: Sequence[Any], plain: Any) -> tuple[tuple[str, ...], bool]:
    """
    Under which of its inputs' `requires_grad` a save is made, and whether that is all there is to it: `guard_for` in
    gen_variable_type.py.
    """
    name = str(saved.nctype.name)
    if any("[]" in str(a.type) for a in order) or "backward" in info.name:
        return (), True
    if len(order) <= 1 or saved.nctype.type != plain:
        return (), True
    used_in = [d for d in info.derivatives if saved in d.saved_inputs]
    if len(used_in) != 1:
        return (), True
    derivative = used_in[0]
    if len(derivative.var_names) == 1:
        return (derivative.var_names[0],), True
    wrapped = re.search(rf"wrap_opt_if\({re.escape(name)},(.*?)\)", derivative.formula)
    if wrapped is None:
        return (), True
    condition = wrapped.group(1)
    edges = [int(index) for index in re.findall(r"grad_input_mask\[(\d+)\]", condition)]
    rest = re.sub(r"grad_input_mask\[\d+\]|\|\||\s", "", condition)
    return tuple(order[edge].name for edge in edges), not rest


def _indexing(facts: Mapping[str, Any]) -> Iterator[tuple[str, list[Record]]]:
    by_name = {str(fn.func.func.name): fn for fn in facts.values()}
    basic = record_of(by_name["select.int"])
    basic.name, basic.node, basic.parameters = "getitem", "", "self:tensor index:other|none"
    yield "getitem.basic", [basic]
    advanced = record_of(by_name["index.Tensor"])
    advanced.parameters = "self:tensor indices:tensors|none"
    yield "getitem.advanced", [advanced]
    assign = record_of(by_name["copy_"])
    assign.name, assign.parameters = "setitem", "self:tensor index:other|none src:tensor|number"
    yield "setitem.basic", [assign]
    put = record_of(by_name["index_put_"])
    put.name, put.parameters = "setitem", "self:tensor indices:tensors|none values:tensor|number"
    yield "setitem.advanced", [put]


# ---- parameters --------------------------------------------------------------------------------------------------


def _parameters(signature: Any, name: str, method: bool) -> str:
    positional = list(signature.input_args)
    keyword_only = [*signature.input_kwargs, *_outputs(signature), *signature.tensor_options_args]
    words = ["self:tensor"] if method else []
    for at, argument in enumerate(positional):
        varargs = len(positional) == 1 and re.fullmatch(r"(Sym)?[iI]nt\[\]\??", str(argument.type)) is not None
        words.append(("*" if varargs and at == 0 else "") + _parameter(argument, name))
    if keyword_only:
        words.append("*")
        words.extend(_parameter(argument, name) for argument in keyword_only)
    return " ".join(words)


def _defaults(signature: Any) -> dict[str, object]:
    """Defaults that a condition of the table may name: literals of Python."""
    found: dict[str, object] = {}
    for argument in (*signature.input_args, *signature.input_kwargs):
        if argument.default is not None:
            with contextlib.suppress(ValueError, SyntaxError):
                found[argument.name] = ast.literal_eval(str(argument.default))
    return found


def _outputs(signature: Any) -> Iterable[Any]:
    """`out=` is one parameter in Python even where torch has several outputs."""
    return () if signature.output_args is None else (signature.output_args,)


def _parameter(argument: Any, name: str) -> str:
    kind = (
        "tensors" if hasattr(argument, "outputs") and len(argument.outputs) > 1 else parameter_kind(str(argument.type))
    )
    optional = argument.default is not None
    nullable = str(argument.type).endswith("?") or argument.default == "None"
    wraps = kind == "tensor" and name in TAKES_NUMBERS and argument.name != "self"
    parts = [f"{argument.name}:{kind}", "none" if nullable else "", "number" if wraps else ""]
    return "|".join(part for part in parts if part) + ("=" if optional else "")


def parameter_kind(schema_type: str) -> str:
    """The table's word for a type of torch's schema language (`Tensor?`, `SymInt[2]`, `Scalar`, ...)."""
    bare = re.sub(r"\(.*?\)", "", schema_type).rstrip("?")
    if bare in ("Tensor", "Tensor[]", "Tensor?[]"):
        return "tensor" if bare == "Tensor" else "tensors"
    if re.fullmatch(r"(Sym)?[iI]nt\[\d*\]", bare):
        return "ints"
    if bare in ("int", "SymInt"):
        return "int"
    words = {"Scalar": "number", "float": "number", "bool": "bool", "str": "str", "ScalarType": "dtype"}
    return words.get(bare, "other")
