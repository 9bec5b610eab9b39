"""
Applying operations of torch to abstract values: arguments to the operation table, and its facts back to tensors.

One door, `apply`, for functions, methods and operators alike. What an operation does to autograd is the table's word
(`torchlint.knowledge.ops.find`), what shape comes out the shape knowledge's; an operation that neither knows is not
guessed at.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from functools import partial

import libcst as cst

from torchlint.knowledge.factories import find as factories
from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.ops.find import Known, Op
from torchlint.knowledge.promotion import ANYTHING, Operand, result_dtype
from torchlint.knowledge.shapes import infer as shapes
from torchlint.knowledge.shapes.strides import Strides
from torchlint.model.autograd.record import INPLACE_VIEWS
from torchlint.model.autograd.second_order import SecondOrderMachine
from torchlint.model.events import Shape
from torchlint.model.state.guards import ALWAYS, Guard, Truth
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    NONE,
    Choice,
    Constant,
    External,
    Grad,
    GraphNode,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    fits,
    is_value_of_elsewhere,
    made_of,
    reachable_tensors,
)
from torchlint.model.torch.layout import lay, reshape_shares, result_layout, view_layout
from torchlint.syntax import ir

_OPERANDS = frozenset({"self", "input", "other", "tensors", "exponent", "min", "max"})
_NUMBERS = frozenset({"bool", "int", "float", "number", "complex"})
_TAKES_NUMBERS = frozenset({"add", "sub", "mul", "div", "true_divide"})
"""As functions these take a number for the first tensor, too: `torch.mul(2, x)`."""
_KEEPS_NAME = frozenset({"detach", "view", "reshape", "to", "cpu", "cuda", "float", "contiguous"})


class OperationMachine(SecondOrderMachine):
    """A machine that runs operations of torch."""

    default_dtype = "torch.float32"
    """The dtype of new float tensors; "" once the program has set another one."""
    very_dtypes = True
    """Whether an operation computes in the dtype of its operands: not under `torch.autocast`."""
    by_default = False
    """Whether a `forward` is run as its author had it in mind (`analysis`)."""

    # -- arguments

    def kind_of(self, value: Value) -> str:
        """The kind of an argument, in the words of `torchlint.knowledge.ops.find.Kind`."""
        return self._kind_of(value) if fits(value) else "unknown"

    def _kind_of(self, value: Value) -> str:
        if isinstance(value, Tensor):
            return "tensor"
        if isinstance(value, Constant):
            return _constant_kind(value.value)
        if isinstance(value, Scalar):
            return value.kind if value.kind in ("int", "float", "bool", "str", "number") else "other"
        if isinstance(value, Unknown):
            return "tensor" if value.tensor is not None else "unknown"
        if isinstance(value, Sequence):
            return self._sequence_kind(value)
        if isinstance(value, External):
            if _dtype(value.qualified) is not None:
                return "dtype"
            return "unknown" if is_value_of_elsewhere(value) else "other"
        if isinstance(value, Choice):
            kinds = {self._kind_of(each) for _, each in value.alternatives}
            if len(kinds) == 1:
                return kinds.pop()
            return "number" if kinds <= {"int", "float", "bool", "number"} else "unknown"
        return "other"

    def _sequence_kind(self, value: Sequence) -> str:
        inner = value.items if value.items is not None else ((value.element,) if value.element is not None else ())
        kinds = {self._kind_of(each) for each in inner}
        if not kinds:
            return "unknown" if value.items is None else "ints"
        if kinds <= {"int", "bool"}:
            return "ints"
        if kinds == {"tensor"}:
            return "tensors"
        return "unknown" if "unknown" in kinds else "other"

    def argument(self, value: Value) -> object:
        """An argument as the shape knowledge takes it: `Sized`, plain Python values, or UNKNOWN."""
        return self._argument(value) if fits(value) else shapes.UNKNOWN

    def _argument(self, value: Value) -> object:
        if isinstance(value, Tensor):
            return shapes.Sized(value.shape, value.dtype)
        if isinstance(value, Unknown) and value.tensor is not None:
            return shapes.Sized(value.tensor.shape, value.tensor.dtype)
        if isinstance(value, Constant):
            return value.value
        if isinstance(value, Sequence) and value.items is not None:
            items = [self._argument(each) for each in value.items]
            if any(isinstance(item, shapes.Sized) for item in items):
                return items
            return tuple(items)
        if isinstance(value, Scalar):
            # of a number that is no size, shapes ask only that it is one
            return shapes.INTEGER if value.kind in ("int", "float", "number", "bool") else shapes.UNKNOWN
        if isinstance(value, External):
            return _dtype(value.qualified) or shapes.UNKNOWN
        if isinstance(value, Choice):
            arguments = [self._argument(each) for _, each in value.alternatives]
            if all(isinstance(each, shapes.Sized) for each in arguments):
                return shapes.Sized(_common([each.shape for each in arguments if isinstance(each, shapes.Sized)]))
        return shapes.UNKNOWN

    def _known_of(self, value: Value) -> Known | None:
        """What the operation table may ask of an argument beyond its kind."""
        if isinstance(value, Constant):
            return (
                Known(value.value) if value.value is None or isinstance(value.value, (bool, int, float, str)) else None
            )
        if isinstance(value, External):
            return Known(value.qualified) if _dtype(value.qualified) is not None else None
        if isinstance(value, Unknown):
            value = value.tensor or value
        if not isinstance(value, Tensor):
            return None
        contiguous = None if value.contiguous is Truth.MAYBE else value.contiguous is Truth.YES
        floating = None if value.dtype is None else value.dtype in ("float", "complex")
        return Known(
            dtype=value.precise or None,
            rank=None if value.shape is None else len(value.shape),
            contiguous=contiguous,
            floating=floating,
        )

    # -- application

    def apply(
        self,
        spelling: str,
        positional: Many[Value],
        keywords: dict[str, Value],
        origin: ir.Node,
        display: str,
        *,
        target: cst.BaseExpression | None = None,
        name: str = "",
    ) -> Value | None:
        """
        Run one operation. `display` is how the program writes it (`*`, `mul_`); for an in-place operation `target` is
        the
        expression that names the tensor written, `name` its text. None if the table does not know the call.
        """
        known: dict[int | str, Known] = {}
        if ops.asks_for_more(spelling):
            places: list[tuple[int | str, Value]] = [*enumerate(positional), *keywords.items()]
            for place, value in places:
                fact = self._known_of(value)
                if fact is not None:
                    known[place] = fact
        selected = ops.select(
            spelling,
            [self.kind_of(value) for value in positional],
            {key: self.kind_of(value) for key, value in keywords.items()},
            known,
        )
        if selected is None:
            return None
        op, binding = selected
        bound = self._bind(op, binding, positional, keywords)
        for value in bound.values() if self.pending_alias_writes else ():
            for _, tensor in self._present(value):
                self.use(tensor, origin)
        for parameter in op.parameters:
            wraps = parameter.wraps or (op.name in _TAKES_NUMBERS and spelling.startswith("torch.Tensor.") is False)
            if parameter.kind == "tensor" and parameter.required and not wraps:
                given = bound.get(parameter.name)
                if isinstance(given, Unknown):
                    bound[parameter.name] = self.materialise(given)
            elif parameter.kind == "tensors":
                # `torch.cat(values)` shows that `values` holds tensors, not that it is one.
                given = bound.get(parameter.name)
                if isinstance(given, Unknown) and given.tensor is None:
                    element = given.attributes.setdefault("[]", Unknown(reachable_tensors(given), source=given.source))
                    bound[parameter.name] = Sequence("tuple", None, element)
                elif parameter.required and isinstance(given, Sequence) and given.items == ():
                    # torch refuses an empty list: who comes past this has filled it elsewhere
                    bound[parameter.name] = Sequence(given.kind, None, Unknown(source=origin))
        if op.returns_self and op.writes and op.writes[0] in bound:
            written = self._in_place(op, op.writes[0], bound, origin, display, target, name)
            for hook in self.watch.operation:
                hook(spelling, bound, written, origin, display)
            return written
        if "out" in bound and "out" in op.writes:
            self._refuse_out(op, bound, origin, display)
        result = self._out_of_place(op, bound, origin, display)
        if "out" in bound and "out" in op.writes and isinstance(result, Tensor):
            for _, tensor in self.tensor_options(bound["out"]):
                if tensor.shape != result.shape:
                    self.trail.set(tensor, "shape", result.shape)
        self._write_others(op, bound, origin, display, target)
        if "out" in bound and "out" in op.writes:
            result = bound["out"]
        for hook in self.watch.operation:
            hook(spelling, bound, result, origin, display)
        return result

    def _bind(
        self, op: Op, binding: dict[str, int | str], positional: Many[Value], keywords: dict[str, Value]
    ) -> dict[str, Value]:
        bound: dict[str, Value] = {}
        variadic = {parameter.name for parameter in op.parameters if parameter.variadic}
        for name, place in binding.items():
            if isinstance(place, str):
                bound[name] = keywords[place]
            elif name in variadic and not isinstance(positional[place], Sequence):
                bound[name] = Sequence("tuple", tuple(positional[place:]))
            else:
                bound[name] = positional[place]
        return bound

    def _in_place(
        self,
        op: Op,
        own: str,
        bound: dict[str, Value],
        origin: ir.Node,
        display: str,
        target: cst.BaseExpression | None,
        name: str,
    ) -> Value:
        receiver = bound[own]
        others = {key: value for key, value in bound.items() if key != own}
        grad = GRAD_NO
        for parameter in op.differentiable:
            if parameter in others:
                grad = grad.either(self.value_grad(others[parameter]))
        for parameter in op.may_differentiate:
            if parameter in others and self.value_grad(others[parameter]) != GRAD_NO:
                grad = grad.either(GRAD_MAYBE)
        options = self.tensor_options(receiver)
        where = target if target is not None else _expression(origin)

        def run(tensor: Tensor) -> Value:
            self.write(
                tensor,
                origin,
                where,
                display,
                "method" if display.endswith("_") else "augmented",
                name=name,
                value_grad=grad,
                record=(op, {**bound, own: tensor}),
            )
            self._reshape(op, bound, own, tensor)
            return tensor

        if len(options) == 1 and not options[0][0]:
            run(options[0][1])
        else:
            self.fork([(guard, partial(run, tensor)) for guard, tensor in options], assume=True)
        return receiver

    def _refuse_out(self, op: Op, bound: dict[str, Value], origin: ir.Node, display: str) -> None:
        """`out=`: torch refuses to record it (`throw_error_out_requires_grad`), before it looks at anything else."""
        assumed = self.assumed
        for guard, tensor in self.tensor_options(bound["out"]):
            self.assumed = assumed | guard
            grad = self.recorded(self.input_grad(op, bound).either(tensor.requires_grad))
            self.refuse("out", f"{display}(out=...)", tensor, origin, grad.truth())
        self.assumed = assumed

    def _reshape(self, op: Op, bound: dict[str, Value], own: str, tensor: Tensor) -> None:
        """`unsqueeze_` and its kin give the tensor itself another shape."""
        if op.name not in INPLACE_VIEWS:
            return
        (shape, *_) = shapes.infer(
            op.name, {key: self.argument(value) for key, value in {**bound, own: tensor}.items()}
        )
        contiguous, steps = self._view_layout(op.name, {**bound, own: tensor}, tensor, shape)
        self.trail.set(tensor, "contiguous", contiguous)
        self.trail.set(tensor, "strides", steps)
        self.trail.set(tensor, "shape", shape)

    def _write_others(
        self, op: Op, bound: dict[str, Value], origin: ir.Node, display: str, target: cst.BaseExpression | None
    ) -> None:
        for parameter in op.writes:
            if parameter not in bound:
                continue
            for guard, tensor in self.tensor_options(bound[parameter]):
                assumed = self.assumed
                self.assumed = assumed | guard
                self.write(
                    tensor,
                    origin,
                    target if target is not None else _expression(origin),
                    f"{display}(out=...)" if parameter == "out" else display,
                    "out" if parameter == "out" else "function",
                    certain=parameter in ("out", "self"),
                )
                self.assumed = assumed

    def _out_of_place(self, op: Op, bound: dict[str, Value], origin: ir.Node, display: str) -> Value:
        if not op.outputs:
            return Unknown(
                tensor for value in bound.values() for tensor in reachable_tensors(value) if op.differentiable
            )
        inferred = shapes.infer(op.name, {key: self.argument(value) for key, value in bound.items()})
        itself = self._itself(op, bound, inferred[0])
        if itself is not None:
            return itself
        grad, node = self.record(op, bound, origin, display)
        aliased = [
            (parameter, truth) for parameter, truth in op.aliases if parameter in bound and truth is not Truth.NO
        ]
        if aliased and not (op.name == "einsum" and self._several(bound["operands"])):
            return self._aliasing(op, bound, aliased, grad, node, inferred, origin, display)
        count = len(inferred) if op.sequence and inferred != (None,) else len(op.outputs)
        if op.sequence and inferred == (None,):
            element = self._result(op, bound, grad, node, None, origin, display, 0)
            return Sequence("tuple", None, element)
        results = [
            self._result(
                op, bound, grad, output, inferred[index] if index < len(inferred) else None, origin, display, index
            )
            for index, output in enumerate(self.outputs(op, node, count))
        ]
        if node is not None:
            self.save_results(op, node, results, bound)
        return results[0] if len(op.outputs) == 1 and not op.sequence else Sequence("tuple", tuple(results))

    def _several(self, operands: Value) -> bool:
        """Whether `einsum` multiplies: of two operands it computes a new tensor, of one it may give a view."""
        return isinstance(operands, Sequence) and operands.items is not None and len(operands.items) > 1

    def _result(
        self,
        op: Op,
        bound: dict[str, Value],
        grad: Grad,
        node: GraphNode | None,
        shape: Shape,
        origin: ir.Node,
        display: str,
        index: int,
    ) -> Tensor:
        differentiable = op.outputs[min(index, len(op.outputs) - 1)]
        own = grad if differentiable else GRAD_NO
        cut = ""
        if own == GRAD_NO:
            cut = self._why_cut(op, bound, display, differentiable)
        dtype, precise = self._dtype_of(op, bound, differentiable)
        if dtype in ("int", "bool") and own != GRAD_NO:
            own, cut, differentiable = GRAD_NO, f"`{display}` is not differentiable", False
        result = self.fresh(
            origin,
            display,
            own=own,
            node=node if differentiable else None,
            shape=shape,
            dtype=dtype,
            cut=cut,
            precise=precise,
        )
        few = shape is not None and sum(size != 1 for size in shape) < 2
        if not few and op.name not in _DENSE:
            operands = [tensor for value in bound.values() for _, tensor in self._present(value)]
            if op.name in _LAID_OUT or op.name.startswith(_LIBRARIES):
                result.contiguous = Truth.MAYBE
            elif any(tensor.contiguous is not Truth.YES for tensor in operands):
                # Elementwise operations and reductions keep the order of their input's strides.
                lay(result, result_layout(op.name, operands, shape))
        self.derive(result, op, bound)
        return result

    def derive(self, result: Tensor, op: Op, bound: dict[str, Value]) -> None:
        """Note what a tensor was computed from."""
        result.op = op.spelling
        result.inputs = tuple(tensor for value in bound.values() for _, tensor in self._present(value))

    def _why_cut(self, op: Op, bound: dict[str, Value], display: str, differentiable: bool) -> str:
        inputs = [tensor for value in bound.values() for _, tensor in self._present(value)]
        if op.cuts or not differentiable:
            return f"`{display}` is not differentiable"
        if self.grad_mode is Truth.NO and any(tensor.requires_grad != GRAD_NO for tensor in inputs):
            return "it is computed under `no_grad`"
        reasons = {tensor.cut for tensor in inputs if tensor.cut}
        return reasons.pop() if len(reasons) == 1 else "it is made from data alone"

    def _present(self, value: Value) -> list[tuple[Guard, Tensor]]:
        """The tensors that an argument is known to be or to hold, not what is unknown in it."""
        if type(value) is Tensor:
            return [(ALWAYS, value)]
        if isinstance(value, Unknown):
            return [(ALWAYS, value.tensor)] if value.tensor is not None else []
        if not fits(value):
            return []
        if isinstance(value, Sequence):
            inner = value.items if value.items is not None else ((value.element,) if value.element is not None else ())
            return [option for each in inner for option in self._present(each)]
        if isinstance(value, Choice):
            return [option for _, each in alternatives(value, self.guard) for option in self._present(each)]
        return []

    def _dtype_of(self, op: Op, bound: dict[str, Value], differentiable: bool) -> tuple[str | None, str]:
        """The class of a result's dtype, and the dtype itself; None and "" where they are not known."""
        wanted = bound.get("dtype")
        if op.name in CASTS:
            precise = self._cast_to(op.name, bound)
            if precise or wanted is not None or "other" in bound:
                return factories.dtype_class(precise), precise
        elif wanted is not None and wanted != NONE:
            dtype = self.argument(wanted)
            precise = precise_dtype(dtype) if isinstance(dtype, str) else ""
            return factories.dtype_class(precise), precise
        if not differentiable and len(op.outputs) > 1:
            return "int", ""
        operands = [
            each
            for name, value in bound.items()
            if name in _OPERANDS or name in op.differentiable or name in op.may_differentiate
            for each in self._operands(value)
            if name not in op.may_differentiate or name in _OPERANDS or not each.number
        ]
        dtype_class, precise = result_dtype(op.name, operands, differentiable, self.default_dtype)
        return dtype_class, precise if self.very_dtypes else ""

    def _operands(self, value: Value, known: dict[int, list[Operand]] | None = None) -> list[Operand]:
        """What is known of the dtypes of an argument, each once; `known` is what was found of its parts so far."""
        if isinstance(value, Unknown):
            value = value.tensor or value
        if type(value) is Tensor:
            dtype = value.dtype or class_of(value.precise)
            if dtype is None:
                return [Operand(dtype=value.precise)]
            return [Operand(dtype, dtype, value.precise)]
        if isinstance(value, (Constant, Scalar)):
            kind = self.kind_of(value)
            if kind == "none":
                return []
            low, high = ("int", "float") if kind == "number" else (kind, kind)
            return [Operand(low, high, number=True)] if kind in _NUMBERS else [ANYTHING]
        if not isinstance(value, (Sequence, Choice)) or (known is None and not fits(value)):
            return [ANYTHING]
        known = {} if known is None else known
        found = known.get(id(value))
        if found is not None:
            return found
        found = known[id(value)] = []
        if isinstance(value, Sequence):
            inner = value.items if value.items is not None else (value.element or Unknown(),)
            found += dict.fromkeys(each for item in inner for each in self._operands(item, known))
            return found
        options = dict.fromkeys(each for _, option in value.alternatives for each in self._operands(option, known))
        found += options if len(options) <= 1 else (ANYTHING,)
        return found

    # -- aliases and views

    def _aliasing(
        self,
        op: Op,
        bound: dict[str, Value],
        aliased: Many[tuple[str, Truth]],
        grad: Grad,
        node: GraphNode | None,
        inferred: tuple[Shape, ...],
        origin: ir.Node,
        display: str,
    ) -> Value:
        parameter, truth = aliased[0]
        several = bound[parameter]
        if op.sequence and isinstance(several, Sequence) and several.items is not None:
            return self._views_of_each(op, several.items, inferred, origin, display)
        options = self.all_tensor_options(several)
        results: list[tuple[Guard, Value]] = []
        for guard, source in options:
            results.append((guard, self._alias(op, bound, source, truth, grad, node, inferred, origin, display)))
        if not results:
            return Unknown()
        if op.sequence or len(op.outputs) > 1:
            return results[0][1] if len(results) == 1 else choose(results)
        return choose(results)

    def _views_of_each(
        self, op: Op, items: tuple[Value, ...], inferred: tuple[Shape, ...], origin: ir.Node, display: str
    ) -> Value:
        """`meshgrid`: each output is a view of its own input."""
        views: list[Value] = []
        for place, item in enumerate(items):
            options = self.all_tensor_options(item)
            if len(options) != 1:
                views.append(made_of([item], source=origin))
                continue
            source = options[0][1]
            grad = self.recorded(source.requires_grad)
            node = self.node(op.node, display, origin, grad, self.edges(source), Truth.NO) if grad != GRAD_NO else None
            shape = inferred[place] if len(inferred) == len(items) else None
            view = self.view_of(source, origin, display, node, grad, shape, "view")
            lay(view, view_layout("meshgrid", {}, source, shape))
            views.append(view)
        return Sequence("tuple", tuple(views))

    def _alias(
        self,
        op: Op,
        bound: dict[str, Value],
        source: Tensor,
        truth: Truth,
        grad: Grad,
        node: GraphNode | None,
        inferred: tuple[Shape, ...],
        origin: ir.Node,
        display: str,
    ) -> Value:
        if op.cuts and op.name == "detach":
            return self.detached(source, origin, "detach()")
        if op.sequence or len(op.outputs) > 1:
            shapes_ = inferred if inferred != (None,) else (None,)
            views = tuple(
                self.view_of(source, origin, display, output, grad, shape, op.view or "view")
                for shape, output in zip(shapes_, self.outputs(op, node, len(shapes_)), strict=True)
            )
            for each in views:
                lay(each, self._view_layout(op.name, bound, source, each.shape))
            return Sequence("tuple", views) if inferred != (None,) else Sequence("tuple", None, views[0])
        if truth is Truth.MAYBE:
            truth = self._shares(op, source, bound, inferred[0])
        if truth is Truth.NO:
            return self._result(op, bound, grad, node, inferred[0], origin, display, 0)
        same = self._is_same(op, source)
        if same is Truth.MAYBE:
            return Unknown([source], source=origin, certain_edge=True)
        view: Value = (
            source
            if same is Truth.YES
            else self.view_of(source, origin, display, node, grad, inferred[0], op.view or "view")
        )
        if isinstance(view, Tensor) and same is Truth.NO:
            lay(view, self._view_layout(op.name, bound, source, inferred[0]))
            self.derive(view, op, bound)
            if op.name in ("real", "imag", "view_as_real", "view_as_complex"):
                view.dtype, view.precise = self._dtype_of(op, bound, True)
        if truth is Truth.YES:
            return view
        number = self.branch((id(origin), "shares memory"))
        copy = self._result(op, bound, grad, node, inferred[0], origin, display, 0)
        if not copy.name:
            copy.name = source.name if op.name in _KEEPS_NAME else ""
        return choose([(frozenset({(number, 1)}), view), (frozenset({(number, 0)}), copy)])

    def _view_layout(
        self, name: str, bound: dict[str, Value], source: Tensor, shape: Shape
    ) -> tuple[Truth, Strides | None]:
        return view_layout(name, {key: self.argument(value) for key, value in bound.items()}, source, shape)

    def _cast_to(self, name: str, bound: dict[str, Value]) -> str:
        if CASTS[name]:
            return CASTS[name]
        dtype = self.argument(bound["dtype"]) if "dtype" in bound else None
        if isinstance(dtype, str):
            return precise_dtype(dtype)
        other = bound.get("other")
        return self.dtype_of(other) if isinstance(other, Tensor) else ""

    def dtype_of(self, tensor: Tensor) -> str:
        """
        The very dtype of a tensor, "" if it is not known. Where a `forward` runs as it does by default, nobody has
        chosen another dtype for what requires grad, nor is there an autocast around it.
        """
        plain = self.by_default and tensor.dtype != "complex" and tensor.requires_grad.otherwise is Truth.YES
        return tensor.precise or (self.default_dtype if plain else "")

    def _same_dtype(self, op: Op, source: Tensor, bound: dict[str, Value]) -> Truth:
        """Whether a cast finds that there is nothing to do."""
        if bound.get("other") is source:
            return Truth.YES
        return self.has_dtype(source, self._cast_to(op.name, bound))

    def has_dtype(self, tensor: Tensor, wanted: str) -> Truth:
        """Whether a tensor is of a dtype."""
        own = self.dtype_of(tensor)
        if not wanted:
            return Truth.MAYBE
        if own:
            return Truth.of(wanted == own)
        return Truth.NO if tensor.dtype is not None and class_of(wanted) != tensor.dtype else Truth.MAYBE

    def _itself(self, op: Op, bound: dict[str, Value], shape: Shape) -> Tensor | None:
        """What an operation returns that certainly does nothing: torch does not even ask for its grad_fn."""
        if op.sequence or op.cuts or not op.aliases or op.aliases[0][0] not in bound:
            return None
        parameter, truth = op.aliases[0]
        source = bound[parameter]
        if not isinstance(source, Tensor) or self._is_same(op, source) is not Truth.YES:
            return None
        if truth is Truth.MAYBE:
            truth = self._shares(op, source, bound, shape)
        return source if truth is Truth.YES else None

    def _is_same(self, op: Op, source: Tensor) -> Truth:
        """Whether an aliasing operation returns the tensor itself rather than a view of it."""
        if op.name in _SAME_OBJECT or "dropout" in op.name:
            return Truth.YES
        if op.name == "flatten":
            return Truth.of(source.shape is not None and len(source.shape) == 1)
        if op.name in _ATLEAST:
            return Truth.MAYBE if source.shape is None else Truth.of(len(source.shape) >= _ATLEAST[op.name])
        if op.name in ("real", "conj", "conj_physical", "resolve_conj", "resolve_neg"):
            return Truth.MAYBE if source.dtype is None else Truth.of(source.dtype != "complex")
        return Truth.NO

    def _shares(self, op: Op, source: Tensor, bound: dict[str, Value], shape: Shape) -> Truth:
        if op.name in CASTS and not bound.keys() & {"copy", "memory_format"}:
            return self._same_dtype(op, source, bound)
        if op.name == "contiguous":
            return source.contiguous if "memory_format" not in bound else Truth.MAYBE
        if op.name in ("reshape", "flatten", "view_as", "reshape_as", "ravel"):
            return reshape_shares(source, shape)
        return Truth.MAYBE


