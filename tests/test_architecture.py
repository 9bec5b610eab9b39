"""The folders: who may import whom, and what the package consists of."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from torchlint.cache.stamp import APART

ROOT = Path(__file__).parents[1]
FOLDERS = (  # lowest first; a module imports from its own folder and from those before it
    *("record", "stack", "claims", "condition", "truth", "target", "knowledge", "syntax", "config"),
    *("model/events", "model/state", "model/autograd", "model/torch", "model/python", "model/observers"),
    *(
        "model/scheduling",
        "model",
        "finding",
        "results",
        "visited",
        "rule",
        "project",
        "cache",
        "fixes",
        "lint",
        "report",
        "run",
    ),
    *("verify", "sanitizer", "optable", "hosts", "__main__"),
)
FOR_RULES = (
    "torchlint.rule",
    "torchlint.fixes.rewrites",
    "torchlint.fixes.renames",
    "torchlint.truth",
    "torchlint.model",
    "torchlint.syntax.cst",
    "libcst",
)
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "types", "misc", "core", "base"}
THIRD_PARTIES = {
    "libcst",
    "click",
    "packaging",
    "pathspec",
    "distributed",
    "watchfiles",
    "pygls",
    "lsprotocol",
    "pytest",
}
WITH_TORCH = {"verify", "sanitizer", "optable"}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _folder(module: str) -> str:
    parts = module.split(".")
    inner = "/".join(parts[1:3])
    return inner if inner in FOLDERS else ".".join(parts[1:2])


FILES = sorted((ROOT / "torchlint").rglob("*.py"))
RULES = sorted((ROOT / "rules").glob("*.py"))
MODULES = {_name(path): path for path in FILES}


def _imports(path: Path, *, only_at_load: bool = False) -> Iterator[tuple[int, str]]:
    """(line, module) of every import; for `from torchlint import x` that is `torchlint.x` if there is such a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if only_at_load else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node.lineno, inner if inner in MODULES else str(node.module)


def test_imports_go_downward() -> None:
    for path in FILES:
        own = _folder(_name(path))
        assert not own or own in FOLDERS, f"torchlint/{own} is no folder: add it to FOLDERS"
        for line, module in _imports(path):
            if module.startswith("torchlint.") and own:
                lower = FOLDERS.index(_folder(module)) <= FOLDERS.index(own)
                assert lower, f"{path}:{line}: {_name(path)} may not import {module}"
            assert own or not module.startswith("torchlint"), f"{path}:{line}: torchlint/__init__.py imports nothing"


