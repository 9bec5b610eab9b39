"""The layers: who may import whom, and what the package consists of."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GROUPS = {  # lowest first; a module imports only from its own group and those below
    "ground": {"condition", "text", "places", "source", "truth"},
    "knowledge": {"knowledge"},
    "model": {"model"},
    "contract": {"finding", "rule", "rewrite"},
    "driver": {
        *("config", "outcome", "registry", "suppress", "edits", "roots", "project_index", "scout", "engine", "fixer"),
        *(
            "project",
            "installed",
            "replay",
            "fingerprint",
            "store",
            "cache",
            "recording",
            "writing",
            "work",
            "watched",
            "pool",
            "executors",
        ),
        "run",
    },
    "tools": {"runtime", "report", "docs", "scaffold"},
    "entry": {"cli", "flake8_plugin", "__main__"},
}
RANK = {part: rank for rank, parts in enumerate(GROUPS.values()) for part in parts}
FOR_RULES = ("torchlint.rule", "torchlint.rewrite", "torchlint.truth", "torchlint.model", "libcst")
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "types", "misc", "core", "base"}
THIRD_PARTIES = {"libcst", "click", "pathspec", "distributed"}


def _files() -> list[Path]:
    return sorted((ROOT / "torchlint").rglob("*.py"))


def _rules() -> list[Path]:
    return sorted((ROOT / "rules").glob("*.py"))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


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


MODULES = {_name(path): path for path in _files()}


def _part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("path", _files(), ids=_name)
def test_imports_go_downward(path: Path) -> None:
    own = _part(_name(path))
    assert not own or own in RANK, f"torchlint.{own} belongs to no group: add it to GROUPS"
    for line, module in _imports(path):
        if module.startswith("torchlint.") and own:
            assert RANK[_part(module)] <= RANK[own], f"{path}:{line}: {_name(path)} may not import {module}"
        assert own or not module.startswith("torchlint"), f"{path}:{line}: torchlint/__init__.py imports nothing"


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


@pytest.mark.parametrize("floor", ["truth", "trace"])
def test_the_floor_of_the_model(floor: str) -> None:
    imported = {module for _, module in _imports(ROOT / "torchlint" / "model" / f"{floor}.py")}
    assert not {module for module in imported if module.startswith("torchlint.model")}


@pytest.mark.parametrize("path", [*_files(), *_rules()], ids=_name)
def test_third_parties(path: Path) -> None:
    allowed = THIRD_PARTIES | {"torchlint", "__future__"} | set(sys.stdlib_module_names)
    if _part(_name(path)) == "runtime":
        allowed |= {"torch", "torchgen", "numpy"}
    for line, module in _imports(path):
        assert module.partition(".")[0] in allowed, f"{path}:{line}: imports {module}"


@pytest.mark.parametrize("path", [path for path in _rules() if path.stem != "__init__"], ids=_name)
def test_a_rule_sees_only_the_contract_and_the_model(path: Path) -> None:
    for line, module in _imports(path):
        ours = any(module == prefix or module.startswith(f"{prefix}.") for prefix in FOR_RULES)
        stdlib = module.partition(".")[0] in sys.stdlib_module_names
        assert ours or stdlib, f"{path}:{line}: a rule may not import {module}"


@pytest.mark.parametrize("path", [*_files(), *_rules()], ids=_name)
def test_nobody_imports_a_rule(path: Path) -> None:
    for line, module in _imports(path):
        assert not re.match(r"(torchlint\.)?rules\b", module), f"{path}:{line}: rules are loaded by the registry"


@pytest.mark.parametrize("path", _files(), ids=_name)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    """In a rule's file the class says it."""
    documentation = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert documentation, f"{path} has no docstring"
    assert len(documentation.split()) >= 5


@pytest.mark.parametrize("path", [*_files(), *_rules()], ids=_name)
def test_no_drawer_for_everything(path: Path) -> None:
    assert path.stem not in FORBIDDEN_NAMES


def test_packages_are_the_folders() -> None:
    """A sub-package that is not listed is silently missing from the wheel."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^packages = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    folders = {_name(path) for path in _files() if path.name == "__init__.py"}
    assert set(re.findall(r'"([^"]+)"', listed[1])) == folders | {"torchlint.rules"}
    with_python = {path.parent for path in _files()}
    assert all((folder / "__init__.py").exists() for folder in with_python)