_DENSE = frozenset(
    {
        *("contiguous", "linear", "matmul", "mm", "bmm", "mv", "dot", "addmm"),
        *("reshape", "flatten", "ravel", "repeat", "index_select"),
    }
)
_LAID_OUT = frozenset(
    {
        *(
            "einsum",
            "tensordot",
            "bilinear",
            "scaled_dot_product_attention",
            "stft",
            "istft",
            "quantile",
            "nanquantile",
        ),
        *("cholesky", "cholesky_inverse", "cholesky_solve", "geqrf", "lu", "lu_solve", "lu_unpack", "ormqr", "orgqr"),
        *("qr", "svd", "triangular_solve", "lstsq", "inverse", "pinverse", "matrix_power", "symeig", "eig"),
        *("rot90", "nonzero", "argwhere", "unique_consecutive", "unique", "empty_strided", "empty_permuted"),
    }
)
"""Operations whose results lie in memory as the kernel or its library pleases (measured on OpInfo's samples)."""
_LIBRARIES = ("linalg_", "fft_")
_RESHAPING = frozenset({"unsqueeze", "squeeze", "t", "transpose", "swapaxes", "swapdims"})
CASTS = {
    "float": "torch.float32", "double": "torch.float64", "half": "torch.float16", "bfloat16": "torch.bfloat16",
    "int": "torch.int32", "long": "torch.int64", "short": "torch.int16", "char": "torch.int8", "byte": "torch.uint8",
    "bool": "torch.bool", "cfloat": "torch.complex64", "cdouble": "torch.complex128",
    "to": "", "type": "", "type_as": "",
}  # fmt: skip
_ATLEAST = {"atleast_1d": 1, "atleast_2d": 2, "atleast_3d": 3}
_SAME_OBJECT = frozenset({"positive", "contiguous", "cpu", "cuda", "dropout", *CASTS})
_PRECISE = {
    "torch.float": "torch.float32", "torch.double": "torch.float64", "torch.half": "torch.float16",
    "torch.int": "torch.int32", "torch.long": "torch.int64", "torch.short": "torch.int16",
    "torch.cfloat": "torch.complex64", "torch.cdouble": "torch.complex128",
}  # fmt: skip


