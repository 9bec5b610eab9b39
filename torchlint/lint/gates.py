"""
What other files of the project do for the sake of one: they ask which torch there is (a flag that is imported, an
import under a test), they put a name into torch, or none of them imports it.

Told from Python's own trees. Says nothing of what is tested for, and judges nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import NamedTuple

from torchlint.project.index import ProjectIndex
from torchlint.project.neighbours import TooManyFilesError
from torchlint.syntax.availability import AvailabilityTests, demands, handles_absence
from torchlint.syntax.children import walk
from torchlint.syntax.mentions import statements
from torchlint.syntax.tree import SourceError, python_tree
from torchlint.syntax.unreachable import leaves


class Gates:
    """
    What other files ask for the sake of one.

    Parameters
    ----------
    tree, text
        The file, and what is written in it.
    project
        Where its imports are looked for, and the files around it.
    """

    def __init__(self, tree: ast.Module, text: str, project: ProjectIndex) -> None:
        self._tree = tree
        self._text = text
        self._project = project
        self._known: dict[tuple[str, str, int], bool] = {}
        """By module, name and hops that are left: what is not found within a few may be within more."""
        self._tests: dict[tuple[str, int], AvailabilityTests] = {}

    def is_flag(self, name: str) -> bool:
        """
        Whether a name of the file (`FLAG`, or `compat.FLAG` of an imported module) answers in another file of the
        project what there is.
        """
        return self._is_flag(name, self._imports, _HOPS)

    def flags_of(self, tree: ast.Module, module: str, is_package: bool) -> Callable[[str], bool]:
        """As `is_flag`, of another file."""
        return partial(self._is_flag, imports=_imported(tree, module, is_package), hops=_HOPS)

    @cached_property
    def _imports(self) -> _Imports:
        return _imported(self._tree, self._project.located, self._project.is_package)

    def _is_flag(self, name: str, imports: _Imports, hops: int) -> bool:
        """As `is_flag`, of a file with these imports."""
        dotted, bracket, key = name.partition("[")
        first, _, rest = dotted.partition(".")
        source = imports.named.get(first)
        if source is None:
            return not rest and any(self._asks(module, name, hops) for module in imports.starred)
        module, original = source
        key = bracket + key
        if not rest:
            return self._asks(module, original + key, hops)
        if self._asks(f"{module}.{original}".strip("."), rest + key, hops):
            return True
        # of a class there, or of what is made by one
        return bool(original) and self._asks(module, f"{original}.{rest}{key}", hops)

    def _asks(self, module: str, name: str, hops: int) -> bool:
        """Whether a name of another file answers, or what that imports under this name from a further one."""
        known = self._known.get((module, name, hops))
        if known is None:
            known = self._known[module, name, hops] = self._is_asked(module, name, hops)
        return known

    def _is_asked(self, module: str, name: str, hops: int) -> bool:
        text, is_package = self._project.source(module) if hops and module and name else ("", False)
        if not _SAYS.search(text) or not (_FIRST.split(name)[0] in text or _STAR.search(text)):
            return False
        tests = self._tests.get((module, hops))
        if tests is None:
            tree = tree_of(text)
            if tree is None:
                return False
            imports = _imported(tree, module, is_package)
            elsewhere = partial(self._is_flag, imports=imports, hops=hops - 1)
            tests = self._tests[module, hops] = AvailabilityTests(tree, elsewhere)
        return tests.asks(_asked_for(name))

    @cached_property
    def is_imported_under_a_test(self) -> bool:
        """
        Whether the other files of the package that import this one all ask first, or are themselves only imported by
        such that do; and there is one.
        """
        return not self._project.is_package and self._is_asked_for(self._project.module, _HOPS)

    def _is_asked_for(self, module: str, hops: int) -> bool:
        if not hops or "." not in module:
            return False
        asked, unasked = False, set[str]()
        for shown, text in self._project.mentioning(module.rpartition(".")[2]):
            importing, is_package = module_of(shown)
            tree = tree_of(text) if _may_import(text, importing, is_package, module) else None
            if tree is None:
                continue
            tests: AvailabilityTests | None = None
            for around in _importing(tree, importing, is_package, module):
                tests = tests or AvailabilityTests(tree, self.flags_of(tree, importing, is_package))
                if not any(_asks(tests, each) for each in around):
                    if is_package or importing == module:
                        return False
                    unasked.add(importing)
                asked = True
        # who imports the importers is asked last: most often one file that does not ask has answered by now
        return asked and all(self._is_asked_for(each, hops - 1) for each in sorted(unasked))

    @cached_property
    def is_imported(self) -> bool:
        """
        Whether the file is loaded with the package, as far as can be told: it is the package itself, a script or a
        test; or another file of the package imports it, or something in it, whenever that is loaded itself.
        """
        own = self._project.module
        last = own.rpartition(".")[2]
        if "." not in own or last.startswith(("__main__", "test_", "conftest")) or own in self._project.distributed:
            return True
        for shown, text in self._project.mentioning(last):
            tree = tree_of(text) if self._may_be_imported_by(shown, text) else None
            if tree is not None:
                at_load: list[ast.stmt] = [each for each in tree.body if isinstance(each, (ast.Import, ast.ImportFrom))]
                taken = imports_of(ast.Module(at_load, []), *module_of(shown))
                if own in taken or (self._project.is_package and any(each.startswith(f"{own}.") for each in taken)):
                    return True
        return False

    def _may_be_imported_by(self, shown: str, text: str) -> bool:
        """Whether another file may import this one, by its text; of a package, or anything in it."""
        return self._project.is_package or _may_import(text, *module_of(shown), self._project.module)

    @cached_property
    def is_left_out(self) -> bool:
        """
        Whether nothing of the project imports the file, although the package that it is in imports files beside it: no
        statement, no text that holds its name, no command; and it is no script, and no test.
        """
        above, _, last = self._project.module.rpartition(".")
        if self._project.is_package or not above or last.startswith(("__", "test_")) or last.endswith("_test"):
            return False
        beside, _ = self._project.source(above)
        taken = re.compile(rf"^[ \t]*(?:from|import)\b[^#\n]*\b{re.escape(last)}\b", re.MULTILINE)
        if taken.search(beside) or not _TAKES.search(beside) or LOOKS.search(beside) or _is_script(self._tree):
            return False  # mostly without a tree
        tree = tree_of(beside)
        if tree is None or not any(each.startswith(f"{above}.") for each in imports_of(tree, above, is_package=True)):
            return False
        try:
            for shown, text in self._project.mentioning(last, everywhere=True):
                if taken.search(text) or self._names_it(shown, text):
                    return False
        except TooManyFilesError:
            return False
        return self._project.module not in self._project.distributed

    def _names_it(self, shown: str, text: str) -> bool:
        """Whether another file imports this one, as far as can be told, or has a text that may stand for it."""
        tree = tree_of(text)
        if tree is None:
            return True
        module, last = self._project.module, self._project.module.rpartition(".")[2]
        own, is_package = module_of(shown)
        if any(each == module or each.endswith(f".{last}") for each in imports_of(tree, own, is_package)):
            return True
        spoken = re.compile(rf"(?:^|[./:]){re.escape(last)}(?:$|[.:/])")
        return any(
            isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(spoken.search(node.value))
            for node in walk(tree)
        )

    def uncalled(self, node: ast.AST) -> tuple[str, bool]:
        """
        The function of the file that a node stands in, if other files take others from this one by their names, and
        nothing of the project names it: no code of this file beside its head, no line of another one. "" else.

        And whether that is known: all other files were looked into, and no text or comment of this one says the name.
        """
        line = getattr(node, "lineno", 0)
        around = next(
            (
                each
                for each in self._tree.body
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
                and each.lineno <= line <= (each.end_lineno or 0)
            ),
            None,
        )
        if around is None or around.decorator_list or around.name.startswith(_BY_OTHERS):
            return "", False
        own = re.compile(rf"\b{re.escape(around.name)}\b")
        if any(around.name in names_of_node(each) for each in walk(self._tree)):
            return "", False
        if not self.is_taken_by_name or any(own.search(text) for _, text in self._project.mentioning(around.name)):
            return "", False
        try:
            if any(own.search(text) for _, text in self._project.mentioning(around.name, everywhere=True)):
                return "", False
        except TooManyFilesError:
            return around.name, False
        return around.name, len(own.findall(self._text)) == 1 and not own.search(self._project.distributed)

    @cached_property
    def is_taken_by_name(self) -> bool:
        """Whether another file imports some of what is in this one, and none all of it."""
        own = self._project.module
        taken: set[str] = set()
        for shown, text in self._project.mentioning(own.rpartition(".")[2]) if "." in own else ():
            tree = tree_of(text) if self._may_be_imported_by(shown, text) else None
            if tree is not None:
                taken.update(each for each in imports_of(tree, *module_of(shown)) if each.startswith(f"{own}."))
        return bool(taken) and f"{own}.*" not in taken

    def imports(self, module: str) -> bool:
        """
        Whether another file of the package, or one that a script imports, imports a module, or from it: all of them
        have it from then on.
        """
        if not module:
            return False
        taken = re.compile(rf"^[ \t]*(?:from|import)[ \t]+(?:[\w.]+[ \t]*,[ \t]*)*{re.escape(module)}\b", re.MULTILINE)
        own = self._project.module
        beside = None if "." in own else imports_of(self._tree, own, is_package=False)
        return any(
            taken.search(text) and (beside is None or module_of(shown)[0] in beside)
            for shown, text in self._project.mentioning(module.rpartition(".")[2])
        )

    def provides(self, name: str) -> bool:
        """Whether a file of the package puts a name into torch, or a module under that name among those loaded."""
        module, _, last = name.rpartition(".")
        puts = re.compile(
            rf"(?:^|[;=])[ \t]*{re.escape(module)}\.{re.escape(last)}[ \t]*=(?!=)"  # an annotation has a colon before
            rf"|\bsetattr\(\s*{re.escape(module)}\s*,\s*(?:[\"']{re.escape(last)}[\"']|[^\s\"'])"  # or any name
            rf"|\bmodules\[[\"']{re.escape(name)}(?:\.\w+)*[\"']\]"
            rf"|\bmodules\.setdefault\(\s*[\"']{re.escape(name)}[\"']",
            re.MULTILINE,
        )
        texts = (text for _, text in self._project.mentioning(last))
        # to search each line of a text takes long, and each form has the whole name or a `setattr`
        return any((name in text or "setattr" in text) and puts.search(text) for text in chain((self._text,), texts))


_TAKES = re.compile(r"^[ \t]*(?:from|import)\b", re.MULTILINE)
LOOKS = re.compile(r"import_module|__import__|iter_modules|walk_packages|glob|listdir|iterdir|scandir|__getattr__|lazy")
"""Words of a package that finds what is in it by itself."""


def names_of_node(node: ast.AST) -> tuple[str, ...]:
    """The words of a node that may stand for a function: a name, an attribute, an import, a text."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(re.findall(r"\w+", node.value)) if len(node.value) < _LONG else ()
    return ()