def test_the_page_describes_every_folder() -> None:
    """In the order in which they may import, so that who reads it from the top meets nothing that is not described."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| ", page.partition("## The folders\n")[2].partition("\n## ")[0], re.MULTILINE)
    listed = [name.rstrip("/") for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert listed == [*(name for name in FOLDERS if name not in ("model", "__main__")), "rules"]


def test_families_of_observers_know_nothing_of_each_other() -> None:
    """What several families need stands in `model/observers` itself, and is no observer."""
    observers = ROOT / "torchlint" / "model" / "observers"
    for path in sorted(observers.rglob("*/*.py")):
        for line, module in _imports(path):
            family = module.removeprefix("torchlint.model.observers.").partition(".")
            other = module.startswith("torchlint.model.observers.") and family[1] and family[0] != path.parent.name
            assert not other, f"{path}:{line}: imports {module} of another family"


def test_only_commands_that_ask_for_it_import_what_answers_do_not_rest_on() -> None:
    """So an answer that is given again need not look at those files (`cache/stamp.APART`)."""
    apart = tuple(name.replace("/", ".") for name in APART)
    for path in (*FILES, *RULES):
        name = f"{_name(path)}."
        if name.startswith(apart):
            continue
        lazily = name.startswith("torchlint.hosts.")
        for line, module in _imports(path, only_at_load=lazily):
            assert not f"{module}.".startswith(apart), f"{path}:{line}: imports {module}"


def test_no_circles() -> None:
    graph = {
        name: {module for _, module in _imports(path, only_at_load=True) if module in MODULES and module != name}
        for name, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"circular import: {' → '.join((*above[above.index(name) :], name))}"
        if name not in done:
            for module in graph[name]:
                visit(module, (*above, name))
            done.add(name)

    for name in graph:
        visit(name, ())
    assert done == set(MODULES)


def _at_load(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated when a module is loaded: no bodies of functions, and no annotations, which nobody evaluates."""
    yield node
    for name, part in ast.iter_fields(node):
        if name == "annotation" or (name in ("body", "args", "returns") and isinstance(node, _FUNCTIONS)):
            continue
        for each in part if isinstance(part, list) else [part]:
            if isinstance(each, ast.AST):
                yield from _at_load(each)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def test_nothing_of_libcst_is_asked_for_when_a_module_is_loaded() -> None:
    """It would be loaded then, or a bare class of `syntax/cst` be kept. `pipeline` is loaded where there is a tree."""
    for path in (*FILES, *RULES):
        if _name(path) == "torchlint.lint.pipeline":
            continue
        for line, module in _imports(path, only_at_load=True):
            assert module.partition(".")[0] != "libcst", f"{path}:{line}: write `from torchlint.syntax import cst`"
        for node in _at_load(ast.parse(path.read_text(encoding="utf-8"))):
            asked = isinstance(node, ast.Name) and node.id == "cst"
            assert not asked, f"{path}:{getattr(node, 'lineno', 0)}: asks for something of libcst"


def test_third_parties() -> None:
    for path in (*FILES, *RULES):
        allowed = THIRD_PARTIES | {"torchlint", "__future__"} | set(sys.stdlib_module_names)
        if _folder(_name(path)) in WITH_TORCH:
            allowed |= {"torch", "torchgen", "numpy"}
        for line, module in _imports(path):
            assert module.partition(".")[0] in allowed, f"{path}:{line}: imports {module}"


def test_a_rule_sees_only_the_contract_and_the_model() -> None:
    for path in RULES:
        if path.stem == "__init__":
            continue
        for line, module in _imports(path):
            ours = any(module == prefix or module.startswith(f"{prefix}.") for prefix in FOR_RULES)
            stdlib = module.partition(".")[0] in sys.stdlib_module_names
            assert ours or stdlib, f"{path}:{line}: a rule may not import {module}"


def test_nobody_imports_a_rule() -> None:
    for path in (*FILES, *RULES):
        for line, module in _imports(path):
            assert not re.match(r"(torchlint\.)?rules\b", module), f"{path}:{line}: rules are loaded by the registry"


def test_no_rule_is_named_outside_of_the_rules() -> None:
    """Rules declare what they do, cost and claim: nothing else may rest on a rule's code, or on its words."""
    own = re.compile(r"\bTLN[1-9]\d\d\b")
    for path in FILES:
        if _folder(_name(path)) == "config":
            continue  # its errors give an example of a code
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_documentation(node.value):
                assert not own.search(node.value), f"{path}:{node.lineno}: names a rule"
    for path in sorted((ROOT / "torchlint" / "verify").rglob("*.py")):
        assert not own.search(path.read_text(encoding="utf-8")), f"{path}: names a rule"


def _is_documentation(text: str) -> bool:
    """Docstrings and help texts give examples of codes; a code alone, or a list of some, is none."""
    return re.fullmatch(r"[A-Z0-9 ,]*", text) is None


def test_truth_is_computed_in_one_place() -> None:
    """How sure a moment is follows from what is assumed there; only `Machine.emit` and `with_truth` may conclude it."""
    computing = re.compile(r"Truth\.YES if [\w.]*machine\.assumed <= [\w.]*machine\.path")
    found = [_name(path) for path in FILES if computing.search(path.read_text(encoding="utf-8"))]
    assert not found, f"{found} compute the truth of the present moment: leave that to `Machine.emit`"