def precise_dtype(dtype: str) -> str:
    """A dtype by its own name: `torch.float` is `torch.float32`."""
    return _PRECISE.get(dtype, dtype)


def _constant_kind(value: object) -> str:
    if value is None:
        return "none"
    for kind, types in (("bool", bool), ("int", int), ("float", float), ("complex", complex), ("str", str)):
        if isinstance(value, types):
            return kind
    return "other"


_DTYPES = {
    "float": "float float16 float32 float64 double half bfloat16",
    "int": "int int8 int16 int32 int64 long short uint8 uint16 uint32 uint64",
    "bool": "bool",
    "complex": "complex64 complex128 cfloat cdouble complex32",
}
_CLASS_OF_DTYPE = {f"torch.{name}": kind for kind, names in _DTYPES.items() for name in names.split()}


def _dtype(qualified: str) -> str | None:
    return qualified if qualified in _CLASS_OF_DTYPE else None


def class_of(dtype: str) -> str | None:
    """The class of a dtype by its name, None if it is none: of bytes too, which as an index are a mask."""
    return _CLASS_OF_DTYPE.get(dtype)


def _common(found: list[Shape]) -> Shape:
    first = found[0]
    for shape in found[1:]:
        if first is None or shape is None or len(first) != len(shape):
            return None
        first = tuple(a if a == b else None for a, b in zip(first, shape, strict=True))
    return first


def _expression(node: ir.Node) -> cst.BaseExpression:
    assert isinstance(node.origin, cst.BaseExpression)
    return node.origin


__all__ = ["ALWAYS", "OperationMachine"]
