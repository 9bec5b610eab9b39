"""
Whether the author of a file asked first what is there: a version, `hasattr`, a flag of a tried import, a `try`.

Reads Python's own tree and runs nothing. Knows no package, and not which names are of interest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from torchlint.syntax.children import walk
from torchlint.syntax.entries import dotted, entry, last_name, told
from torchlint.syntax.fixpoint import Fixpoint
from torchlint.syntax.given import Given
from torchlint.syntax.handed import Handed, assigned, bindings
from torchlint.syntax.mentions import statements
from torchlint.syntax.unreachable import does_not_come_back, leaves
from torchlint.syntax.used import own_functions, uses
from torchlint.syntax.versions import may_speak_of, taken_from, tries_others

_ABSENCE = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError"})
"""What Python raises where a name or an argument is not there."""
_BROAD = frozenset({"Exception", "BaseException", "RuntimeError", "NotImplementedError"})
_IMPORTS = (ast.Import, ast.ImportFrom)
_FEW = 2
"""
Statements of a `try` up to which somebody who catches everything means what is in it. Of a longer one that begins with
an import they mean the import.
"""
_SHORT = 4
"""Likewise, of one that returns another answer if it fails."""
_NAMELESS = _ABSENCE - {"TypeError"}
"""What is raised where a name is not there; TypeError is raised for many another reason."""
_ASKS = frozenset({"hasattr", "find_spec", "callable", "signature", "getfullargspec", "getattr_static", "dir"})
_HOLDERS = frozenset({"__dict__", "__kwdefaults__", "__defaults__", "__code__", "__annotations__", "__signature__"})
"""Attributes by which is told what something has, or takes."""
_SAYS_VERSION = re.compile(
    r"version|compat|legacy|^_?has_(?!torch_function)|^_?supports?_"
    r"|(torch|(?<![a-z])pt)_?(\d|greater|less|at_least|(g[et]|l[et]|geq|gte|leq|lte|eq|min|minor|max|maj|major|pre|post|newer|"
    r"new|older|old)(?![a-z]))|(torch|compile|dynamo|amp|sdpa|fx|dtensor|functorch|attention).*avail|^is_torch|torch_is",
    re.IGNORECASE,
)
_TRUTHS = frozenset({"bool", "any", "all", "int"})
"""Calls that hand on what they are asked."""
_COLLECTED = (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Set, ast.SetComp)
_MAY_SAY = re.compile(r"_?has_|_?supports?_", re.IGNORECASE)
"""
Of these words those that are said of much else, too (`has_image_input`): what a name is given tells then, by the file,
its arguments among it, and by the one that it is imported from.
"""
_DEMANDS = re.compile(
    r"requir|ensure|check|assert|verif|valid|version|torch|compat|support|avail|need|must|guard|import", re.IGNORECASE
)
"""In the name of a function that somebody calls to make sure of something."""
_ITSELF = ("self", "cls")
_SKIPS = frozenset({"skipif", "skipIf", "skipUnless"})
_EXPECTS = frozenset({"raises", "warns", "deprecated_call", "catch_warnings", "suppress"})


_Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class AvailabilityTests:
    """
    What a file asks about what is there.

    Parameters
    ----------
    tree
        The file: flags that it sets anywhere are known everywhere in it.
    elsewhere
        Whether a name that it imports (`FLAG`, `compat.FLAG`) is such a flag of another file.
    """

    def __init__(self, tree: ast.Module, elsewhere: Callable[[str], bool] | None = None) -> None:
        self._tree = tree
        self._elsewhere = elsewhere
        self._answers: Fixpoint[tuple[str, int | None] | int] = Fixpoint()
        self._given: Given[ast.expr | _Function | None] | None = None
        self._refused: set[str] | None = None
        self._handed = Handed(tree)

    def asks(self, test: ast.AST) -> bool:
        """
        Whether an expression asks what there is: `hasattr`, a version, a name that says so, a setting that is refused
        elsewhere where something is missing.
        """
        return self._says(test) or self._is_refused(test)

    def _says(self, test: ast.AST) -> bool:
        names: list[tuple[str, int]] = []
        for node in walk(test):
            if isinstance(node, ast.Call) and last_name(node.func) in _ASKS:
                return True
            if isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 2:
                default = node.args[2]
                if not (isinstance(default, ast.Constant) and default.value is True):
                    return True  # of what is missing it is never said that it is there: that is a setting
            if isinstance(node, ast.Name):
                line = getattr(node, "lineno", 0)
                spoken = _SAYS_VERSION.search(node.id)
                if spoken and (not _MAY_SAY.match(spoken[0]) or self._may_ask(node, spoken.end())):
                    return True
                if node.id == "TYPE_CHECKING":
                    return True
                names.append((node.id, line))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                names.append((f".{node.func.attr}", 0))
            if asked := entry(node):
                names.append((asked, getattr(node, "lineno", 0)))
            if isinstance(node, ast.Attribute):
                spoken = _SAYS_VERSION.search(node.attr)
                if spoken and (not _MAY_SAY.match(spoken[0]) or self._is_of_an_import(node, spoken.end())):
                    return True
                if node.attr in _HOLDERS or node.attr == "TYPE_CHECKING":
                    return True
                of = last_name(node.value) if isinstance(node.value, ast.Name) else ""
                if self._elsewhere is not None and self._elsewhere(dotted(node)):
                    return True
                if of in _ITSELF or of in self._handed.holders:
                    names.append((f".{node.attr}", 0))  # a property, or a method that is called
                    if self._holds_an_answer(node.attr) or self._inherits_an_answer(node.attr):
                        return True
                elif spoken and self._holds_an_answer(node.attr):
                    return True
        return any(self._is_flag(name, line) for name, line in names)

    def _may_ask(self, name: ast.Name, end: int) -> bool:
        """
        Whether a name that begins with a word which is said of much else may ask what there is: of what the file gives
        it that is asked apart; an argument is what is handed to it under its name, or its default.
        """
        line = getattr(name, "lineno", 0)
        if self._known.values(name.id, line):
            return False
        if not self._known.is_argument(name.id, line) or _is_of_torch(name.id[end:]):
            return True
        values = self._handed.arguments.get(name.id, [])
        return self._answers.ask((f"{name.id}=", None), lambda: any(map(self._is_answer, values)))

    def _is_of_an_import(self, node: ast.Attribute, end: int) -> bool:
        """As `_may_ask`, of an attribute: one of an import may, and one that `self` has of a class of another file."""
        known = node.attr in self._handed.attributes or self._known.values(f".{node.attr}", 0)
        inherits = last_name(node.value) == "self" and not known
        return inherits or self._handed.is_imported(node) or _is_of_torch(node.attr[end:])

    def _inherits_an_answer(self, name: str) -> bool:
        """Whether an attribute that no class of the file has is an answer in the file of one that these derive from."""
        if self._elsewhere is None or name in self._handed.attributes or self._known.values(f".{name}", 0):
            return False
        return any(self._elsewhere(f"{base}.{name}") for base in self._handed.bases)

    def _is_refused(self, test: ast.AST) -> bool:
        """
        Whether a test reads a setting with which nobody comes here where something is missing: elsewhere the file
        raises, `if args.compile and not hasattr(torch, "compile")`.
        """
        if self._refused is None:
            self._refused = set()
            for node in statements(self._tree):
                for demanded in _refusing(node):
                    if len(demanded) > 1:  # a setting beside what asks, as few tests have it
                        says = list(map(self._says, demanded))
                        settings = {_setting(each) for each, said in zip(demanded, says, strict=True) if not said}
                        self._refused |= settings - {""} if any(says) else set()
        return bool(self._refused) and any(last_name(node) in self._refused for node in walk(test))

    def refuses(self, statement: ast.stmt) -> bool:
        """
        Whether a statement raises where something is missing: `if not hasattr(…): raise`, an `assert`, a tried import,
        a call of a function that does so.
        """
        if isinstance(statement, ast.If):
            return does_not_come_back(statement.body[-1]) and self._decides(statement.test, raising=True)
        if isinstance(statement, ast.Assert):
            return self._decides(statement.test, raising=False)
        if isinstance(statement, ast.Try):
            ends = all(each.body and isinstance(each.body[-1], ast.Raise) for each in statement.handlers)
            imported = any(isinstance(each, _IMPORTS) for each in statement.body)
            return ends and imported and handles_absence(statement)
        called = statement.value if isinstance(statement, ast.Expr) else None
        return demands(statement) and isinstance(called, ast.Call) and self._is_refusal(called.func)

    def refused(self, statements: Sequence[ast.stmt], count: int) -> bool:
        """Whether one of the first statements of some raises where something is missing."""
        return any(map(self.refuses, statements[:count]))

    def replaced(self, before: ast.stmt, branch: ast.If) -> bool:
        """Whether what a statement binds holds until the branch after it has asked for something better."""
        return _replaces(branch, before) and self.asks(branch.test)

    def _decides(self, test: ast.expr, *, raising: bool) -> bool:
        """Whether what is missing is enough for a test to be true, where it raises then; or else to be false."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._decides(test.operand, raising=not raising)
        if isinstance(test, ast.BoolOp):
            enough = any if isinstance(test.op, ast.Or) is raising else all
            return enough([self._decides(each, raising=raising) for each in test.values])
        return self._says(test)

    def _is_refusal(self, called: ast.expr) -> bool:
        """Whether a function of the file, or one that another file answers with, raises where something is missing."""
        name = last_name(called)
        if isinstance(called, ast.Attribute):
            of = last_name(called.value)
            name = f".{name}" if of in _ITSELF else f"{of}.{name}"
        functions = [each for each in self.values_of(name, called.lineno) if not isinstance(each, ast.expr)]
        if not functions and name[:1] != "." and self._elsewhere is not None:
            return self._elsewhere(name)
        return any(map(self._is_answer, functions))

    def is_about(self, node: ast.AST, package: str) -> bool:
        """Whether a node is a test, or a tried import, by which the file asks what there is of a package."""
        if isinstance(node, ast.Try):
            imported = [part for each in node.body for part in ast.walk(each) if isinstance(part, _IMPORTS)]
            return any(package in ast.unparse(part) for part in imported) and handles_absence(node)
        if not isinstance(node, (ast.If, ast.IfExp, ast.Assert)):
            return False
        words = ast.unparse(node.test)
        plain = words.removeprefix("not ")
        is_plain, is_named = plain.isidentifier(), package in words
        said = is_named or "version" in words.lower() or is_plain
        if not said or "TYPE_CHECKING" in words or not self.asks(node.test):
            return False
        held = self._known.values(plain, node.test.lineno) if is_plain else []
        if held and all(map(self._is_of_other_things, held)):
            return False
        if is_plain and not held and not is_named and "version" not in plain.lower():
            handed = self._handed.arguments.get(plain, [])  # `legacy` is a word of many other things
            return not self._known.is_argument(plain, node.test.lineno) or any(map(self._is_answer, handed))
        if is_plain and held:
            return None not in held or not tries_others(self._tree, plain, package)
        values = partial(self.values_of, line=node.test.lineno)
        return is_named or may_speak_of(node.test, package, taken_from(self._tree, package), values)

    def _is_of_other_things(self, value: ast.expr | _Function | None) -> bool:
        """
        Whether a value is what some call makes of an answer and of more, or a collection, or None: nobody asks by it
        what there is.
        """
        if not isinstance(value, ast.Call):
            return isinstance(value, _COLLECTED) or (isinstance(value, ast.Constant) and value.value is None)
        called = [last_name(each.func) for each in walk(value) if isinstance(each, ast.Call)]
        if not _ASKS.isdisjoint(called) or called[0] in _TRUTHS or self._is_flag(called[0], value.lineno):
            return False
        return not any(_SAYS_VERSION.search(last_name(each)) for each in walk(value))

    def values_of(self, name: str, line: int) -> list[ast.expr | _Function]:
        """What a name on a line may be given, and the functions that are called so there."""
        return [each for each in self._known.values(name, line) if each is not None]

    @property
    def _known(self) -> Given[ast.expr | _Function | None]:
        """What the file gives its names; None: the answer of a `try`."""
        if self._given is None:
            self._given = Given()
            every = list(statements(self._tree))
            for node in every:
                self._given.enter(node)
            for node in every:
                _note(node, self._given)
        return self._given

    def _is_flag(self, name: str, line: int) -> bool:
        """
        Whether a name on a line holds the answer to a question about versions, or whether something could be imported;
        or is a function of the file that answers one. With a dot before it, it is a method.
        """
        scope = self._known.scope_of(name, line)
        if scope is None and self._elsewhere is not None and name[:1] != ".":
            return self._answers.ask((name, scope), partial(self._elsewhere, name))
        values = self._known.values(name, line)  # a name may be assigned what it held
        return self._answers.ask((name, scope), lambda: any(map(self._is_answer, values)))

    def _holds_an_answer(self, attribute: str) -> bool:
        """
        Whether the file sets an attribute to an answer, in a method or in the class: `self.native = torch.__version__
        >= "2.4"`.
        """
        values = self._handed.attributes.get(attribute, [])
        return self._answers.ask((f"self.{attribute}", None), lambda: any(map(self._is_answer, values)))

    def _is_answer(self, value: ast.expr | _Function | None) -> bool:
        if value is None:
            return True
        if not isinstance(value, _FUNCTIONS):
            return self._says(value)
        return self._answers.ask(id(value), partial(self._is_function_that_answers, value))

    def _is_function_that_answers(self, function: _Function) -> bool:
        return _probes(function) or any(map(self._says, _answers(function))) or any(map(self.refuses, function.body))

    def expects(self, node: ast.expr) -> bool:
        """Whether what is under a context manager or a decorator is expected to fail, or to warn, or is left out."""
        if not isinstance(node, ast.Call):
            return isinstance(node, (ast.Name, ast.Attribute)) and self.asks(node)
        last = last_name(node.func)
        if last in _SKIPS:
            return any(map(self.asks, node.args))
        return last in _EXPECTS or last.startswith(("assertRaises", "assertWarns"))

    def is_asked_by(self, around: ast.expr) -> bool:
        """Whether what makes a context manager or a decorator asks what there is: `@requires_torch("2.0")`."""
        return isinstance(around, ast.Call) and self._is_refusal(around.func)


