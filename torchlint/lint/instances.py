"""
Which calls of the project come to a function: by its name, and, of a `forward`, those of the objects of its class.

Told from Python's own trees, by names: whatever has a name may be meant by it. An object is followed from where it is
built to the variables, attributes and parameters that hold it; where it gets out of sight nothing is told. Judges
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torchlint.lint.guards import is_main
from torchlint.syntax.children import children, walk

_ITSELF = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "apply", "type"}
)
"""Methods of a Module that return it."""
_LOOKS = frozenset(
    {"isinstance", "issubclass", "super", "hasattr", "setattr", "type", "id", "len", "print", "repr", "str"}
)
"""Functions that are given an object, or its class, and call nothing of it."""
_KEEPS = frozenset({"append", "extend", "insert", "add", "update", "add_module", "register_module", "setdefault"})
_BY_NAME = frozenset({"getattr", "attrgetter", "get_submodule"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OUTSIDE = frozenset({"torch", "np", "numpy", "F", "math", "jax", "tf", "scipy"})
_MOST_WORDS = 24
_MOST_PLACES = 400


class OutOfSightError(Exception):
    """Something goes where it cannot be followed."""


@dataclass(slots=True, eq=False)
class Parsed:
    """A file, and what is above each of its nodes."""

    nodes: list[ast.AST]
    above: dict[ast.AST, ast.AST]

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes above a node, the nearest first."""
        current = self.above.get(node)
        while current is not None:
            yield current
            current = self.above.get(current)

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function around a node."""
        return next((each for each in self.around(node) if isinstance(each, _FUNCTIONS)), None)

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node."""
        return next((each for each in self.around(node) if isinstance(each, ast.ClassDef)), None)


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A node, and the file it stands in."""

    file: Parsed
    node: ast.AST

    @property
    def parent(self) -> ast.AST | None:
        return self.file.above.get(self.node)


def parsed(tree: ast.Module) -> Parsed:
    """A file's tree with what is above each node."""
    nodes = walk(tree)
    return Parsed(nodes, {below: node for node in nodes for below in children(node)})


class Instances:
    """
    Calls of what the project defines, by names.

    Parameters
    ----------
    mentioning
        The files of the project that hold a word, the file itself among them.
    """

    def __init__(self, mentioning: Callable[[str], Iterator[Parsed]]) -> None:
        self._mentioning = mentioning
        self._files: dict[str, list[Parsed]] = {}
        self._held: dict[str, frozenset[str] | None] = {}

    def files(self, word: str) -> list[Parsed]:
        """
        The files of the project that hold a word; `.name`: as an attribute, or a string.

        Raises
        ------
        OutOfSightError
            if one of them cannot be read, or too many words were asked for.
        """
        known = self._files.get(word)
        if known is None:
            if len(self._files) >= _MOST_WORDS:
                raise OutOfSightError
            known = self._files[word] = list(self._mentioning(word))
        return known

    def calls_of(self, name: str, owner: str) -> list[Site]:
        """
        The calls that may be of a function, or of a method of a class.

        Parameters
        ----------
        name
            Of the function.
        owner
            The name of its class; "" for none.

        Raises
        ------
        OutOfSightError
            It is handed on, or an object of its class is.
        """
        if owner and name == "forward":
            return _Followed(self, owner).calls()
        if name.startswith("__"):
            raise OutOfSightError
        return [site for site in self.named(name, method=bool(owner)) if _is_called(site)]

    def named(self, name: str, *, method: bool) -> Iterator[Site]:
        """
        Where a function is called or handed on by name.

        Raises
        ------
        OutOfSightError
            It is handed on, or spoken of by a string.
        """
        for file in self.files(name):
            for node in file.nodes:
                site = Site(file, node)
                if _names(node, name, method=method):
                    if not _is_called(site) and not _is_compiled(site, name):
                        raise OutOfSightError
                    yield site
                elif _is_renamed(node, name) or (_is_string(node, name) and not _is_exported(site)):
                    raise OutOfSightError

    def holders(self, owner: str) -> frozenset[str] | None:
        """The attributes that hold objects of a class; None if that is not known."""
        if owner not in self._held:
            self._held[owner] = None  # while it is being asked for
            try:
                followed = _Followed(self, owner)
                followed.calls()
                self._held[owner] = frozenset(followed.attributes)
            except OutOfSightError:
                pass
        return self._held[owner]

    def related(self, name: str) -> frozenset[str]:
        """The names of a class, of those it derives from, and of those that derive from it."""
        return frozenset(self._closure(name, up=True) | self._closure(name, up=False))

    def derived(self, name: str) -> frozenset[str]:
        """The names of a class and of those that derive from it."""
        return frozenset(self._closure(name, up=False))

    def _closure(self, name: str, *, up: bool) -> set[str]:
        found, pending = {name}, [name]
        while pending:
            current = pending.pop()
            for file in self.files(current):
                for node in file.nodes:
                    if isinstance(node, ast.ClassDef):
                        bases = {last_name(each) for each in node.bases} - {"Module", "object", "ABC", ""}
                        taken = bases if up and node.name == current else set[str]()
                        taken |= {node.name} if not up and current in bases else set()
                        pending += taken - found
                        found |= taken
        return found


