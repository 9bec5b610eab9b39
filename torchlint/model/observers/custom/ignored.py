"""
Sees a `backward` of a custom Function that computes a gradient and looks at none of those it is given.

Reads the method as it is written; what it may have from elsewhere (another process, a call of code nobody knows) is no
gradient computed here. Does not judge.
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.ops import find as ops
from torchlint.model.events.custom import IncomingGradientIgnored
from torchlint.model.observers.custom.function_source import Method, names, text
from torchlint.model.python.custom_functions import keeps_contract
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Class, Function
from torchlint.syntax import cst
from torchlint.syntax.features import CUSTOM, anywhere

_NOTHING = frozenset({"zeros_like", "zeros", "new_zeros", "empty_like"})
_LIKE: Final = frozenset({"ones_like", "zeros_like", "empty_like", "full_like", "rand_like", "randn_like"})
_ONES = frozenset({"ones_like", "ones", "new_ones"})
_FILLED = frozenset({"full", "full_like", "new_full"})
_FORM = frozenset({"shape", "dtype", "device", "ndim", "size", "dim", "numel", "new_ones", "new_zeros", "new_empty"})
_COMPUTING = frozenset({"torch", "F", "math"})
_PLAIN: Final = frozenset(
    {"len", "range", "int", "float", "tuple", "list", "zip", "enumerate", "isinstance", "print", "min", "max"}
)


class IgnoredGradients(Observer):
    """Raises `IncomingGradientIgnored`."""

    words = ("Function",)
    concerns = (anywhere(CUSTOM),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._seen: set[int] = set()

    def class_defined(self, cls: Class) -> None:
        function = cls.attributes.get("backward")
        if not isinstance(function, Function) or id(cls.definition) in self._seen or not keeps_contract(cls):
            return
        self._seen.add(id(cls.definition))
        if cls.wrapped or not isinstance(function.definition.origin, cst.FunctionDef):
            return
        backward = Method(function.definition.origin)
        incoming = backward.parameters[1:]
        if not incoming or backward.open or any(name in backward.bound for name in incoming):
            return
        if _gives_its_input(cls):
            return  # it does nothing but to put another gradient in the place of its own
        mentioned = [node for node in backward.nodes if isinstance(node, cst.Name) and node.value in incoming]
        if len(mentioned) > len(_asked_for_form(backward, incoming)) or not _only_computes(backward):
            return
        for node in backward.nodes:
            if isinstance(node, cst.Return) and node.value is not None:
                written = node.value
                values = [each.value for each in written.elements] if isinstance(written, cst.Tuple) else [written]
                computed = next((each for each in values if _is_computed(backward, each)), None)
                if computed is not None:
                    self.machine.emit(
                        IncomingGradientIgnored(
                            node=computed, statement=backward.definition, cls=cls.name, incoming=tuple(incoming)
                        )
                    )
                    return


def _gives_its_input(cls: Class) -> bool:
    """Whether `forward` returns what it was given."""
    forward = cls.attributes.get("forward")
    if not isinstance(forward, Function) or not isinstance(forward.definition.origin, cst.FunctionDef):
        return False
    method = Method(forward.definition.origin)
    returned = [node.value for node in method.nodes if isinstance(node, cst.Return)]
    given = set(method.parameters) - set(method.bound)
    return bool(returned) and all(isinstance(each, cst.Name) and each.value in given for each in returned)


def _asked_for_form(method: Method, incoming: list[str]) -> list[cst.BaseExpression]:
    """The places where a gradient gives its shape and kind alone: `torch.ones_like(g)`, `g.shape`, `g.new_ones(…)`."""
    found: list[cst.BaseExpression] = []
    for node in method.nodes:
        if isinstance(node, cst.Call) and node.args and text(node.func).rpartition(".")[2] in _LIKE:
            found += [node.args[0].value] if text(node.args[0].value) in incoming else []
        elif isinstance(node, cst.Attribute) and node.attr.value in _FORM and text(node.value) in incoming:
            found.append(node.value)
    return found


def _only_computes(method: Method) -> bool:
    """Whether a method calls nothing but functions of torch and methods of tensors, and looks at no flag or mode."""
    for node in method.nodes:
        if isinstance(node, (cst.Raise, cst.With, cst.Global, cst.Nonlocal, cst.Yield, cst.Try)):
            return False
        if not isinstance(node, cst.Call):
            continue
        callee = text(node.func)
        if callee in _PLAIN:
            continue
        owner, _, name = callee.rpartition(".")
        if owner.partition(".")[0] in _COMPUTING:
            if "distributed" in owner or name in ("backward", "grad"):
                return False
        elif not isinstance(node.func, cst.Attribute) or not ops.find(f"torch.Tensor.{node.func.attr.value}"):
            return False
    return True


def _is_computed(method: Method, value: cst.BaseExpression) -> bool:
    """Whether a value returned is made of what the context holds."""
    made = method.definition_of(value.value) if isinstance(value, cst.Name) else value
    if isinstance(value, cst.Name) and made is None:
        return value.value in method.unpacked() and len(method.bound[value.value]) == 1
    if made is None:
        return False
    if isinstance(made, cst.Call) and made.args and isinstance(made.args[0].value, (cst.GeneratorExp, cst.ListComp)):
        each = made.args[0].value.elt
        if isinstance(each, cst.Call) and text(each.func).rpartition(".")[2] in _NOTHING:
            return False  # zeros for each input
    called = text(made.func).rpartition(".")[2] if isinstance(made, cst.Call) else ""
    if called in _NOTHING or called in _ONES:
        return called in _ONES
    if isinstance(made, cst.Call) and called in _FILLED:
        return _is_filled(method, made)
    if isinstance(made, cst.Name):
        return made.value not in ("None", "True", "False") and _is_computed(method, made)
    return _is_of_context(method, made)


def _is_filled(method: Method, made: cst.Call) -> bool:
    """Whether a tensor is filled with a number that is not zero: a name may stand for one of zero, in any encoding."""
    named = [each.value for each in made.args if each.keyword is not None and each.keyword.value == "fill_value"]
    filled = named or [each.value for each in made.args[1:2] if each.keyword is None and not each.star]
    if not filled:
        return False
    value = filled[0].expression if isinstance(filled[0], cst.UnaryOperation) else filled[0]
    if isinstance(value, (cst.Integer, cst.Float)):
        return value.evaluated_value != 0
    return _is_of_context(method, value)


def _is_of_context(method: Method, made: cst.BaseExpression) -> bool:
    known = set(method.unpacked()) | {method.context}
    pending, seen = names(made), set[str]()
    while pending:
        name = pending.pop()
        if name in known:
            return True
        inner = method.definition_of(name)
        if inner is not None and name not in seen:
            seen.add(name)
            pending |= names(inner)
    return False