def chosen_functions(
    tests: AvailabilityTests, tree: ast.Module, lines: Iterable[int], text: str | None = None
) -> list[_Function]:
    """
    The functions of the module, and the methods that are its own by their names, around some lines that it names
    nowhere but where it has asked what there is: `_fft = _old_fft` in an arm for old releases.

    Parameters
    ----------
    tests, tree
        What the file asks, and the file.
    lines
        The lines.
    text
        The file: where it does not spell such a name is not looked; None: everywhere.
    """
    around = [
        (name, node)
        for name, node in own_functions(tree)
        if any(node.lineno <= line <= (node.end_lineno or 0) for line in lines)
    ]
    if not around:
        return []
    under: dict[str, bool] = {}
    for name, around_it in uses(tree, {name for name, _ in around}, text):
        under[name] = under.get(name, True) and any(map(tests.asks, around_it))
    return [node for name, node in around if under.get(name)]


def _is_of_torch(rest: str) -> bool:
    """Whether what follows a word that is said of much else names torch, or a version of it."""
    return "torch" in rest.lower() or _SAYS_VERSION.search(rest) is not None


def _note(node: ast.stmt, given: Given[ast.expr | _Function | None]) -> None:
    """Note what a statement gives names, functions among it, and which it sets by finding out what there is (None)."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        for name, value in bindings(node):
            given.note(name, node.lineno, value)
    elif isinstance(node, _FUNCTIONS):
        given.note(node.name, node.lineno, node)
        given.note(f".{node.name}", 0, node)
    elif isinstance(node, ast.If):  # which way was gone is what its test said
        for name, line in told([*node.body, *node.orelse]):
            given.note(name, line, node.test)
    elif isinstance(node, ast.Try):
        handled = [each for handler in node.handlers for each in handler.body]
        if any(isinstance(each, (ast.Import, ast.ImportFrom)) for each in node.body):
            otherwise = {name for each in handled for name in assigned(each)}
            says = [*handled, *node.orelse]
            says += [each for each in node.body if _is_constant(each) or otherwise & assigned(each)]
        else:  # one that asks something of what is imported already
            says = [each for each in handled if _is_constant(each)] if _asks_by_trying(node) else []
        for each in says:
            for name in assigned(each):
                given.note(name, each.lineno, None)
        for name, line in told(node.body) if handles_absence(node) else ():
            if name.endswith("]"):
                given.note(name, line, None)


def _refusing(node: ast.stmt) -> Iterator[list[ast.expr]]:
    """What must hold, part by part, for a branch, or one directly in it, to end by raising, or for an `assert` to."""
    denied = node.test.operand if isinstance(node, ast.Assert) and isinstance(node.test, ast.UnaryOp) else None
    if isinstance(denied, ast.BoolOp) and isinstance(denied.op, ast.And):
        yield denied.values
    if not isinstance(node, ast.If):
        return
    demanded = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
        return
    if isinstance(node.body[-1], ast.Raise) and len(demanded) > 1:
        yield demanded
    for inner in node.body:
        if isinstance(inner, ast.If) and isinstance(inner.body[-1], ast.Raise):
            yield [*demanded, *([] if isinstance(inner.test, ast.BoolOp) else [inner.test])]


def _setting(part: ast.expr) -> str:
    """The name that a part of a test asks for: `compile`, `self.compile`, `mesh is not None`; "" if there is none."""
    if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.IsNot):
        return last_name(part.left)
    return last_name(part)


def handles_absence(node: ast.Try) -> bool:
    """Whether a `try` is there for something that may be missing."""
    caught = {name for handler in node.handlers for name in _caught(handler.type)}
    is_meant = len(node.body) <= _FEW or isinstance(node.body[0], _IMPORTS) or _has_another_answer(node)
    return bool(caught & _ABSENCE) or (bool(caught & _BROAD) and is_meant)


def _has_another_answer(node: ast.Try) -> bool:
    """Whether a `try` ends by returning something, and so does whoever handles what it raises: a fallback."""
    ends = [node.body[-1], *(each.body[-1] for each in node.handlers)]
    return len(node.body) <= _SHORT and all(
        isinstance(each, ast.Return) and each.value is not None and not _is_flat(each.value) for each in ends
    )


def _asks_by_trying(node: ast.Try, given: Container[str] = ()) -> bool:
    """
    Whether a `try` is there to find out what there is.

    Parameters
    ----------
    node
        The `try`.
    given
        Names of what somebody else chose: whether that is of the right type is another question.
    """
    caught = {name for handler in node.handlers for name in _caught(handler.type)}
    if not caught & _ABSENCE:
        return False
    read = {part.id for each in node.body for part in walk(each) if isinstance(part, ast.Name)}
    return bool(caught & _NAMELESS) or not any(name in given for name in read)


def _is_constant(node: ast.stmt) -> bool:
    """Whether an assignment says yes, no or nothing."""
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_flat(node.value)


def _is_flat(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _probes(function: _Function) -> bool:
    """Whether a function says yes or no, and finds out by a `try`."""
    inside = list(statements(function))
    returned = [node for node in inside if isinstance(node, ast.Return)]
    if not returned or not all(node.value is not None and _is_truth(node.value) for node in returned):
        return False
    given = {each.arg for each in walk(function.args) if isinstance(each, ast.arg)}
    tries = [node for node in inside if isinstance(node, ast.Try) and _asks_by_trying(node, given)]
    return any(
        isinstance(each, ast.Return) and _is_flat(each.value)
        for node in tries
        for handler in node.handlers
        for each in handler.body
    )


def _replaces(branch: ast.If, before: ast.stmt) -> bool:
    """Whether a branch binds anew what the statement before it binds: that held until something better is there."""
    names = {ast.unparse(target) for target in before.targets} if isinstance(before, ast.Assign) else set()
    return any(
        isinstance(each, ast.Assign) and not names.isdisjoint(ast.unparse(target) for target in each.targets)
        for each in branch.body
    )


def demands(node: ast.stmt) -> bool:
    """Whether a statement may be there to raise: an `assert`, a tried import, a call whose name says that it checks."""
    if isinstance(node, ast.Try):
        return any(isinstance(each, _IMPORTS) for each in node.body)
    called = node.value if isinstance(node, ast.Expr) else None
    return isinstance(node, ast.Assert) or (
        isinstance(called, ast.Call) and _DEMANDS.search(last_name(called.func)) is not None
    )


def _answers(function: _Function) -> list[ast.expr]:
    """What a function that says yes or no goes by: what it returns, and the tests after which it does; else nothing."""
    inside = list(statements(function))
    returned = [node.value for node in inside if isinstance(node, ast.Return) and node.value is not None]
    if returned and all(isinstance(node, ast.Attribute) for node in returned):  # it hands on what something holds
        return returned
    if not returned or not all(map(_is_truth, returned)):
        return []
    if all(isinstance(node, (ast.Name, ast.Call)) for node in returned):
        return returned  # `return F.resize(x)` after a test is no answer to it
    return returned + [node.test for node in inside if isinstance(node, ast.If) and leaves(node.body)]


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression can only be meant as yes or no, or is a name or a call that may be."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    return isinstance(node, (ast.Compare, ast.BoolOp, ast.Name, ast.Call)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _caught(node: ast.expr | None) -> Iterator[str]:
    if node is None:
        yield "BaseException"
    elif isinstance(node, ast.Tuple):
        for each in node.elts:
            yield from _caught(each)
    else:
        yield last_name(node)
