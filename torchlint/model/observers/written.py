"""
What is written in a file, for facts that no single run shows: what its names are imported from, which attributes are
assigned where, what a class's methods reach. Purely syntactic; no observer itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple

from torchlint.model.observers.pending import argument
from torchlint.model.state.values import Class, Function
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted


class Imports:
    """
    What the names of a file stand for, as far as its imports say; a name that two imports bind to different things
    stands for nothing.
    """

    def __init__(self, program: ir.Program) -> None:
        self._bound: dict[str, str] = {}
        for statement in ir.everything(program.body):
            for name in statement.names if isinstance(statement, ir.Import) else ():
                known = self._bound.setdefault(name.bound, name.qualified)
                if known != name.qualified:
                    self._bound[name.bound] = ""

    def qualified(self, node: ir.Node | None) -> str:
        """The qualified name of a name or a chain of attributes; "" if it does not begin with something imported."""
        if isinstance(node, ir.Name):
            return self._bound.get(node.id, "")
        if isinstance(node, ir.Attribute):
            inner = self.qualified(node.value)
            return f"{inner}.{node.attr}" if inner else ""
        return ""

    def packages(self) -> set[str]:
        """The first parts of all that is imported."""
        return {qualified.partition(".")[0] for qualified in self._bound.values()}


def own(node: ir.Node | None, attribute: str = "") -> str:
    """`x` of `self.x`, else ""; of any attribute, or of this one."""
    if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and node.value.id == "self":
        return node.attr if not attribute or node.attr == attribute else ""
    return ""


def words(node: ir.Node | list[ir.Statement], without: Set[int] = frozenset()) -> set[str]:
    """The identifiers that stand in a node: names, attributes, keywords; less nodes of these identities."""
    found: set[str] = set()
    for each in ir.walk(node):
        if id(each) in without:
            continue
        if isinstance(each, ir.Name):
            found.add(each.id)
        elif isinstance(each, ir.Attribute):
            found.add(each.attr)
        elif isinstance(each, ir.Argument):
            found.add(each.keyword)
        elif isinstance(each, (ir.FunctionDef, ir.ClassDef, ir.Parameter)):
            found.add(each.name)
    return found


def methods(cls: Class) -> dict[str, ir.FunctionDef]:
    """The methods of a class and of its bases in the file, as an object of the class has them."""
    found: dict[str, ir.FunctionDef] = {}
    for each in cls.ancestry():
        for name, value in each.attributes.items():
            if isinstance(value, Function) and isinstance(value.definition, ir.FunctionDef):
                found.setdefault(name, value.definition)
    return found


def reached(known: dict[str, ir.FunctionDef], *entries: str) -> list[ir.FunctionDef]:
    """The methods that run when one of these does, as far as they are called on the object itself."""
    pending = [name for name in entries if name in known]
    names: dict[str, None] = {}
    while pending:
        name = pending.pop()
        if name in names:
            continue
        names[name] = None
        for each in ir.walk(known[name].body):
            called = own(each)
            if called in known:
                pending.append(called)
    return [known[name] for name in names]


def assignments(body: list[ir.Statement]) -> Iterator[tuple[ir.Expression, ir.Expression | None, ir.Statement]]:
    """(target, value, statement) of all assignments in a block, functions and classes included."""
    for statement in ir.everything(body):
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                yield target, statement.value, statement
        elif isinstance(statement, (ir.AugmentedAssign, ir.For)):
            yield statement.target, None, statement
        elif isinstance(statement, ir.With):
            for item in statement.items:
                if item.target is not None:
                    yield item.target, None, statement


def may_set_by_name(node: ir.Node, name: str) -> bool:
    """Whether a node may bind an attribute or a variable of this name without writing it: by `setattr`, `__dict__`."""
    if isinstance(node, ir.Assign):
        stored = [each for each in node.targets if isinstance(each, ir.Subscript) and _is_namespace(each.value)]
        return any(not (isinstance(each.index, ir.Constant) and each.index.value != name) for each in stored)
    if not isinstance(node, ir.Call):
        return False
    function = node.function
    if any(_sets_by_name(each.value) for each in node.arguments):
        return True  # whoever is given it may call it: `partial(setattr, x)`, `retry(x.__dict__.update)`
    if isinstance(function, ir.Attribute) and function.attr == "update":
        return _is_namespace(function.value)
    if not _sets_by_name(function):
        return False
    # `setattr(x, name, v)`, `object.__setattr__(x, name, v)`, `x.__setattr__(name, v)`
    given = [each.value for each in node.arguments]
    named = given[-2] if len(given) >= 2 and not any(each.star for each in node.arguments) else None
    return not (isinstance(named, ir.Constant) and named.value != name)


def may_set(node: ir.Node, name: str) -> bool:
    """Whether a node may set an attribute of this name, written or not, on something else than `self`."""
    if isinstance(node, ir.Call):
        owner = dotted(node.arguments[0].value) if node.arguments else ""
        return owner != "self" and may_set_by_name(node, name)
    if not isinstance(node, ir.Assign):
        return False
    written = [each for each in node.targets if isinstance(each, ir.Attribute) and each.attr == name]
    return any(dotted(each.value) != "self" for each in written) or may_set_by_name(node, name)


def _sets_by_name(function: ir.Expression) -> bool:
    """`setattr`, `x.__setattr__`, `x.__dict__.update`."""
    if isinstance(function, ir.Attribute) and function.attr == "update":
        return _is_namespace(function.value)
    return dotted(function).rpartition(".")[2] in ("setattr", "__setattr__")


def _is_namespace(node: ir.Expression) -> bool:
    """`vars(x)`, `globals()`, `x.__dict__`."""
    if isinstance(node, ir.Attribute):
        return node.attr == "__dict__"
    return isinstance(node, ir.Call) and dotted(node.function) in ("vars", "globals")


def parent_of(statement: ir.Node, origin: ir.Node) -> ir.Node | None:
    """The node of a statement that holds another one."""
    for each in ir.walk(statement):
        for name in ir.parts(type(each)):
            part = getattr(each, name)
            if part is origin or (isinstance(part, list) and any(one is origin for one in part)):
                return each
    return None


class Scope(NamedTuple):
    """
    What shares its variables: the statements of the file, of a function, or of all methods of a class (for what they
    keep in `self`).

    Attributes
    ----------
    own
        The statements, less the functions and classes among them.
    whole
        All of them.
    methods
        Of a class, by the name they are called by: `self.run`.
    cls
        The name of the class; "" of a file and a function.
    """

    own: list[ir.Statement]
    whole: list[ir.Statement]
    methods: dict[str, ir.FunctionDef]
    cls: str = ""


def scopes(program: ir.Program) -> Iterator[Scope]:
    """The scopes of a file."""
    pending: list[list[ir.Statement]] = [program.body]
    while pending:
        body = pending.pop()
        yield Scope([each for each in body if not isinstance(each, (ir.FunctionDef, ir.ClassDef))], body, {})
        for each in body:
            if isinstance(each, ir.FunctionDef):
                pending.append(each.body)
            elif isinstance(each, ir.ClassDef):
                found = {one.name: one for one in each.body if isinstance(one, ir.FunctionDef)}
                joined = [statement for one in found.values() for statement in one.body]
                yield Scope(joined, joined, {f"self.{name}": one for name, one in found.items()}, each.name)


def objects_of(name: str, cls: str, program: ir.Program) -> bool:
    """
    Whether all that a file binds to a name, as a variable, an attribute or a parameter, is made by a call of one class
    of the file.

    Parameters
    ----------
    name
        The last part: `data` of `self.data`.
    cls
        The class.
    program
        The file.
    """
    pending, seen, made = [name], {name}, False
    while pending:
        for source in _bound_to(pending.pop(), program):
            if isinstance(source, ir.Call) and isinstance(source.function, ir.Name) and source.function.id == cls:
                made = True
                continue
            last = dotted(source).rpartition(".")[2]
            if not last:
                return False
            pending += [last] if last not in seen else []
            seen.add(last)
    return made


def _bound_to(name: str, program: ir.Program) -> Iterator[ir.Expression | None]:
    """What a file binds to a name, by assignments and by arguments; None for what is not known."""
    for target, value, _ in assignments(program.body):
        pairs: list[tuple[ir.Expression, ir.Expression | None]] = [(target, value)]
        if isinstance(target, ir.Sequence):
            of = value.elements if isinstance(value, ir.Sequence) else []
            matches = len(of) == len(target.elements)
            pairs = list(zip(target.elements, of if matches else [None] * len(target.elements), strict=True))
        yield from (given for each, given in pairs if dotted(each).rpartition(".")[2] == name)
    classes = [each for each in ir.everything(program.body) if isinstance(each, ir.ClassDef)]
    owners = {id(method): each.name for each in classes for method in each.body}
    for function in ir.everything(program.body):
        names = [each.name for each in function.parameters] if isinstance(function, ir.FunctionDef) else []
        if not isinstance(function, ir.FunctionDef) or name not in names:
            continue
        owner = owners.get(id(function), "")
        called = owner if function.name == "__init__" else function.name
        calls = [
            each
            for each in ir.walk(program.body)
            if isinstance(each, ir.Call) and dotted(each.function).rpartition(".")[2] == called
        ]
        given = [argument(each, names.index(name) - bool(owner), name) for each in calls]
        yield from (each.value if each is not None else None for each in given)
        if not calls:
            yield None
