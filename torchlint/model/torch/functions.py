"""
Calls into torch: functions, tensor methods and attributes, layers, optimizers, `torch.autograd`.

What a plain operation does is left to `operations`; here is what is special in Python's torch: aliases (`detach`,
`.data`,
`numpy()`), `requires_grad_`, backward passes, creation, `nn.Module` layers, optimizers, `.grad`. What is not known
returns None,
and the caller treats it as unknown code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import libcst as cst

from torchlint.knowledge.factories import find as factories
from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.modules import optimizers
from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.backward import Root
from torchlint.model.autograd.record import is_none
from torchlint.model.events import BackwardCalled, BackwardCallee, GradWrite, GradWritten, Refusal, Shape, TensorFacts
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    NONE,
    Choice,
    Constant,
    External,
    Grad,
    GradModeGuard,
    GraphNode,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Use,
    Value,
    alternatives,
    choose,
    explore,
    fits,
    made_of,
    may_be_tensor,
    parts,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.contractions import FOLLOWED, ContractionMachine
from torchlint.model.torch.operations import CASTS as _CASTS
from torchlint.model.torch.operations import class_of, precise_dtype
from torchlint.syntax import ir

Options: TypeAlias = "list[tuple[Guard, Tensor]]"


@dataclass(slots=True, eq=False)
class CallSite:
    """
    A call with its arguments evaluated. `complete` is False when `*args` or `**kwargs` of unknown content are passed.
    """

    node: ir.Call
    positional: list[Value]
    keywords: dict[str, Value]
    arguments: dict[int | str, ir.Argument] = field(default_factory=dict)
    complete: bool = True
    tail: Value | None = None
    """The last of `*args` whose number is unknown."""

    def get(self, position: int, keyword: str) -> Value | None:
        """The argument at a position or under a keyword."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[position] if 0 <= position < len(self.positional) else None

    def argument(self, position: int, keyword: str) -> ir.Argument | None:
        """The written argument."""
        return self.arguments.get(keyword) or self.arguments.get(position)

    def values(self) -> list[Value]:
        """All of them."""
        return [*self.positional, *self.keywords.values()]


@dataclass(slots=True, eq=False)
class _Opaque:
    """A call of a layer that is not followed: the tensors it is given, those it owns, requires_grad of its results."""

    module: Module
    site: CallSite
    given: list[tuple[Guard, Tensor]]
    owned: list[Tensor]
    own: Grad
    core: GraphNode | None = None


def truth_of(value: Value | None, default: Truth = Truth.MAYBE) -> Truth:
    """The truth of a value as a condition."""
    if value is None:
        return default
    if isinstance(value, Constant):
        return Truth.of(bool(value.value))
    if isinstance(value, Choice):
        joined = truth_of(value.alternatives[0][1])
        for _, each in value.alternatives[1:]:
            joined = joined.join(truth_of(each))
        return joined
    return Truth.MAYBE


_CONVERSIONS = {
    "float": "float", "double": "float", "half": "float", "bfloat16": "float", "int": "int", "long": "int",
    "short": "int", "char": "int", "byte": "int", "bool": "bool", "cfloat": "complex", "cdouble": "complex",
}  # fmt: skip
_GRAD_MODES = {
    "torch.no_grad": Truth.NO, "torch.autograd.no_grad": Truth.NO, "torch.autograd.grad_mode.no_grad": Truth.NO,
    "torch.inference_mode": Truth.NO, "torch.autograd.inference_mode": Truth.NO,
    "torch.enable_grad": Truth.YES, "torch.autograd.enable_grad": Truth.YES,
}  # fmt: skip
_SET_GRAD = frozenset({"torch.set_grad_enabled", "torch.autograd.set_grad_enabled"})
_SIZES = frozenset(
    {
        "size",
        "dim",
        "numel",
        "nelement",
        "ndimension",
        "element_size",
        "stride",
        "storage_offset",
        "get_device",
        "is_contiguous",
        "is_floating_point",
        "is_complex",
        "data_ptr",
        "__len__",
    }
)
_IN_PLACE_OPERATORS = {
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_",
}  # fmt: skip
_RECURRENT = ("LSTM", "GRU", "RNN")
_NOTHING = frozenset({"register_hook", "retain_grad", "register_post_accumulate_grad_hook", "share_memory_"})
_PYTHON = frozenset({"item", "tolist"})
_ITEM = "`.item()` returns a number"
_ARRAYS = frozenset({"numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray"})
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_VARIABLES = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})