def test_every_module_says_what_it_is_for() -> None:
    """In a rule's file the class says it."""
    for path in FILES:
        documentation = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert documentation, f"{path} has no docstring"
        assert len(documentation.split()) >= 5, f"{path} has a docstring of hardly a word"


def test_no_drawer_for_everything() -> None:
    for path in (*FILES, *RULES):
        assert path.stem not in FORBIDDEN_NAMES, path


def test_packages_are_the_folders() -> None:
    """A sub-package that is not listed is silently missing from the wheel; the table's generator is left out of it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^packages = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    folders = {_name(path) for path in FILES if path.name == "__init__.py"} - {"torchlint.optable"}
    assert set(re.findall(r'"([^"]+)"', listed[1])) == folders | {"torchlint.rules"}
    with_python = {path.parent for path in FILES}
    assert all((folder / "__init__.py").exists() for folder in with_python)


OTHER_TESTS = {
    *("bench", "capabilities", "corpus", "differential", "driving", "fuzz", "golden", "injection", "metamorphic"),
    *("peers", "scenes", "threads", "verdicts"),  # commands, each with its tests
    *("cases", "projects", "reported", "scripts"),  # programs
    *("rules", "site"),
}


def test_tests_stand_where_the_code_does() -> None:
    """A folder of tests has the name of the folder that it tests, or is a command, programs, or of rules and pages."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        inside = path.parent.relative_to(ROOT / "tests")
        mirrored = (ROOT / "torchlint" / inside).is_dir()
        assert mirrored or inside.parts[0] in OTHER_TESTS, f"tests/{inside}: torchlint has no folder of that name"


LINES, CLASS_LINES = 550, 250
"""The most that a file and a class may have: there is no exception."""


def test_no_file_is_too_long() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in (*FILES, *RULES)
    }
    _hold_lengths(lengths, LINES)


def test_no_class_is_too_long() -> None:
    lengths = {
        node.name: (node.end_lineno or 0) - node.lineno + 1
        for path in (*FILES, *RULES)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    _hold_lengths(lengths, CLASS_LINES)


def _hold_lengths(lengths: dict[str, int], most: int) -> None:
    too_long = {name: length for name, length in lengths.items() if length > most}
    assert not too_long, f"at most {most} lines: move what belongs together into a module or class of its own"


def _compiled() -> list[Path]:
    """What `setup.py` compiles; it cannot be imported, since it builds."""
    tree = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    (patterns,) = (node.value for node in tree.body if isinstance(node, ast.Assign) and "COMPILED" in ast.unparse(node))
    names: tuple[str, ...] = eval(ast.unparse(patterns))
    return sorted(path for name in names for path in ROOT.glob(name))


def _handled(function: ast.FunctionDef) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for handler in ast.walk(function):
        if isinstance(handler, ast.ExceptHandler) and handler.name and handler.type is not None:
            found.setdefault(handler.name, set()).add(ast.unparse(handler.type))
    return found


def test_a_name_of_what_is_compiled_is_bound_to_one_kind_of_exception() -> None:
    """To mypyc a variable of a function has one type: two handlers that bind one name fail where the second runs."""
    twice = [
        f"{_name(path)}.{function.name}: {name}"
        for path in _compiled()
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for name, kinds in _handled(function).items()
        if len(kinds) > 1
    ]
    assert not twice


def test_no_field_of_what_is_compiled_is_an_object() -> None:
    """Compiled, a dataclass looks its annotation `object` up in its module, where it is not: write `object | None`."""
    fields = [
        f"{_name(path)}.{cls.name}: {ast.unparse(field.target)}"
        for path in _compiled()
        for cls in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(cls, ast.ClassDef)
        for field in cls.body
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.annotation, ast.Name)
        and field.annotation.id == "object"
    ]
    assert not fields