class _Followed:
    """The objects of one class, followed from where they are built."""

    def __init__(self, project: Instances, owner: str) -> None:
        self._project = project
        self._owner = owner
        self.attributes: set[str] = set()
        self._found: list[Site] = []
        self._seen: set[object] = set()

    def calls(self) -> list[Site]:
        """
        The calls of the objects, and of `forward` on them.

        Raises
        ------
        OutOfSightError
            if one of them gets out of sight.
        """
        for name in sorted(self._project.derived(self._owner)):
            self._of_class(name)
        return self._found

    def _of_class(self, name: str) -> None:
        for file in self._project.files(name):
            for node in file.nodes:
                site = Site(file, node)
                if isinstance(node, ast.ClassDef) and node.name == name:
                    if node.decorator_list:
                        raise OutOfSightError
                    self._inside(file, node)
                elif _names(node, name, method=False):
                    self._mentioned(site)
                elif _is_renamed(node, name) or (_is_string(node, name) and not _is_exported(site)):
                    raise OutOfSightError

    def _inside(self, file: Parsed, owner: ast.ClassDef) -> None:
        """What the class does with `self`, and `super().forward`."""
        for node in walk(owner):
            if isinstance(node, ast.Name) and node.id == "self" and isinstance(node.ctx, ast.Load):
                self._flows(Site(file, node), is_self=True)
            elif owner.name != self._owner and _is_of_base(node, "forward"):
                self._found.append(Site(file, node))

    def _mentioned(self, site: Site) -> None:
        """The class is named here."""
        parent = site.parent
        if isinstance(parent, ast.Call) and parent.func is site.node:
            self._flows(Site(site.file, parent))
        elif isinstance(parent, ast.Attribute):
            if parent.attr == "forward":
                self._found.append(Site(site.file, parent))
            elif not parent.attr.startswith("__"):
                raise OutOfSightError
        elif isinstance(parent, ast.ClassDef) or _is_annotation(site) or _is_looked_at(site):
            return
        else:
            raise OutOfSightError

    def _flows(self, site: Site, *, is_self: bool = False) -> None:
        """Where an expression goes whose value is an object."""
        if site.node in self._seen:
            return
        self._seen.add(site.node)
        if len(self._seen) > _MOST_PLACES:
            raise OutOfSightError
        parent, above = site.parent, Site(site.file, site.parent or site.node)
        if isinstance(parent, ast.Attribute):
            called = isinstance(above.parent, ast.Call) and above.parent.func is parent
            if parent.attr == "forward" and isinstance(parent.ctx, ast.Load):
                self._found.append(above)
            elif called and parent.attr in _ITSELF and above.parent is not None:
                self._flows(Site(site.file, above.parent))
        elif isinstance(parent, ast.Call) and parent.func is site.node:
            self._found.append(site)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                self._bound(Site(site.file, target))
        elif isinstance(parent, ast.IfExp):
            if parent.test is not site.node:
                self._flows(above)
        elif isinstance(parent, (ast.Return, ast.keyword)) or (isinstance(parent, ast.Call) and not is_self):
            self._handed(site, parent)
        elif isinstance(parent, ast.Call):
            if not _is_looked_at(site):
                self._handed(site, parent)
        elif not isinstance(parent, (ast.Expr, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.If, ast.Assert)):
            raise OutOfSightError

    def _bound(self, site: Site) -> None:
        target = site.node
        if isinstance(target, ast.Name):
            function = site.file.function(target)
            if function is not None:
                self._variable(walk(function), site.file, target.id)
            elif _is_of_script(site):
                self._variable(site.file.nodes, site.file, target.id)
            else:
                raise OutOfSightError
        elif isinstance(target, ast.Attribute):
            owner = site.file.owner(target) if last_name(target.value) == "self" else None
            self._attribute(target.attr, owner.name if owner is not None else "")
        else:
            raise OutOfSightError

    def _variable(self, nodes: list[ast.AST], file: Parsed, name: str) -> None:
        for node in nodes:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                self._flows(Site(file, node))

    def _attribute(self, name: str, owner: str) -> None:
        if (name, owner) in self._seen:
            return
        self._seen.add((name, owner))
        self.attributes.add(name)
        related = self._project.related(owner) if owner else frozenset[str]()
        for file in self._project.files(f".{name}"):
            for node in file.nodes:
                if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
                    if self._may_hold(Site(file, node), node.value, owner, related):
                        self._flows(Site(file, node))
                elif _is_string(node, name) and _is_looked_up(Site(file, node)):
                    raise OutOfSightError

    def _may_hold(self, site: Site, receiver: ast.expr, owner: str, related: frozenset[str]) -> bool:
        """Whether the attribute of what is written so may be that of a class."""
        if not owner:
            return True
        if isinstance(receiver, ast.Name) and receiver.id == "self":
            around = site.file.owner(site.node)
            return around is None or around.name in related
        if isinstance(receiver, ast.Name):
            return receiver.id not in _OUTSIDE
        if isinstance(receiver, ast.Attribute):
            held = self._project.holders(owner)
            return held is None or receiver.attr in held
        return True

    def _handed(self, site: Site, parent: ast.AST) -> None:
        """An object is returned, or given to a function of the project."""
        if isinstance(parent, ast.Return):
            function = site.file.function(site.node)
            if function is None or function.decorator_list or function.name.startswith("__"):
                raise OutOfSightError
            if (function.name, "returned") not in self._seen:
                self._seen.add((function.name, "returned"))
                for each in self._project.named(function.name, method=site.file.owner(function) is not None):
                    if isinstance(each.parent, ast.Call):
                        self._flows(Site(each.file, each.parent))
            return
        call = site.file.above[parent] if isinstance(parent, ast.keyword) else parent
        assert isinstance(call, ast.Call)
        name = last_name(call.func)
        if name in _LOOKS:
            return
        place = parent.arg if isinstance(parent, ast.keyword) else call.args.index(site.node)  # type: ignore[arg-type]
        if name == "Sequential" and place is not None:
            self._flows(Site(site.file, call))
            return
        if name in _KEEPS or place is None or not name or any(isinstance(each, ast.Starred) for each in call.args):
            raise OutOfSightError
        given = False
        for file in self._project.files(name):
            for node in file.nodes:
                if isinstance(node, ast.ClassDef) and node.name == name:
                    raise OutOfSightError
                if isinstance(node, _FUNCTIONS) and node.name == name:
                    self._variable(walk(node), file, _parameter(file, node, place))
                    given = True
        if not given:
            raise OutOfSightError