class TorchMachine(ContractionMachine):
    """A machine that knows Python's torch."""

    default_training = Truth.YES
    """The mode of a module that nobody has switched: training while the script runs; unknown in what it defines."""
    switched: list[Module | Instance]
    """The modules whose mode was set."""

    # -- attributes of tensors

    def tensor_attribute(self, tensor: Tensor, name: str, origin: ir.Node) -> Value | None:
        """`tensor.name`, if it is not a method."""
        if name == "grad":
            grad = tensor.grad
            for _, each in alternatives(grad):
                if isinstance(each, Unknown):
                    each.hint = ""
                    self.materialise(each).grad_of = tensor
            return grad
        if name == "data":
            data = self.detached(tensor, origin, ".data", own_counter=True)
            data.grad_of = tensor.grad_of
            data.name = tensor.name
            return data
        if name == "shape":
            return self.shape_value(tensor)
        if name == "requires_grad":
            truth = tensor.requires_grad.truth()
            return Scalar("bool") if truth is Truth.MAYBE else Constant(truth is Truth.YES)
        if name == "is_leaf":
            return Scalar("bool") if tensor.is_leaf is Truth.MAYBE else Constant(tensor.is_leaf is Truth.YES)
        if name == "ndim":
            return Constant(len(tensor.shape)) if tensor.shape is not None else Scalar("int")
        if name == "grad_fn":
            return Unknown()
        if name == "dtype" and self.by_default and (dtype := self.dtype_of(tensor)):
            return External(dtype)
        if name in ("dtype", "device", "layout", "is_cuda", "is_sparse", "names", "itemsize"):
            return Scalar("other")
        if name in ("T", "mT", "H", "mH", "real", "imag"):
            return self.apply(f"torch.Tensor.{name}", [tensor], {}, origin, name) or Unknown([tensor])
        return None

    def shape_value(self, tensor: Tensor) -> Value:
        """`tensor.shape`, `tensor.size()`: a tuple of sizes."""
        if tensor.shape is None:
            return Sequence("tuple", None, Scalar("int"))
        return Sequence("tuple", tuple(Constant(size) if size is not None else Scalar("int") for size in tensor.shape))

    # -- methods of tensors

    def tensor_method(self, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value | None:
        """`tensor.name(...)`."""
        node = site.node
        name = _IN_PLACE_OPERATORS.get(name, name)
        if name == "backward":
            return self._backward_method(tensor, site, receiver)
        if name in ("detach", "numpy", "__array__") or (name == "detach_"):
            return self._cutting_method(tensor, name, site, receiver)
        if name == "requires_grad_":
            for hook in self.watch.required_grad:
                hook(tensor, site.get(0, "requires_grad"), "requires_grad_", node)
            self.require_grad(tensor, truth_of(site.get(0, "requires_grad"), Truth.YES), "requires_grad_")
            return tensor
        if name in ("zero_", "fill_") and tensor.grad_of is not None:
            self.grad_written(tensor, "zero_" if name == "zero_" else self._fill(site), site.node, tensor.grad_of)
        if name in ("retain_grad", "register_hook"):
            wanted: Refusal = "retain-grad" if name == "retain_grad" else "hook"
            self.refuse(wanted, name, tensor, node, ~tensor.requires_grad.truth(), _cst(receiver), self.text(receiver))
            if name == "register_hook" or (tensor.grad_fn and not tensor.retains_grad):
                self.regenerate(tensor)  # both ask for the grad_fn; of a leaf, or a second time, `retain_grad` does not
        if name == "retain_grad":
            self.trail.set(tensor, "retains_grad", True)
            return NONE
        if name == "register_hook":
            self.trail.set(tensor, "hooked", True)
        if name in _NOTHING:
            return Unknown()
        if name in _PYTHON:
            self.use(tensor, node)
            return self._numbers(tensor.shape, tensor.dtype) if name == "tolist" else Scalar("number", _ITEM)
        if name in _SIZES:
            return self._size_method(tensor, name, site)
        if name in _CONVERSIONS:
            return self._convert(tensor, name, _CONVERSIONS[name], site)
        if name in ("to", "type", "cpu", "cuda", "type_as"):
            return self._move(tensor, name, site)
        if name == "view" and class_of(self._dtype_argument(site)):
            return self._reinterpreted(tensor, self._dtype_argument(site), site)
        factory = factories.find(f"torch.Tensor.{name}")
        if factory is not None:
            return self._create(f"torch.Tensor.{name}", site, [tensor, *site.positional])
        return self.apply(
            f"torch.Tensor.{name}",
            [tensor, *site.positional],
            site.keywords,
            node,
            name,
            target=_cst(receiver),
            name=self.text(receiver),
        )

    def _numbers(self, shape: Shape, dtype: str | None) -> Value:
        """`tolist()`: lists of numbers, nested as the tensor's dimensions are."""
        if shape is None:
            return Unknown()
        if not shape:
            return Scalar(dtype if dtype in ("float", "int", "bool") else "number", _ITEM)
        size, inner = shape[0], self._numbers(shape[1:], dtype)
        return Sequence("list", (inner,) * size) if size is not None and size <= 64 else Sequence("list", None, inner)

    def text(self, expression: ir.Expression) -> str:
        """A short expression as the program writes it, else ""."""
        if isinstance(expression, ir.Name):
            return expression.id
        if isinstance(expression, ir.Attribute):
            inner = self.text(expression.value)
            return f"{inner}.{expression.attr}" if inner else ""
        return ""

    def _fill(self, site: CallSite) -> GradWrite:
        value = site.get(0, "value")
        return "fill" if isinstance(value, Constant) and value.value == 0 else "assign"

    def _cutting_method(self, tensor: Tensor, name: str, site: CallSite, receiver: ir.Expression) -> Value:
        node = site.node
        self.use(tensor, node)
        if name == "detach_":
            viewed = Truth.of(tensor.base is not None)
            self.refuse("detach-view", name, tensor, node, viewed, _cst(receiver), self.text(receiver))
            self.trail.set(tensor, "own", GRAD_NO)
            self.trail.set(tensor, "grad_fn", ())
            self.trail.set(tensor, "cut", "`detach_()` cuts it from the graph")
            return tensor
        if name == "detach":
            detached = self.detached(tensor, node, "detach()")
            detached.grad_of = tensor.grad_of
            return detached
        forced = truth_of(site.get(0, "force"), Truth.NO) if name == "numpy" else Truth.NO
        refused = tensor.requires_grad.truth() & self.grad_mode & ~forced
        self.refuse("numpy", f"{name}()", tensor, node, refused, _cst(receiver), self.text(receiver))
        alias = self.detached(tensor, node, "numpy()", own_counter=True)
        return Unknown([alias], source=node)

    def numpy_call(self, qualified: str, site: CallSite) -> None:
        """A function of NumPy that makes an array of its argument, as `Tensor.numpy()` does."""
        if qualified not in _ARRAYS or not site.positional or 0 not in site.arguments:
            return
        written = site.arguments[0].value
        display = qualified.replace("numpy.", "np.")
        assumed = self.assumed
        for guard, tensor in self._known(site.positional[0]):
            self.assumed = assumed | guard
            refused = tensor.requires_grad.truth() & self.grad_mode
            self.refuse("numpy", display, tensor, site.node, refused, _cst(written), self.text(written))
        self.assumed = assumed

    def copied(self, tensor: Tensor, site: CallSite) -> Tensor:
        """`copy.deepcopy(tensor)`."""
        self.regenerate(tensor)
        self.refuse("deepcopy", "deepcopy", tensor, site.node, ~tensor.is_leaf)
        copy = self.fresh(site.node, "deepcopy", own=tensor.requires_grad, shape=tensor.shape, dtype=tensor.dtype)
        copy.is_parameter = tensor.is_parameter
        return copy

    def _size_method(self, tensor: Tensor, name: str, site: CallSite) -> Value:
        if name == "size" and not site.positional and not site.keywords:
            return self.shape_value(tensor)
        if name in ("dim", "ndimension"):
            return Constant(len(tensor.shape)) if tensor.shape is not None else Scalar("int")
        if name in ("numel", "nelement"):
            count = shapes.numel(tensor.shape)
            return Constant(count) if count is not None else Scalar("int")
        if name == "__len__" and tensor.shape:
            return Constant(tensor.shape[0]) if tensor.shape[0] is not None else Scalar("int")
        dim = site.get(0, "dim")
        place = dim.value if name == "size" and isinstance(dim, Constant) else None
        if isinstance(place, int) and tensor.shape is not None and -len(tensor.shape) <= place < len(tensor.shape):
            size = tensor.shape[place]
            return Constant(size) if size is not None else Scalar("int")
        return Scalar("bool" if name.startswith("is_") else "int")

    def _convert(self, tensor: Tensor, name: str, dtype: str, site: CallSite) -> Value:
        """`tensor.long()`, `tensor.half()`: the tensor itself if it has that dtype, else a copy."""
        same = self.has_dtype(tensor, _CASTS[name])
        if same is Truth.YES:
            return tensor
        known = tensor.dtype or class_of(tensor.precise)
        if dtype in ("int", "bool") or known in ("int", "bool"):
            cut = tensor.cut if known in ("int", "bool") else f"`{name}()` is not differentiable"
            told = factories.dtype_class(_CASTS[name])  # not of bytes: as an index they are a mask
            copy = self.fresh(site.node, name, shape=tensor.shape, dtype=told, cut=cut, precise=_CASTS[name])
            self._derived(copy, tensor, name)
            return copy if same is Truth.NO else self._or_itself(tensor, copy, site)
        result = self.apply(f"torch.Tensor.{name}", [tensor, *site.positional], site.keywords, site.node, name)
        if same is Truth.MAYBE and isinstance(result, Tensor) and result is not tensor:
            return self._or_itself(tensor, result, site)
        return result or Unknown([tensor])

    def _dtype_argument(self, site: CallSite) -> str:
        given = site.get(0, "dtype")
        dtype = self.argument(given) if isinstance(given, External) else None
        return precise_dtype(dtype) if isinstance(dtype, str) else ""

    def _reinterpreted(self, tensor: Tensor, dtype: str, site: CallSite) -> Tensor:
        """`tensor.view(torch.int32)`: the same memory, and no derivative."""
        result = self.detached(tensor, site.node, "view(dtype)")
        result.dtype, result.precise = factories.dtype_class(dtype), dtype
        if self.has_dtype(tensor, dtype) is not Truth.YES:
            result.shape, result.strides = None, None
        return result

    def _or_itself(self, tensor: Tensor, copy: Tensor, site: CallSite) -> Value:
        number = self.branch((id(site.node), "shares memory"))
        return choose([(frozenset({(number, 1)}), tensor), (frozenset({(number, 0)}), copy)])

    def _derived(self, copy: Tensor, tensor: Tensor, name: str) -> None:
        copy.op, copy.inputs = f"torch.Tensor.{name}", (tensor,)

    def _move(self, tensor: Tensor, name: str, site: CallSite) -> Value:
        for value in site.values():
            dtype = self.argument(value)
            precise = precise_dtype(dtype) if isinstance(dtype, str) else ""
            kind = class_of(precise)
            if isinstance(value, Tensor):
                kind, precise = value.dtype or class_of(value.precise), value.precise
            if kind in ("int", "bool") and self.has_dtype(tensor, precise) is not Truth.YES:
                cut = f"`{name}({kind})` is not differentiable"
                known = factories.dtype_class(precise) if precise else kind
                copy = self.fresh(site.node, name, shape=tensor.shape, dtype=known, cut=cut, precise=precise)
                self._derived(copy, tensor, name)
                itself = tensor.dtype in (None, kind) and tensor.requires_grad.truth() is not Truth.YES
                return self._or_itself(tensor, copy, site) if itself else copy
        return self.apply(
            f"torch.Tensor.{name}", [tensor, *site.positional], site.keywords, site.node, name
        ) or made_of([tensor], source=site.node)

    # -- gradients

    def grad_written(self, gradient: Tensor | None, how: GradWrite, origin: ir.Node, owner: Tensor) -> None:
        """`.grad` of `owner` is written by hand (not in a function that is there to do just that)."""
        if how in ("zero_", "fill", "scale", "zeros"):
            self.trail.set(owner, "grad_reset", self.tick())
        if self.zeroing():
            return
        parameters_of = ""
        for hook in self.watch.zeroed if how != "assign" else ():
            hook(owner, origin)
        self.emit(
            GradWritten(
                node=origin.origin,
                statement=self.line(),
                how=how,
                owner=self.facts(owner),
                grad_is_none=Truth.NO if gradient is not None else is_none(owner.grad),
                parameters_of=parameters_of or self.loop_source(owner),
                optimizer=self.optimizer_of(owner),
                loop=self.loop_over(owner),
                function=self.function_name(),
            )
        )

    def function_name(self) -> str:
        """The name of the function that runs, or ""."""
        return ""

    def zeroing(self) -> bool:
        """Whether the running function is one that zeroes gradients, by its name."""
        return False

    def loop_source(self, owner: Tensor) -> str:
        """In a loop over `m.parameters()`: `m`."""
        return ""

    def loop_over(self, owner: Tensor) -> cst.For | None:
        """The loop over parameters whose body is nothing but this write."""
        return None

    def optimizer_of(self, owner: Tensor) -> str:
        """The name of an optimizer that holds the tensor."""
        return ""

    # -- backward passes

    def is_scalar(self, tensor: Tensor) -> Truth:
        """Whether a tensor has exactly one element."""
        return Truth.of(shapes.is_scalar(tensor.shape))

    def _backward_method(self, tensor: Tensor, site: CallSite, receiver: ir.Expression) -> Value:
        gradient = site.get(0, "gradient") or site.keywords.get("grad_tensors")
        self._run_backward([(tensor, receiver, gradient)], site, "backward", 1, 2, self._inputs(site.get(3, "inputs")))
        return NONE

    def _inputs(self, given: Value | None) -> list[Options] | None:
        """Per input, the tensors it may be."""
        if given is None or is_none(given) is Truth.YES:
            return None
        several = given.items if isinstance(given, Sequence) and given.items is not None else (given,)
        return [self.all_tensor_options(each) for each in several]

    def backward_on_number(self, number: Scalar, site: CallSite, receiver: ir.Expression) -> Value:
        """`loss.item().backward()`: a number has no backward."""
        self.call_backward(
            BackwardCalled(
                node=site.node.origin,
                statement=self.line(),
                truth=Truth.YES if number.cut else Truth.MAYBE,
                callee="backward",
                root=TensorFacts(name=self.text(receiver), shape=(), requires_grad=Truth.NO),
                root_node=_cst(receiver),
                is_scalar=Truth.YES,
                gradient_given=Truth.NO,
                cut=number.cut,
            )
        )
        return NONE

    def _run_backward(
        self,
        roots: list[tuple[Value, ir.Expression, Value | None]],
        site: CallSite,
        callee: BackwardCallee,
        retain_at: int,
        create_at: int,
        inputs: list[Options] | None = None,
        allow_unused: Truth = Truth.YES,
    ) -> Truth:
        create = truth_of(site.get(create_at, "create_graph"), Truth.NO)
        given = site.get(retain_at, "retain_graph")
        if given is None:
            given = site.keywords.get("retain_variables")
        retain = create if given is None or is_none(given) is Truth.YES else truth_of(given)
        if not site.complete:
            retain = Truth.MAYBE
        argument = site.argument(retain_at, "retain_graph") or site.arguments.get("retain_variables")
        literal = argument is not None and isinstance(argument.value, ir.Constant)
        written = argument.origin if argument is not None and literal and retain is Truth.YES else None
        self.backward(
            [
                Root(
                    root,
                    _cst(node),
                    self.text(node),
                    (~is_none(gradient) if gradient is not None else Truth.NO) if site.complete else Truth.MAYBE,
                )
                for root, node, gradient in roots
            ],
            site.node,
            callee=callee,
            retain=retain,
            argument=written if isinstance(written, cst.Arg) else None,
            inputs=None if inputs is None else [option for options in inputs for option in options],
            create=create,
            allow_unused=allow_unused,
            accumulates=callee != "autograd.grad",
        )
        return create

    def _autograd(self, qualified: str, site: CallSite) -> Value:
        is_backward = qualified.endswith("backward")
        given = site.get(0, "tensors" if is_backward else "outputs")
        written = site.argument(0, "tensors" if is_backward else "outputs")
        if given is None or written is None:
            return Unknown()
        gradients = site.get(1, "grad_tensors") if is_backward else site.get(2, "grad_outputs")
        roots: list[tuple[Value, ir.Expression, Value | None]] = [(given, written.value, gradients)]
        if isinstance(given, Sequence):
            if given.items is None:
                return Unknown()
            nodes: list[ir.Expression] = [written.value] * len(given.items)
            if isinstance(written.value, ir.Sequence) and len(written.value.elements) == len(given.items):
                nodes = written.value.elements
            each: list[Value | None] = [gradients] * len(given.items)
            if isinstance(gradients, Sequence) and gradients.items is not None:
                each = [*gradients.items, *each][: len(given.items)]
            roots = list(zip(given.items, nodes, each, strict=True))
        elif isinstance(gradients, Sequence) and gradients.items:
            roots = [(given, written.value, gradients.items[0])]
        if is_backward:
            self._run_backward(roots, site, "autograd.backward", 2, 3, self._inputs(site.get(5, "inputs")))
            return NONE
        wanted = site.get(1, "inputs")
        targets = self._inputs(wanted) or []
        allow = truth_of(site.get(6, "allow_unused"), truth_of(site.keywords.get("materialize_grads"), Truth.NO))
        if isinstance(wanted, Sequence) and wanted.items is None:
            allow = Truth.MAYBE
        create = self._run_backward(roots, site, "autograd.grad", 3, 4, targets, allow)
        passed = self.value_grad(gradients) if gradients is not None else None
        return self._gradients(wanted, targets, create, passed, site)

    def _gradients(
        self, given: Value | None, targets: list[Options], create: Truth, passed: Grad | None, site: CallSite
    ) -> Value:
        if given is None or (isinstance(given, Sequence) and given.items is None):
            return Sequence("tuple", None, Unknown())
        found: dict[int, Tensor] = {}  # of an input that is given twice both gradients are one tensor
        for options in targets:
            for _, tensor in options:
                if id(tensor) not in found:
                    found[id(tensor)] = self._gradient(tensor, create, passed, site)
        return Sequence("tuple", tuple(choose((g, found[id(tensor)]) for g, tensor in options) for options in targets))

    def _gradient(self, tensor: Tensor, create: Truth, passed: Grad | None, site: CallSite) -> Tensor:
        if create is Truth.NO:
            return self.first_order(tensor, site.node)
        found: Value = Unknown([tensor], source=site.node)
        if create is Truth.YES:
            found = self.second_order(tensor, passed or GRAD_NO, site.node)
        if isinstance(found, Unknown):
            found = self.materialise(found)
            found.shape, found.dtype = tensor.shape, tensor.dtype
            # else it may be what was passed, what a hook returned, or what unknown code had saved
            made = (
                passed is None
                and not tensor.hooked
                and all(n.gradient or not n.opaque for n, _ in self.visited.values())
            )
            for _, node in found.grad_fn:
                node.gradient = made
        assert isinstance(found, Tensor)
        return found

    # -- functions of torch

    def set_grad_mode(self, mode: Truth) -> None:
        """The grad mode is set by a call; outside of any `with` it stays so when the function is left."""
        self.trail.set(self, "grad_mode", mode)
        if not self.contexts:
            self.trail.set(self, "ambient", mode)

    def torch_call(self, qualified: str, site: CallSite) -> Value | None:
        """A call of something of torch by its qualified name; None if it is not known."""
        if qualified in _GRAD_MODES:
            mode = _GRAD_MODES[qualified]
            if qualified.endswith("inference_mode") and truth_of(site.get(0, "mode"), Truth.YES) is not Truth.YES:
                mode = Truth.MAYBE
            return GradModeGuard(mode)
        if qualified in _SET_GRAD:
            mode = truth_of(site.get(0, "mode"))
            self.set_grad_mode(mode)
            return GradModeGuard(mode)
        if qualified in ("torch.autograd.grad", "torch.autograd.backward"):
            return self._autograd(qualified, site)
        if qualified in ("torch.set_default_dtype", "torch.set_default_tensor_type"):
            self.default_dtype = ""
            return NONE
        if qualified in _PARAMETERS:
            return self._parameter(site)
        if qualified in _VARIABLES:
            return self._variable(site)
        if qualified.startswith("torch.nn.init."):
            return self._init(qualified, site)
        if qualified in ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", "torch.manual_seed"):
            return Unknown()
        if qualified == "torch.is_tensor" and site.positional:
            value = site.positional[0]
            return Constant(True) if isinstance(value, Tensor) else Scalar("bool")
        kind = modules.find(qualified)
        if kind is not None:
            return self.new_layer(kind, site)
        optimizer = optimizers.find(qualified)
        if optimizer is not None and not optimizer.is_scheduler:
            return self._optimizer(qualified, site)
        if factories.find(qualified) is not None:
            return self._create(qualified, site, site.positional)
        return self._function(qualified, site)

    def _function(self, qualified: str, site: CallSite) -> Value | None:
        display = qualified.rpartition(".")[2]
        inplace = site.keywords.get("inplace")
        keywords = {key: value for key, value in site.keywords.items() if key != "inplace"}
        first = site.argument(0, "input")
        target = _cst(first.value) if first is not None else None
        name = self.text(first.value) if first is not None else ""
        truth = truth_of(inplace, Truth.NO)
        if inplace is None and not display.endswith("_"):
            truth = self._positional_inplace(qualified, site)
        if truth is not Truth.NO:
            result = self.in_place_function(display, site.positional, keywords, site.node, target, name, truth)
            if result is not None:
                return result
        if not site.complete:
            return None
        positional = site.positional
        if qualified in FOLLOWED:
            result = self.contraction(qualified, positional, keywords, site.node, display)
            if result is not None:
                return result
        if qualified == "torch.broadcast_tensors":
            return self._broadcast(positional, site)
        several = len(positional) > 1 or not display.startswith("atleast_")
        if positional and isinstance(positional[0], Tensor) and several and _variadic(qualified):
            positional = [Sequence("tuple", tuple(positional))]
        return self.apply(qualified, positional, keywords, site.node, display, target=target, name=name)

    def _broadcast(self, tensors: list[Value], site: CallSite) -> Value | None:
        """
        Every tensor expanded to the shape of all, if it has another (`expand_outplace` in
        aten/src/ATen/ExpandUtils.h).
        """
        if len(tensors) == 1 and isinstance(tensors[0], Sequence) and tensors[0].items is not None:
            tensors = list(tensors[0].items)
        if not tensors or not all(isinstance(tensor, Tensor) for tensor in tensors):
            return None
        shape: Shape = ()
        for tensor in tensors:
            sized = shapes.Sized(shape, "float")
            (shape, *_) = shapes.infer("add", {"self": sized, "other": self.argument(tensor)})
        if shape is None or None in shape:
            return None
        size = Sequence("tuple", tuple(Constant(each) for each in shape))
        results = [
            tensor
            if isinstance(tensor, Tensor) and tensor.shape == shape
            else self.apply("torch.Tensor.expand", [tensor, size], {}, site.node, "expand")
            for tensor in tensors
        ]
        return Sequence("tuple", tuple(result if result is not None else Unknown() for result in results))

    def _positional_inplace(self, qualified: str, site: CallSite) -> Truth:
        """`F.relu(x, True)`: the second argument of these is `inplace`."""
        if qualified in _SECOND_IS_INPLACE and len(site.positional) > 1:
            return truth_of(site.positional[1])
        return Truth.NO

    def in_place_function(
        self,
        display: str,
        positional: list[Value],
        keywords: dict[str, Value],
        origin: ir.Node,
        target: cst.BaseExpression | None,
        name: str,
        truth: Truth,
    ) -> Value | None:
        """`F.relu(x, inplace=True)`, or a layer built with `inplace=True`, as the in-place operation it runs."""
        if truth is Truth.MAYBE:
            return Unknown(tensor for value in positional for tensor in reachable_tensors(value))
        shown = f"{display}(inplace=True)"
        before = len(self.write_records)
        if "dropout" in display:
            result = self._dropout_in_place(positional, keywords, origin, shown, target, name)
        else:
            written = any(isinstance(value, Constant) and value.value is True for value in positional[1:])
            given = keywords if written else {**keywords, "inplace": Constant(True)}
            spelling = f"torch.nn.functional.{display}"
            result = self.apply(spelling, positional, given, origin, shown, target=target, name=name)
        for record in self.write_records[before:]:
            record.write.spelling = "inplace"
        if result is not None:
            return result
        twin = {"relu6": "hardtanh", "dropout1d": "dropout", "dropout2d": "feature_dropout"}.get(display, display)
        numbers = [value for value in positional[1:] if not isinstance(value, Constant) or value.value is not True]
        for spelling in (f"torch.nn.functional.{display}_", f"torch.Tensor.{twin}_", f"torch.{twin}_"):
            if not ops.find(spelling):
                continue
            before = len(self.write_records)
            result = self.apply(
                spelling,
                [positional[0], *numbers],
                keywords,
                origin,
                shown,
                target=target,
                name=name,
            ) or self.apply(spelling, positional[:1], {}, origin, shown, target=target, name=name)
            for record in self.write_records[before:]:
                record.write.spelling = "inplace"
            if result is not None:
                return result
        return None

    def _dropout_in_place(
        self,
        positional: list[Value],
        keywords: dict[str, Value],
        origin: ir.Node,
        shown: str,
        target: cst.BaseExpression | None,
        name: str,
    ) -> Value | None:
        """In training it multiplies by a noise that nobody else sees (aten/src/ATen/native/Dropout.cpp)."""
        training = keywords.get("training", positional[2] if len(positional) > 2 else Constant(True))
        probability = keywords.get("p", positional[1] if len(positional) > 1 else Constant(0.5))
        runs = truth_of(training) & truth_of(probability)
        empty = isinstance(positional[0], Tensor) and positional[0].shape is not None and 0 in positional[0].shape
        if runs is Truth.NO or empty:
            return positional[0]

        def drop() -> Value | None:
            noise = self.fresh(origin, "noise", dtype="float")
            return self.apply("torch.Tensor.mul_", [positional[0], noise], {}, origin, shown, target=target, name=name)

        if runs is Truth.YES:
            return drop()
        # no branch of the program: whoever comes here need not have taken an arm of it
        arms = self.fork([(unknown_guard(), drop), (unknown_guard(), lambda: positional[0])], assume=True)
        return choose([(guard, value) for guard, value in arms if value is not None])

    def _init(self, qualified: str, site: CallSite) -> Value:
        display = qualified.rpartition(".")[2]
        target = site.get(0, "tensor")
        argument = site.argument(0, "tensor")
        if target is None or argument is None or not display.endswith("_"):
            return Unknown()
        mode = self.grad_mode
        self.grad_mode = Truth.NO
        for _, tensor in self.tensor_options(target):
            self.write(tensor, site.node, _cst(argument.value), display, "function", name=self.text(argument.value))
        self.grad_mode = mode
        return target

    # -- creation

    def _create(self, qualified: str, site: CallSite, positional: list[Value]) -> Value:
        factory = factories.find(qualified)
        assert factory is not None
        created = factory.create(
            [self.argument(value) for value in positional],
            {key: self.argument(value) for key, value in site.keywords.items()},
        )
        display = qualified.rpartition(".")[2]
        for value in site.values():
            for tensor in reachable_tensors(value):
                self.use(tensor, site.node)
        if display == "normal" and any(self.value_grad(value) != GRAD_NO for value in positional):
            return made_of(positional, source=site.node)  # differentiated with respect to the mean, and to nothing else
        if created.returns_out and "out" in site.keywords:
            self.escape(reachable_tensors(site.keywords["out"]), site.node)
            return site.keywords["out"]
        shared = created.shares_memory_with
        if shared is not None:
            given = site.keywords.get(factory.parameters[shared]) if shared < len(factory.parameters) else None
            source = positional[shared] if shared < len(positional) else given
            if source is not None:
                return self._shared(source, created, display, site)
        own = GRAD_NO if created.requires_grad is False else GRAD_YES if created.requires_grad else GRAD_MAYBE
        if any(argument.star == "**" for argument in site.node.arguments) and not site.complete:
            own = GRAD_MAYBE  # `requires_grad` is given by its name
        cut = "it is made from data alone"
        if display in ("tensor", "new_tensor") and any(
            tensor.requires_grad != GRAD_NO for value in positional for tensor in reachable_tensors(value)
        ):
            cut = f"`{display}(...)` copies the values and leaves the graph"
        tensor = self.fresh(
            site.node, display, own=own, shape=created.shape, dtype=created.dtype, contiguous=Truth.YES, cut=cut
        )
        if tensor.dtype == "int" and positional and not (kinds := _number_kinds(positional[0])) <= {"int", "bool"}:
            tensor.dtype = "float" if kinds == {"float"} else None
        if tensor.dtype == "bool" and display == "tensor" and positional:
            tensor.trues = _trues(positional[0])
        tensor.precise = self._precise_of_created(tensor.dtype, display, positional, site)
        if tensor.dtype is None and display.removeprefix("new_").removesuffix("_like") in _FLOATING:
            tensor.dtype = None if "dtype" in site.keywords or display.endswith("_like") else "float"
        return tensor

    def _precise_of_created(self, dtype: str | None, display: str, positional: list[Value], site: CallSite) -> str:
        given = site.keywords.get("dtype")
        if given is not None and is_none(given) is not Truth.YES:
            named = self.argument(given)
            return precise_dtype(named) if isinstance(named, str) else ""
        if display.startswith("new_") or display.endswith("_like"):
            return positional[0].precise if positional and isinstance(positional[0], Tensor) else ""
        return self.default_dtype if dtype == "float" or (dtype is None and display in _FLOATING) else ""

    def _shared(self, source: Value, created: factories.Created, display: str, site: CallSite) -> Value:
        recorded = created.graph == "kept"
        if recorded and "requires_grad" in site.keywords and may_be_tensor(source):
            return Unknown(reachable_tensors(source), source=site.node)  # without grad `asarray` detaches
        if recorded and isinstance(source, Tensor):
            itself = created.certain and created.returns_argument is not None
            return source if itself else Unknown([source], source=site.node, certain_edge=True)
        if isinstance(source, Tensor):
            return self.detached(source, site.node, f"{display}()", own_counter=True)
        if isinstance(source, Unknown):
            aliases = [tensor for tensor in source.depends if tensor.made_by == "numpy()"]
            if aliases:
                return self.detached(aliases[0], site.node, f"torch.{display}()", own_counter=True)
        if recorded and may_be_tensor(source):
            return Unknown(reachable_tensors(source), source=site.node)
        return self.fresh(site.node, display, cut="it is made from data alone")

    def _parameter(self, site: CallSite) -> Tensor:
        own = {Truth.YES: GRAD_YES, Truth.NO: GRAD_NO, Truth.MAYBE: GRAD_MAYBE}[
            truth_of(site.get(1, "requires_grad"), Truth.YES)
        ]
        data = site.get(0, "data")
        options = [each for _, each in alternatives(data) if isinstance(each, Tensor)] if data is not None else []
        source = options[0] if len(options) == 1 else None
        tensor = self.fresh(
            site.node,
            "Parameter",
            own=own,
            shape=source.shape if source else None,
            dtype=source.dtype if source else "float",
            contiguous=source.contiguous if source else Truth.MAYBE,
            cut="it is a Parameter with `requires_grad=False`",
            precise=source.precise if source else "",
        )
        tensor.is_parameter = Truth.YES
        if source is not None:
            tensor.storage = source.storage
            tensor.strides = source.strides
            tensor.counter = source.counter  # it is made by `detach()`
        return tensor

    def _variable(self, site: CallSite) -> Value:
        data = site.get(0, "data")
        if data is None:
            return Unknown()
        wanted = truth_of(site.get(1, "requires_grad"), Truth.NO)
        for guard, tensor in self.tensor_options(data):
            own: Grad = GRAD_YES if wanted is Truth.YES else GRAD_NO if wanted is Truth.NO else GRAD_MAYBE
            if len(self.tensor_options(data)) == 1 and not guard:
                return self.detached(tensor, site.node, "Variable()", own=own)
        return Unknown(reachable_tensors(data))

    # -- layers

    def new_layer(self, kind: modules.ModuleKind, site: CallSite) -> Module:
        """Make a layer of `torch.nn`."""
        config = kind.bind(
            [self.argument(value) for value in site.positional],
            {key: self.argument(value) for key, value in site.keywords.items()},
        )
        module = Module(kind, dict(config), site.node)
        for name, shape in kind.parameters(config):
            precise = self.default_dtype if "dtype" not in site.keywords else ""
            parameter = self.fresh(site.node, "Parameter", own=GRAD_YES, shape=shape, dtype="float", precise=precise)
            parameter.is_parameter = Truth.YES
            parameter.name = name
            module.parameters[name] = parameter
        for name, shape in kind.buffers(config):
            module.parameters[name] = self.fresh(site.node, "buffer", shape=shape)
        if kind.container:
            module.children, module.names = self._children(kind.container, site)
            module.tail = site.tail if kind.container == "sequential" and module.children is None else None
            if kind.container == "list" and module.children is None and len(site.positional) == 1:
                given = site.positional[0]
                if isinstance(given, Sequence) and isinstance(given.element, (Module, Instance)):
                    module.element = given.element
        return module

    def _children(self, container: str, site: CallSite) -> tuple[tuple[Value, ...] | None, tuple[str, ...]]:
        if not site.complete:
            return None, ()
        values = site.positional
        if len(values) == 1 and isinstance(values[0], Sequence):
            items = values[0].items
            return (tuple(items), ()) if items is not None else (None, ())
        if len(values) == 1 and not isinstance(values[0], (Module, Instance, Unknown, Tensor, Mapping)):
            return None, ()
        if container == "dict" and values:
            return self._named_children(values)
        if container in ("list", "parameters") and values:
            return None, ()
        return tuple(values), ()

    def _named_children(self, values: list[Value]) -> tuple[tuple[Value, ...] | None, tuple[str, ...]]:
        items = values[0].items if len(values) == 1 and isinstance(values[0], Mapping) else None
        names = tuple(name for name in items or () if isinstance(name, str))
        return (tuple(items.values()), names) if items is not None and len(names) == len(items) else (None, ())

    def layer_call(self, module: Module, site: CallSite) -> Value | None:
        """Call a layer of `torch.nn` (not a container)."""
        training = self.default_training if module.training is None else module.training
        known = None if training is Truth.MAYBE else training is Truth.YES
        applications = module.kind.forward(module.config, known, self._input_shapes(site))
        if applications is None or not site.complete:
            return self._opaque_layer(module, site)
        return self._applications(module, applications, site)

    def _input_shapes(self, site: CallSite) -> list[Shape]:
        return [self._shape_of(value) for value in site.values() if not isinstance(value, Constant)]

    def _shape_of(self, value: Value) -> Shape:
        sized = self.argument(value)
        return sized.shape if isinstance(sized, shapes.Sized) else None

    def _applications(
        self, module: Module, applications: tuple[modules.Application, ...], site: CallSite
    ) -> Value | None:
        results: dict[str, Value] = {}
        last: Value = site.positional[0] if site.positional else Unknown()
        argument = site.argument(0, "input")
        target = _cst(argument.value) if argument is not None else None
        name = self.text(argument.value) if argument is not None else ""
        inplace = module.kind.inplace(module.config)
        for application in applications:
            keywords: dict[str, Value] = {}
            missing = False
            for key, source in (*application.arguments, *application.keywords):
                value = self._layer_argument(module, source, site, results)
                if value is None:
                    missing = missing or not isinstance(source, modules.Input)
                else:
                    keywords[key] = value
            if missing:
                return self._opaque_layer(module, site)
            keywords.pop("inplace", None)
            display = application.spelling.rpartition(".")[2]
            result: Value | None = None
            if inplace is not False and inplace is not None and "input" in keywords:
                others = {key: value for key, value in keywords.items() if key != "input"}
                if "dropout" not in display:
                    others.pop("training", None)
                result = self.in_place_function(
                    display, [keywords["input"]], others, site.node, target, name, Truth.of(inplace)
                )
            if result is None:
                result = self.apply(application.spelling, [], keywords, site.node, display, target=target, name=name)
            if result is None:
                return self._opaque_layer(module, site)
            results[application.result] = last = result
        return last

    def _layer_argument(
        self, module: Module, source: object, site: CallSite, results: dict[str, Value]
    ) -> Value | None:
        if isinstance(source, modules.Input):
            names = module.kind.inputs
            return site.get(source.index, names[source.index] if source.index < len(names) else "")
        if isinstance(source, modules.Own):
            return module.parameters.get(source.name, NONE)
        if isinstance(source, modules.Result):
            return results.get(source.name)
        assert isinstance(source, modules.Value)
        return python_value(source.value)

    def _opaque_layer(self, module: Module, site: CallSite) -> Value:
        self.escape([tensor for value in site.values() for tensor in reachable_tensors(value)], site.node)
        given = [option for value in site.values() for option in self.possible_options(value)]
        owned = [value for value in module.parameters.values() if isinstance(value, Tensor)]
        own = GRAD_NO
        for value in (*owned, *site.values()):
            own = own.either(self.value_grad(value))
        opaque = module.kind.opaque(module.config)
        structure = opaque.structure if opaque is not None else None
        sizes = iter(module.kind.output_shape(module.config, self._input_shapes(site)))
        layer = _Opaque(module, site, given, owned, self.recorded(own))
        layer.core = self._core(layer, structure)
        return self._structure(layer, structure, sizes)

    def _edges_into(self, layer: _Opaque) -> list[tuple[Guard, GraphNode | Tensor]]:
        tensors = [*layer.given, *((ALWAYS, tensor) for tensor in layer.owned)]
        return [
            (both, node)
            for guard, tensor in tensors
            for inner, node in self.edges(tensor)
            if (both := conjoin(guard, inner)) is not None
        ]

    def _core(self, layer: _Opaque, structure: object) -> GraphNode | None:
        """
        Of a recurrent layer, what all its results lead through: whichever is differentiated, it frees what the others
        need.
        """
        name = layer.module.kind.name
        if not isinstance(structure, tuple) or not layer.owned or not name.startswith(_RECURRENT):
            return None
        if layer.own == GRAD_NO:
            return None
        return self.node(f"{name}Backward", name, layer.site.node, layer.own, self._edges_into(layer), Truth.YES)

    def _structure(self, layer: _Opaque, structure: object, sizes: Iterator[Shape]) -> Value:
        origin = layer.site.node
        if isinstance(structure, tuple):
            return Sequence("tuple", tuple([self._structure(layer, each, sizes) for each in structure]))
        if structure != "tensor":
            if self.grad_mode is Truth.NO:
                return Unknown(source=origin, layer=True)
            return made_of([*layer.site.values(), *layer.owned], source=origin, layer=True)
        node = None
        display = layer.module.kind.name
        if layer.core is not None:
            node = self.node(layer.core.name, display, origin, layer.own, [(ALWAYS, layer.core)], Truth.NO)
            node.output_of = layer.core
        elif layer.own != GRAD_NO:
            holds = Truth.YES if layer.owned else Truth.MAYBE
            node = self.node(f"{display}Backward", display, origin, layer.own, self._edges_into(layer), holds)
        result = self.fresh(
            origin,
            display,
            own=layer.own,
            node=node,
            shape=next(sizes, None),
            dtype=layer.given[0][1].dtype if layer.given else None,
            contiguous=Truth.MAYBE,
            cut="it is computed under `no_grad`",
        )
        # Which tensors such a layer saves is not known: its result may be one of them.
        result.storage.uses = (Use(self.tick(), origin),)
        return result

    # -- optimizers

    def _optimizer(self, qualified: str, site: CallSite) -> Value:
        given = site.get(0, "params")
        tensors: list[Tensor] = []
        complete = False
        if isinstance(given, Sequence) and given.items is not None:
            items = _without_names(given.items)
            tensors = [tensor for each in items for _, tensor in self._known(each)]
            complete = all(isinstance(each, Tensor) for each in items)
            self._refuse_parameters(items, qualified.rpartition(".")[2], site)
        optimizer = Optimizer(qualified, tuple(tensors), complete)
        for hook in self.watch.optimizer_built:
            hook(optimizer, given, site.node)
        return optimizer

    def _refuse_parameters(self, items: tuple[Value, ...], name: str, site: CallSite) -> None:
        assumed = self.assumed
        if not all(isinstance(each, Tensor) for value in items for _, each in alternatives(value)):
            return
        for value in items:
            for guard, tensor in self._known(value):
                self.assumed = assumed | guard
                self.regenerate(tensor)  # Python's `is_leaf` asks for the grad_fn
                if not tensor.retains_grad:
                    self.refuse("optimizer", name, tensor, site.node, ~tensor.is_leaf)
        self.assumed = assumed

    def _known(self, value: Value) -> list[tuple[Guard, Tensor]]:
        return [(guard, each) for guard, each in alternatives(value) if isinstance(each, Tensor)]

    def optimizer_method(self, optimizer: Optimizer, name: str, site: CallSite) -> Value | None:
        """`optimizer.step()`, `optimizer.zero_grad()`; None for anything else."""
        if name == "zero_grad":
            for hook in self.watch.zeroed:
                hook(optimizer, site.node)
            for tensor in optimizer.parameters:
                if tensor.grad is not NONE:
                    self.trail.set(tensor, "grad", NONE)
            return NONE
        if name != "step":
            return None
        for hook in self.watch.stepped:
            hook(optimizer, site.node)
        mode = self.grad_mode
        self.grad_mode = Truth.NO
        target = _cst(site.node.function)
        for tensor in optimizer.parameters:
            if is_none(tensor.grad) is not Truth.YES:
                self.write(
                    tensor,
                    site.node,
                    target,
                    "step()",
                    "optimizer",
                    name=tensor.name,
                    certain=is_none(tensor.grad) is Truth.NO,
                )
        self.grad_mode = mode
        return NONE


_FLOATING = frozenset({"rand", "randn", "linspace", "logspace", "eye", "zeros", "ones", "empty"})
_SECOND_IS_INPLACE = frozenset(
    f"torch.nn.functional.{name}" for name in ("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid")
)


def _variadic(qualified: str) -> bool:
    """Whether all tensors given are its one argument: `torch.meshgrid(a, b)`."""
    return any(op.parameters[0].variadic and op.parameters[0].kind == "tensors" for op in ops.find(qualified))


def _number_kinds(value: Value) -> set[str]:
    """The kinds of the numbers of unknown value in nested lists, of which shapes know only that they are numbers."""
    return {each.kind for each in explore(value, parts) if isinstance(each, Scalar)}


def _without_names(parameters: tuple[Value, ...]) -> tuple[Value, ...]:
    """Parameters given as pairs of a name and a tensor; the name may be anything (`Optimizer.add_param_group`)."""
    pairs = [each.items for each in parameters if isinstance(each, Sequence) and each.kind == "tuple" and each.items]
    named = len(pairs) == len(parameters) and all(len(pair) > 1 for pair in pairs)
    return tuple(pair[1] for pair in pairs) if named else parameters


def _trues(value: Value) -> int | None:
    """How many of the constants in nested lists are true, None if others than constants are in them."""
    if isinstance(value, Constant):
        return int(bool(value.value))
    if not isinstance(value, Sequence) or value.items is None:
        return None
    counts = [_trues(each) for each in value.items] if fits(value) else [None]
    return None if None in counts else sum(count for count in counts if count is not None)


def python_value(value: object) -> Value:
    """A plain Python value as an abstract one."""
    if isinstance(value, (tuple, list)):
        return Sequence("tuple", tuple(python_value(each) for each in value))
    if value is shapes.UNKNOWN:
        return Unknown()
    if value is shapes.INTEGER:
        return Scalar("int")
    if isinstance(value, str) and value.startswith("torch."):
        return External(value)
    return Constant(value)


def _cst(node: ir.Node) -> cst.BaseExpression:
    assert isinstance(node.origin, cst.BaseExpression)
    return node.origin
