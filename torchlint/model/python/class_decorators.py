"""
Class decorators of the project that note a class and give it back: `@register`, `@register("name")`.

Says so by what is written in them alone: the class is put into a container, or its name is read, and nothing else is
done with it. Runs nothing. A decorator that does more may have made anything of the class.
"""

from __future__ import annotations

from torchlint.model.state.values import Function
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_PUTS = frozenset({"add", "append", "setdefault"})
"""Methods of containers that keep what they are given, and do nothing else with it."""
_LOOKS = frozenset({"callable", "hasattr", "id", "isinstance", "issubclass", "len", "print", "repr", "str"})
_NAMES = frozenset({"__doc__", "__module__", "__name__", "__qualname__"})
_STATEMENTS = (ir.Assert, ir.Assign, ir.ExpressionStatement, ir.If, ir.Pass, ir.Raise, ir.Return)


def kept_in(shown: Function) -> frozenset[str] | None:
    """
    The names of what a decorator puts the class into that it is shown.

    Parameters
    ----------
    shown
        A function of the project, which is called with the class.

    Returns
    -------
    frozenset of str or None
        None if it may do anything else with the class, or give anything else back. Whether the names are those of
        plain containers is for the caller to say.
    """
    definition = shown.definition
    if shown.kind != "" or isinstance(definition, ir.Lambda) or definition.is_generator or definition.is_async:
        return None
    if not definition.parameters or definition.parameters[0].kind not in ("positional", "positional-only"):
        return None
    if not definition.body or not isinstance(definition.body[-1], ir.Return):
        return None
    return _Reading(definition).kept()


def is_container(value: ir.Expression | None) -> bool:
    """Whether an expression makes a list, a set or a dictionary of Python, whatever is in it."""
    if isinstance(value, ir.Call):
        return dotted(value.function).removeprefix("collections.") in _MAKERS
    return isinstance(value, (ir.Sequence, ir.Dict))


_MAKERS = frozenset({"OrderedDict", "dict", "list", "set"})


class _Reading:
    """What one function does with its first parameter."""

    def __init__(self, definition: ir.FunctionDef) -> None:
        self.body = definition.body
        self.cls = definition.parameters[0].name
        self.own = {each.name for each in definition.parameters}
        self.into: set[str] = set()
        self.harmless: set[int] = set()
        """Mentions of the class that have been accounted for: parents are walked before their parts."""

    def kept(self) -> frozenset[str] | None:
        if not all(self._is_harmless(node) for node in ir.walk(self.body)):
            return None
        return None if self.into & self.own else frozenset(self.into)

    def _is_harmless(self, node: ir.Node) -> bool:
        if isinstance(node, ir.Return):
            return self._is_class(node.value)
        if isinstance(node, ir.Assign):
            return all(self._is_stored(target, node.value) for target in node.targets)
        if isinstance(node, ir.Statement):
            return isinstance(node, _STATEMENTS)
        if isinstance(node, ir.Call):
            return self._is_harmless_call(node)
        if isinstance(node, ir.Attribute):
            return not self._is_class(node.value) or node.attr in _NAMES
        if isinstance(node, ir.Compare):
            self._is_class(node.left)
            return True
        if isinstance(node, ir.Name):
            return node.id != self.cls or id(node) in self.harmless
        return not isinstance(node, (ir.Lambda, ir.Comprehension, ir.Assigned, ir.Yield, ir.Await))

    def _is_class(self, value: ir.Expression | None) -> bool:
        """Whether an expression is the class; that is accounted for then."""
        if not isinstance(value, ir.Name) or value.id != self.cls:
            return False
        self.harmless.add(id(value))
        return True

    def _is_stored(self, target: ir.Expression, value: ir.Expression | None) -> bool:
        """Whether a target is an item of what has a name, or a variable that does not get the class."""
        if isinstance(target, ir.Name):
            self.own.add(target.id)
            return target.id != self.cls
        if not isinstance(target, ir.Subscript) or not isinstance(target.value, ir.Name):
            return False
        self._is_class(value)
        self.into.add(target.value.id)
        return target.value.id != self.cls

    def _is_harmless_call(self, call: ir.Call) -> bool:
        given = [each.value for each in call.arguments]
        function = call.function
        if isinstance(function, ir.Name):
            looks = function.id in _LOOKS
            for each in given if looks else ():
                self._is_class(each)
            return looks or function.id.endswith(("Error", "Warning"))
        if not isinstance(function, ir.Attribute):
            return False
        if isinstance(function.value, ir.Name) and function.attr in _PUTS:
            self.into.add(function.value.id)
            for each in given:
                self._is_class(each)
            return function.value.id != self.cls
        # a method of a text: of one that is written, or of the name of the class
        return isinstance(function.value, ir.Constant) or dotted(function.value).rpartition(".")[2] in _NAMES