_BY_OTHERS = ("main", "test", "pytest_", "__")
"""What the names of functions begin with that commands, pytest and Python look for by their names."""
_LONG = 200
"""Characters of a text that is no name: a description."""


def _is_script(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) for node in tree.body)


def module_of(shown: str) -> tuple[str, bool]:
    """The module that a file is, by its path, and whether that is a package."""
    parts = shown.removesuffix(".py").split("/")
    is_package = parts[-1] == "__init__"
    return ".".join(parts[:-1] if is_package else parts), is_package


def imports_of(tree: ast.Module, module: str, is_package: bool) -> set[str]:
    """The names in full of all that a file imports, wherever: modules, and what it takes of them."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, is_package)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


_SAYS = re.compile(
    r"version|hasattr|getattr|find_spec|Error|compat|legacy|avail|signature|argspec|callable"
    r"|__(?:dict|(?:kw)?defaults|code|annotations)__|\bdir\(|import",
    re.IGNORECASE,
)
"""Words of whoever asks what there is, or hands on what another file answers."""
_STAR = re.compile(r"import[ \t]*\*")
_FIRST = re.compile(r"[.\[]")
_HOPS = 3
"""Files that are looked into one after the other for one name."""


def _asked_for(name: str) -> ast.expr:
    """A name, an attribute or an entry, as a test outside of all functions has it."""
    said: ast.expr = ast.parse(name.replace("[]", "[_]"), mode="eval").body
    for node in walk(said):
        if isinstance(node, ast.expr):
            node.lineno = 0
    return said


class _Imports(NamedTuple):
    """What a file imports: by name the module and the name there ("" for a module itself); and what it takes whole."""

    named: dict[str, tuple[str, str]]
    starred: list[str]


def _imported(tree: ast.Module, own: str, is_package: bool) -> _Imports:
    found = _Imports({}, [])
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom):
            module = _absolute(node, own, is_package)
            found.named.update({alias.asname or alias.name: (module, alias.name) for alias in node.names})
            found.starred.extend(module for alias in node.names if alias.name == "*")
        elif isinstance(node, ast.Import):
            found.named.update({alias.asname: (alias.name, "") for alias in node.names if alias.asname})
    return found


@lru_cache(maxsize=16)
def tree_of(text: str) -> ast.Module | None:
    try:
        return python_tree(text)
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Test(NamedTuple):
    """A statement that may ask what there is: one around a place, or before it in a block around it."""

    node: ast.stmt
    is_before: bool = False


def _importing(tree: ast.Module, module: str, is_package: bool, wanted: str) -> list[list[_Test]]:
    """
    Of each import of a module in a file the tests that it stands under, and those before it that may lead away from it:
    `if not hasattr(…): return`, an `assert`, a call of what makes sure.
    """
    found: list[list[_Test]] = []
    pending: list[tuple[ast.AST, list[_Test]]] = [(tree, [])]
    while pending:
        node, around = pending.pop()
        if isinstance(node, ast.Import) and any(alias.name == wanted for alias in node.names):
            found.append(around)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, is_package)
            if wanted == base or wanted in [f"{base}.{alias.name}" for alias in node.names]:
                found.append(around)
        inner = [*around, _Test(node)] if isinstance(node, (ast.If, ast.Try)) else around
        for block in _BLOCKS:
            under = inner if isinstance(node, ast.If) or block == "body" else around
            for each in getattr(node, block, ()):
                pending.append((each, under))
                if leaves(each.body) if isinstance(each, ast.If) else _may_raise(each):
                    under = [*under, _Test(each, True)]
    return found


def _may_raise(node: ast.AST) -> bool:
    return isinstance(node, (ast.Assert, ast.Expr)) and demands(node)


_BLOCKS = ("body", "orelse", "handlers", "finalbody")
"""Fields in which statements stand."""


def _may_import(text: str, module: str, is_package: bool, wanted: str) -> bool:
    """Whether a text has a line that may import a module; asks no tree, for `utils` is a word of every file."""
    if wanted in text and re.search(rf"\bimport\b[^\n]*\b{re.escape(wanted)}\b", text):
        return True
    above, _, last = wanted.rpartition(".")
    for each in _FROM.finditer(text):
        base = _base(len(each[1]), each[2], module, is_package)
        if base == wanted or (base == above and last in (each[3] or last)):
            return True
    return False


_FROM = re.compile(
    r"from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]*\\?\s*import\b"
    r"(?=[ \t]*(\((?:[^()#]|#[^\n]*)*\)|[\w, \t]+(?=[\n;#]))?)"
)
"""What a file imports, and by which names where they are all told; it begins with a word, which is found quickly."""


def _absolute(node: ast.ImportFrom, own: str, is_package: bool) -> str:
    """The module that `from … import` names."""
    return _base(node.level, node.module or "", own, is_package)


def _base(level: int, named: str, own: str, is_package: bool) -> str:
    if not level:
        return named
    parts = own.split(".")
    return ".".join([*parts[: len(parts) - level + is_package], *(named.split(".") if named else [])])


def _asks(tests: AvailabilityTests, test: _Test) -> bool:
    node = test.node
    if test.is_before:  # many a function begins by asking for other things
        return tests.is_about(node, "torch") or (isinstance(node, ast.Expr) and tests.refuses(node))
    return tests.asks(node.test) if isinstance(node, ast.If) else isinstance(node, ast.Try) and handles_absence(node)