def _parameter(file: Parsed, function: ast.FunctionDef | ast.AsyncFunctionDef, place: int | str) -> str:
    """The name of the parameter that is given an argument."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(place, str):
        if place in names or place in [each.arg for each in function.args.kwonlyargs]:
            return place
        raise OutOfSightError
    if isinstance(file.above.get(function), ast.ClassDef) and "staticmethod" not in map(
        last_name, function.decorator_list
    ):
        names = names[1:]
    if place >= len(names):
        raise OutOfSightError
    return names[place]


def last_name(node: ast.AST) -> str:
    """`c` of `a.b.c` and of `c`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_of_base(node: ast.AST, name: str) -> bool:
    """`super().name`."""
    if not isinstance(node, ast.Attribute) or node.attr != name or not isinstance(node.value, ast.Call):
        return False
    return last_name(node.value.func) == "super"


def _names(node: ast.AST, name: str, *, method: bool) -> bool:
    """Whether a node reads what has a name: of a method an attribute alone, and not one of torch."""
    if isinstance(node, ast.Attribute):
        return node.attr == name and isinstance(node.ctx, ast.Load) and _root(node) not in _OUTSIDE
    return not method and isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return last_name(node)


def _is_called(site: Site) -> bool:
    return isinstance(site.parent, ast.Call) and site.parent.func is site.node


def _is_compiled(site: Site, name: str) -> bool:
    """`m.f = torch.compile(m.f)`: it stays what it was."""
    call = site.parent
    kept = site.file.above.get(call) if isinstance(call, ast.Call) and last_name(call.func) == "compile" else None
    return isinstance(kept, ast.Assign) and all(last_name(each) == name for each in kept.targets)


def _is_renamed(node: ast.AST, name: str) -> bool:
    """`import f as g`."""
    return isinstance(node, ast.alias) and bool(node.asname) and node.name.rpartition(".")[2] == name != node.asname


def _is_string(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == name


def _is_exported(site: Site) -> bool:
    """A name in `__all__`, or a text that nobody reads."""
    if isinstance(site.parent, ast.Expr):
        return True
    for each in site.file.around(site.node):
        if isinstance(each, ast.Assign):
            return [last_name(target) for target in each.targets] == ["__all__"]
        if isinstance(each, ast.AugAssign):
            return last_name(each.target) == "__all__"
    return False


def _is_of_script(site: Site) -> bool:
    """Behind `if __name__ == "__main__":`, whose variables nobody imports."""
    return any(isinstance(each, ast.If) and is_main(each.test) for each in site.file.around(site.node))


def _is_looked_up(site: Site) -> bool:
    return isinstance(site.parent, ast.Call) and last_name(site.parent.func) in (
        "getattr",
        "attrgetter",
        "get_submodule",
    )


def _is_looked_at(site: Site) -> bool:
    """An argument of what calls nothing of it, such as `isinstance`, alone or in a tuple."""
    parent = site.parent
    if isinstance(parent, ast.Tuple):
        parent = site.file.above.get(parent)
    return isinstance(parent, ast.Call) and last_name(parent.func) in _LOOKS


def _is_annotation(site: Site) -> bool:
    below: ast.AST = site.node
    for each in site.file.around(site.node):
        if isinstance(each, (ast.arg, ast.AnnAssign)):
            return each.annotation is below
        if isinstance(each, _FUNCTIONS):
            return each.returns is below
        if isinstance(each, (ast.stmt, ast.Call)):
            return False
        below = each
    return False
